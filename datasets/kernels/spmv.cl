// y = A * x for a sparse matrix in compressed rows, a row a work-item.
__kernel void spmv(__global const int *row_start, __global const int *column, __global const float *value,
                   __global const float *x, __global float *y, const int rows) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = row_start[row]; i < row_start[row + 1]; i++) sum += value[i] * x[column[i]];
  y[row] = sum;
}
// ncc: row_start: size N + 1, values 8 * i
// ncc: column: size 8 * N
// ncc: value: size 8 * N
