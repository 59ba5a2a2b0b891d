// Sparse matrices times vectors, in several formats, about 8 values a row.
#define I get_global_id(0)
__kernel void csr_scalar(__global const int *start, __global const int *column, __global const float *value,
                         __global const float *x, __global float *y) {
  float sum = 0.0f;
  for (int k = start[I]; k < start[I + 1]; k++) sum += value[k] * x[column[k]];
  y[I] = sum;
}
__kernel void csr_uneven(__global const int *start, __global const int *column, __global const float *value,
                         __global const float *x, __global float *y) {
  float sum = 0.0f;
  for (int k = start[I]; k < start[I + 1]; k++) sum += value[k] * x[column[k]];
  y[I] = sum;
}
__kernel void ellpack(__global const int *column, __global const float *value, __global const float *x, __global float *y,
                      const int n) {
  float sum = 0.0f;
  for (int k = 0; k < 8; k++) sum += value[k * n + I] * x[column[k * n + I]];
  y[I] = sum;
}
__kernel void diagonals(__global const float *value, __global const float *x, __global float *y, const int n) {
  float sum = 0.0f;
  for (int k = 0; k < 8; k++) {
    int at = (int)I + k * k - 16;
    if (at >= 0 && at < n) sum += value[k * n + I] * x[at];
  }
  y[I] = sum;
}
__kernel void blocks(__global const int *column, __global const float4 *value, __global const float4 *x, __global float4 *y) {
  float4 sum = (float4)(0.0f);
  for (int k = 0; k < 4; k++) {
    float4 own = x[column[I * 4 + k]];
    for (int j = 0; j < 4; j++) sum += value[(I * 4 + k) * 4 + j] * own;
  }
  y[I] = sum;
}
// ncc: start: size N + 1, values 8 * i
// ncc: csr_uneven.start: values 8 * i + i * 37 % 8
// ncc: column: size 8 * N + 8
// ncc: value: size 8 * N + 8
// ncc: blocks.value: size 16 * N
