__kernel void good(__global const float *a, __global float *b, float s, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = s * a[i];
}
