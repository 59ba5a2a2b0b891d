// Three kernels whose work-items can be merged, and two whose can't be.
__kernel void scale(__global const float *a, __global float *b, float s, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  b[i] = s * a[i] + get_num_groups(0);
}
__kernel void reversed_in_group(__global const int *a, __global int *b, __local int *part) {
  part[get_local_id(0)] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  b[get_global_id(0)] = part[get_local_size(0) - 1 - get_local_id(0)] + get_group_id(0);
}
__kernel void sum_of_rows(__global const float *a, __global float *b) {
  int x = get_global_id(0), y = get_global_id(1);
  b[y * get_global_size(0) + x] = a[x] + a[y];
}
__kernel void own_memory(__global const int *a, __global int *b) {
  __local int part[64];
  part[get_local_id(0)] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  b[get_global_id(0)] = part[63 - get_local_id(0)];
}
int own_number(void) { return get_global_id(0); }
__kernel void asks_elsewhere(__global const float *a, __global float *b) { b[own_number()] = a[own_number()]; }
