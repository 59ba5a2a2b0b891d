// Dense linear algebra.

__kernel void gemm_naive(int n, __global const float* a, __global const float* b, __global float* c) {
  int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int i = 0; i < n; i++) sum += a[row * n + i] * b[i * n + column];
  c[row * n + column] = sum;
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void gemm_tiled(int m, __global const float* d, __global const float* e, __global float* f) {
  __local float left[16][16], right[16][16];
  int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int tile = 0; tile < m; tile += 16) {
    left[y][x] = d[row * m + tile + x];
    right[y][x] = e[(tile + y) * m + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; i++) sum += left[y][i] * right[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  f[row * m + column] = sum;
}

__kernel void gemm_small(int k, __global const float* g, __global const float* h, __global float* l) {
  int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int i = 0; i < k; i++) sum += g[row * k + i] * h[i * k + column];
  l[row * k + column] = sum;
}

__kernel void transpose_naive(int size, __global const float* upright, __global float* turned) {
  int x = get_global_id(0), y = get_global_id(1);
  turned[x * size + y] = upright[y * size + x];
}

__kernel void transpose_tiled(int extent, __global const float* plain, __global float* flipped) {
  __local float tile[16][17];
  int x = get_local_id(0), y = get_local_id(1), column = get_group_id(0) * 16, row = get_group_id(1) * 16;
  tile[y][x] = plain[(row + y) * extent + column + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  flipped[(column + y) * extent + row + x] = tile[x][y];
}

__kernel void matrix_vector(int order, __global const float* matrix, __global const float* vector,
                            __global float* product) {
  int row = get_global_id(0);
  float sum = 0;
  for (int i = 0; i < order; i++) sum += matrix[row * order + i] * vector[i];
  product[row] = sum;
}

// ncc: factors: values 1
__kernel void lu_update(int dim, int pivot, __global float* factors) {
  int column = get_global_id(0), row = get_global_id(1);
  if (row <= pivot || column <= pivot) return;
  float scale = factors[row * dim + pivot] / factors[pivot * dim + pivot];
  factors[row * dim + column] -= scale * factors[pivot * dim + column];
}

__kernel void floyd_warshall(int cities, int via, __global int* distance) {
  int to = get_global_id(0), from = get_global_id(1);
  int detour = distance[from * cities + via] + distance[via * cities + to];
  if (detour < distance[from * cities + to]) distance[from * cities + to] = detour;
}

__kernel void cholesky_batch(__global const float* batch, __global float* lower) {
  int base = get_global_id(0) * 64;
  for (int row = 0; row < 8; row++)
    for (int column = 0; column <= row; column++) {
      float sum = batch[base + row * 8 + column] + (row == column ? 8.0f : 0.0f);
      for (int i = 0; i < column; i++) sum -= lower[base + row * 8 + i] * lower[base + column * 8 + i];
      lower[base + row * 8 + column] = row == column ? sqrt(sum) : sum / lower[base + column * 9];
    }
}

__kernel void symmetric_rank_k(int rank, __global const float* factor, __global float* gram) {
  int column = get_global_id(0), row = get_global_id(1);
  if (column > row) return;
  float sum = 0;
  for (int i = 0; i < rank; i++) sum += factor[row * rank + i] * factor[column * rank + i];
  gram[row * rank + column] = sum;
}
