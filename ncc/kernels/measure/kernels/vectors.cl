// Linear algebra of vectors, an element a work-item.
#define I get_global_id(0)
__kernel void axpy(__global const float *x, __global float *y, const float a) { y[I] += a * x[I]; }
__kernel void triad(__global const float *a, __global const float *b, __global float *c, const float s) {
  c[I] = a[I] + s * b[I];
}
__kernel void triad_double(__global const double *a, __global const double *b, __global double *c) {
  c[I] = a[I] + 3.0 * b[I];
}
__kernel void multiply_add4(__global const float4 *a, __global const float4 *b, __global float4 *c) {
  c[I] = mad(a[I], b[I], c[I]);
}
__kernel void rotate_pairs(__global float *x, __global float *y, const float cosine, const float sine) {
  float own_x = x[I], own_y = y[I];
  x[I] = cosine * own_x + sine * own_y;
  y[I] = cosine * own_y - sine * own_x;
}
__kernel void normalise(__global const float4 *in, __global float4 *out) { out[I] = in[I] * rsqrt(dot(in[I], in[I])); }
