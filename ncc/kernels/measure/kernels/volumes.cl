// Stencils of three dimensions, a column of the volume a work-item, and of one.
#define X get_global_id(0)
#define Y get_global_id(1)
#define DEPTH 8
#define AT(x, y, z) in[((z) * n + clamp((int)(y), 0, n - 1)) * n + clamp((int)(x), 0, n - 1)]
__kernel void seven_points(__global const float *in, __global float *out, const int n) {
  for (int z = 1; z < DEPTH - 1; z++)
    out[(z * n + Y) * n + X] = AT(X - 1, Y, z) + AT(X + 1, Y, z) + AT(X, Y - 1, z) + AT(X, Y + 1, z) + AT(X, Y, z - 1) +
                               AT(X, Y, z + 1) - 6.0f * AT(X, Y, z);
}
__kernel void box(__global const float *in, __global float *out, const int n) {
  for (int z = 1; z < DEPTH - 1; z++) {
    float sum = 0.0f;
    for (int k = 0; k < 27; k++) sum += AT((int)X + k % 3 - 1, (int)Y + k / 3 % 3 - 1, z + k / 9 - 1);
    out[(z * n + Y) * n + X] = sum / 27.0f;
  }
}
__kernel void column_sums(__global const float *in, __global float *out, const int n) {
  float sum = 0.0f;
  for (int z = 0; z < DEPTH; z++) {
    sum += AT(X, Y, z);
    out[(z * n + Y) * n + X] = sum;
  }
}
__kernel void wave(__global const float *in, __global const float *before, __global float *out, const int n) {
  int i = get_global_id(0), left = max(i - 1, 0), right = min(i + 1, n - 1);
  out[i] = 2.0f * in[i] - before[i] + 0.25f * (in[left] - 2.0f * in[i] + in[right]);
}
// ncc: in: size 8 * N
// ncc: out: size 8 * N
// ncc: wave.in: size N
// ncc: wave.out: size N
