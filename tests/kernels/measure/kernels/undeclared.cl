__kernel void undeclared(__global const float *a, __global float *b) {
#ifdef __OPENCL_VERSION__
  b[get_global_id(0)] = a[get_global_id(0)];
#endif
#ifdef POCL_DEVICE_ADDRESS_BITS
  b[0] = pocl_only_elsewhere;
#endif
}
