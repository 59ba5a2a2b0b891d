// Prefix sums within work-groups and work-items.
#define OWN get_local_id(0)
#define I get_global_id(0)
__kernel void scan_hillis(__global const float *in, __global float *out, __local float *part) {
  part[OWN] = in[I];
  for (int step = 1; step < get_local_size(0); step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    float before = OWN >= step ? part[OWN - step] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    part[OWN] += before;
  }
  out[I] = part[OWN];
}
__kernel void scan_blelloch(__global const int *in, __global int *out, __local int *part) {
  int n = get_local_size(0), offset = 1;
  part[OWN] = in[I];
  for (int d = n / 2; d > 0; d /= 2, offset *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (OWN < d) part[offset * (2 * OWN + 2) - 1] += part[offset * (2 * OWN + 1) - 1];
  }
  if (OWN == 0) part[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset /= 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (OWN < d) {
      int low = offset * (2 * OWN + 1) - 1, high = offset * (2 * OWN + 2) - 1, was = part[low];
      part[low] = part[high];
      part[high] += was;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[I] = part[OWN];
}
__kernel void scan_serial(__global const float *in, __global float *out) {
  float sum = 0.0f;
  for (int k = 0; k < 64; k++) out[I * 64 + k] = sum += in[I * 64 + k];
}
__kernel void running_most(__global const int *in, __global int *out) {
  int most = in[I * 32];
  for (int k = 0; k < 32; k++) out[I * 32 + k] = most = max(most, in[I * 32 + k]);
}
// ncc: scan_serial: items W / 64
// ncc: scan_serial.in: size 64 * N
// ncc: scan_serial.out: size 64 * N
// ncc: running_most: items W / 32
// ncc: running_most.in: size 32 * N
// ncc: running_most.out: size 32 * N
