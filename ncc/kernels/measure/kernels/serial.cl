// One work-item, or a few, that do everything: what no GPU is made for.
#define I get_global_id(0)
__kernel void one_sum(__global const float *in, __global float *out, const int n) {
  float sum = 0.0f;
  for (int k = 0; k < n; k++) sum += in[k];
  out[0] = sum;
}
__kernel void one_chain(__global const int *in, __global int *out, const int n) {
  int at = 0;
  for (int k = 0; k < n; k++) at = (at + in[at]) % n;
  out[0] = at;
}
__kernel void few_sums(__global const float *in, __global float *out, const int n) {
  float sum = 0.0f;
  for (int k = I; k < n; k += get_global_size(0)) sum += in[k];
  out[I] = sum;
}
__kernel void one_recurrence(__global const float *in, __global float *out, const int n) {
  float at = 0.0f;
  for (int k = 0; k < n; k++) out[k] = at = 0.9f * at + in[k];
}
// ncc: in: size W
// ncc: one_chain.in: below W
// ncc: n: values W
// ncc: out: size N
// ncc: one_recurrence.out: size W
// ncc: one_sum: items 1, local 1
// ncc: one_chain: items 1, local 1
// ncc: few_sums: items 64, local 64
// ncc: one_recurrence: items 1, local 1
