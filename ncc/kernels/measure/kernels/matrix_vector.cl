// A matrix times a vector, and other passes over the rows of a matrix with 64 columns.
#define I get_global_id(0)
#define COLUMNS 64
__kernel void times_vector(__global const float *a, __global const float *x, __global float *y) {
  float sum = 0.0f;
  for (int k = 0; k < COLUMNS; k++) sum += a[I * COLUMNS + k] * x[k];
  y[I] = sum;
}
__kernel void times_vector_by_columns(__global const float *a, __global const float *x, __global float *y, const int n) {
  float sum = 0.0f;
  for (int k = 0; k < COLUMNS; k++) sum += a[k * n + I] * x[k];
  y[I] = sum;
}
__kernel void softmax(__global const float *a, __global float *y) {
  float most = a[I * COLUMNS], sum = 0.0f;
  for (int k = 1; k < COLUMNS; k++) most = fmax(most, a[I * COLUMNS + k]);
  for (int k = 0; k < COLUMNS; k++) sum += exp(a[I * COLUMNS + k] - most);
  for (int k = 0; k < COLUMNS; k++) y[I * COLUMNS + k] = exp(a[I * COLUMNS + k] - most) / sum;
}
__kernel void row_moments(__global const float *a, __global float2 *y) {
  float sum = 0.0f, squares = 0.0f;
  for (int k = 0; k < COLUMNS; k++) {
    float value = a[I * COLUMNS + k];
    sum += value;
    squares += value * value;
  }
  y[I] = (float2)(sum / COLUMNS, squares / COLUMNS - sum * sum / (COLUMNS * COLUMNS));
}
__kernel void layer(__global const float *a, __global const float *weight, __global float *y) {
  for (int j = 0; j < 8; j++) {
    float sum = 0.0f;
    for (int k = 0; k < COLUMNS; k++) sum += a[I * COLUMNS + k] * weight[j * COLUMNS + k];
    y[I * 8 + j] = fmax(sum, 0.0f);
  }
}
// ncc: a: size 64 * N
// ncc: x: size 64
// ncc: weight: size 512, values i % 7 - 2
// ncc: softmax.y: size 64 * N
// ncc: layer.y: size 8 * N
// ncc: times_vector: items W / 16
// ncc: times_vector_by_columns: items W / 16
// ncc: softmax: items W / 16
// ncc: row_moments: items W / 16
// ncc: layer: items W / 16
