__kernel void endless_later(__global const float *a, __global float *b) {
  __global volatile float *c = b;
  b[get_global_id(0)] = a[get_global_id(0)];
  if (get_global_size(0) > 2048)
    while (c[0] < 2.0f + a[0]) c[0] = 0.5f;
}
