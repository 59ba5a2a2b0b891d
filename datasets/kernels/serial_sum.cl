// One work-item adds up everything, which no GPU is made for.
__kernel void serial_sum(__global const float *in, __global float *out, const int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += in[i];
  *out = sum;
}
// ncc: serial_sum: items 1, local 1
// ncc: in: size W
// ncc: n: values W
// ncc: out: size 1
