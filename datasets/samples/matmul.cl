// C = A * B for n x n matrices, in tiles that a work-group keeps in local memory.
#define TILE 16
__kernel void matmul(__global const float *a, __global const float *b, __global float *c, const int n) {
  __local float tile_a[TILE][TILE], tile_b[TILE][TILE];
  int row = get_local_id(1), column = get_local_id(0);
  int i = get_global_id(1), j = get_global_id(0);
  float sum = 0.0f;
  for (int t = 0; t < n; t += TILE) {
    tile_a[row][column] = a[i * n + t + column];
    tile_b[row][column] = b[(t + row) * n + j];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++) sum += tile_a[row][k] * tile_b[k][column];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[i * n + j] = sum;
}
// ncc: matmul: local 256
