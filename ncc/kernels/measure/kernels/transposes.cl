// Matrices and records turned around.
#define X get_global_id(0)
#define Y get_global_id(1)
__kernel void transpose(__global const float *in, __global float *out, const int n) { out[X * n + Y] = in[Y * n + X]; }
__kernel void transpose_tiled(__global const float *in, __global float *out, const int n) {
  __local float tile[16][17];
  int x = get_local_id(0), y = get_local_id(1);
  tile[y][x] = in[Y * n + X];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(get_group_id(0) * 16 + y) * n + get_group_id(1) * 16 + x] = tile[x][y];
}
__kernel void structures_to_arrays(__global const float4 *in, __global float *x, __global float *y, __global float *z) {
  float4 own = in[X];
  x[X] = own.x;
  y[X] = own.y;
  z[X] = own.z;
}
__kernel void interleave(__global const float *a, __global const float *b, __global float *out) {
  out[2 * X] = a[X];
  out[2 * X + 1] = b[X];
}
__kernel void mirror(__global const float *in, __global float *out, const int n) { out[Y * n + X] = in[Y * n + n - 1 - X]; }
// ncc: transpose_tiled: local 256
// ncc: interleave.out: size 2 * N
