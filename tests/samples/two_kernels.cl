/* A kernel that calls a function of its own file, and one that stands alone. */
float twice(float x) { return x + x; }

__kernel void scale(__global float *y, const uint n) {
  uint i = get_global_id(0);
  if (i < n) y[i] = twice(y[i]) * sqrt(y[i]);
}

__kernel void fill(__global int *y) { y[get_global_id(0)] = 7; }
