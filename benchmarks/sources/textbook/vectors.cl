// Vectors: sums, scaled sums, polynomials.

__kernel void vector_add(__global const float* a, __global const float* b, __global float* c) {
  int i = get_global_id(0);
  c[i] = a[i] + b[i];
}

__kernel void saxpy_guarded(int n, float alpha, __global const float* x, __global float* y) {
  int i = get_global_id(0);
  if (i < n) y[i] += alpha * x[i];
}

__kernel void triad(float scalar, __global const float* p, __global const float* q, __global float* r) {
  int i = get_global_id(0);
  r[i] = p[i] + scalar * q[i];
}

__kernel void scale_in_place(float factor, __global float* v) {
  int i = get_global_id(0);
  v[i] *= factor;
}

__kernel void horner_32(__global const float* point, __constant float* coefficient, __global float* polynomial) {
  int i = get_global_id(0);
  float x = point[i], sum = 0;
  for (int term = 0; term < 32; term++) sum = sum * x + coefficient[term];
  polynomial[i] = sum;
}
