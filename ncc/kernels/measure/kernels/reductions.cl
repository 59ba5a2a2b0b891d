// Sums and the like, a value for each work-group or work-item.
#define OWN get_local_id(0)
#define TREE(part, OPERATION)                                               \
  for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) { \
    barrier(CLK_LOCAL_MEM_FENCE);                                           \
    if (OWN < half_size) part[OWN] = OPERATION(part[OWN], part[OWN + half_size]); \
  }                                                                         \
  if (OWN == 0) out[get_group_id(0)] = part[0];
#define ADD(a, b) ((a) + (b))
__kernel void sum(__global const float *in, __global float *out, __local float *part) {
  part[OWN] = in[get_global_id(0)];
  TREE(part, ADD)
}
__kernel void most(__global const int *in, __global int *out, __local int *part) {
  part[OWN] = in[get_global_id(0)];
  TREE(part, max)
}
__kernel void dot_product(__global const float *a, __global const float *b, __global float *out, __local float *part) {
  float own = 0.0f;
  for (int k = 0; k < 8; k++) own += a[get_global_id(0) * 8 + k] * b[get_global_id(0) * 8 + k];
  part[OWN] = own;
  TREE(part, ADD)
}
__kernel void sum_of_strides(__global const double *in, __global double *out, const int n) {
  double own = 0.0;
  for (int k = 0; k < 16; k++) own += in[k * n + get_global_id(0)];
  out[get_global_id(0)] = own;
}
__kernel void count_above(__global const float *in, __global int *out, const float bound) {
  int found = 0;
  for (int k = 0; k < 32; k++) found += in[get_global_id(0) * 32 + k] > bound;
  out[get_global_id(0)] = found;
}
// ncc: out: size N / L
// ncc: sum_of_strides.out: size N
// ncc: count_above.out: size N
// ncc: dot_product: items W / 8
// ncc: a: size 8 * N
// ncc: b: size 8 * N
// ncc: sum_of_strides: items W / 16
// ncc: sum_of_strides.in: size 16 * N
// ncc: count_above: items W / 32
// ncc: count_above.in: size 32 * N
