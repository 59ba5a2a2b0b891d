// Products of n x n matrices.
#define X get_global_id(0)
#define Y get_global_id(1)
__kernel void product(__global const float *a, __global const float *b, __global float *c, const int n) {
  float sum = 0.0f;
  for (int k = 0; k < n; k++) sum += a[Y * n + k] * b[k * n + X];
  c[Y * n + X] = sum;
}
__kernel void product_of_transposed(__global const float *a, __global const float *b, __global float *c, const int n) {
  float sum = 0.0f;
  for (int k = 0; k < n; k++) sum += a[Y * n + k] * b[X * n + k];
  c[Y * n + X] = sum;
}
#define TILE 8
__kernel void product_tiled(__global const float *a, __global const float *b, __global float *c, const int n) {
  __local float of_a[TILE][TILE], of_b[TILE][TILE];
  int x = get_local_id(0), y = get_local_id(1);
  float sum = 0.0f;
  for (int t = 0; t < n; t += TILE) {
    of_a[y][x] = a[Y * n + t + x];
    of_b[y][x] = b[(t + y) * n + X];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++) sum += of_a[y][k] * of_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[Y * n + X] = sum;
}
__kernel void product_double(__global const double *a, __global const double *b, __global double *c, const int n) {
  double sum = 0.0;
  for (int k = 0; k < n; k++) sum += a[Y * n + k] * b[k * n + X];
  c[Y * n + X] = sum;
}
__kernel void product_of_strip(__global const float *a, __global const float4 *b, __global float4 *c, const int n) {
  float4 sum = (float4)(0.0f);
  for (int k = 0; k < 64; k++) sum += a[Y * n + k] * b[k * n + X];
  c[Y * n + X] = sum;
}
// ncc: product_tiled: local 64
// ncc: product_of_strip.a: size N + 64
// ncc: product_of_strip.b: size N + 64 * X
