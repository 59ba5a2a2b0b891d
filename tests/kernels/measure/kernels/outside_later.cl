__kernel void outside_later(__global const float *a, __global float *b) {
  int i = get_global_id(0);
  b[get_global_size(0) > 2048 ? i + 1 : i] = a[i];
}
