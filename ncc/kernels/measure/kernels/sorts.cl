// Sorting: steps over everything, or the whole for small pieces.
#define OWN get_local_id(0)
#define I get_global_id(0)
__kernel void bitonic_step(__global int *data, const int apart, const int run) {
  int low = 2 * apart * (I / apart) + I % apart, high = low + apart, a = data[low], b = data[high];
  bool swap = (a > b) == ((low & run) == 0);
  data[low] = swap ? b : a;
  data[high] = swap ? a : b;
}
__kernel void bitonic_group(__global const int *in, __global int *out, __local int *part) {
  part[OWN] = in[I];
  for (int run = 2; run <= get_local_size(0); run *= 2)
    for (int apart = run / 2; apart > 0; apart /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      int other = OWN ^ apart, a = part[OWN], b = part[other];
      barrier(CLK_LOCAL_MEM_FENCE);
      bool first = OWN < other, rising = (OWN & run) == 0;
      part[OWN] = first == rising ? min(a, b) : max(a, b);
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[I] = part[OWN];
}
__kernel void odd_even_step(__global const float *in, __global float *out, const int n) {
  int other = min((int)(I ^ 1), n - 1);
  out[I] = (I & 1) ? fmax(in[I], in[other]) : fmin(in[I], in[other]);
}
__kernel void insertion_sort(__global const int *in, __global int *out) {
  int own[16];
  for (int k = 0; k < 16; k++) {
    int value = in[I * 16 + k], j = k;
    for (; j > 0 && own[j - 1] > value; j--) own[j] = own[j - 1];
    own[j] = value;
  }
  for (int k = 0; k < 16; k++) out[I * 16 + k] = own[k];
}
__kernel void rank_in_group(__global const float *in, __global float *out, __local float *part) {
  part[OWN] = in[I];
  barrier(CLK_LOCAL_MEM_FENCE);
  int rank = 0;
  for (int k = 0; k < get_local_size(0); k++) rank += part[k] < part[OWN] || (part[k] == part[OWN] && k < OWN);
  out[get_group_id(0) * get_local_size(0) + rank] = part[OWN];
}
// ncc: bitonic_step: items W / 2
// ncc: apart: values 8
// ncc: data: size 2 * N
// ncc: run: values 16
// ncc: insertion_sort: items W / 16
// ncc: insertion_sort.in: size 16 * N
// ncc: insertion_sort.out: size 16 * N
