__kernel void endless(__global const float *a, __global float *b) {
  __global volatile float *c = b;
  while (c[0] < 2.0f + a[0]) c[0] = 0.5f;
}
