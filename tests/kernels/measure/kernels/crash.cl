__kernel void crash(__global const float *a, __global float *b) {
  b[((ulong)1 << 40) + get_global_id(0)] = a[0];
}
