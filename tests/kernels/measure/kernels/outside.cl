__kernel void outside(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  b[i + 1] = a[i];
}
