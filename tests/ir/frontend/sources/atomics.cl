// OpenCL C 2.0: C11 atomics, generic pointers, work-group and sub-group functions.
int twice(int *p) { return *p + *p; }

kernel void count(global atomic_int *total, global int *values, local int *shared_values) {
  size_t i = get_global_id(0);
  shared_values[get_local_id(0)] = values[i];
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  atomic_fetch_add_explicit(total, work_group_reduce_add(values[i]), memory_order_relaxed, memory_scope_device);
  values[i] = twice(&values[i]) + twice(&shared_values[0]) + sub_group_reduce_add(values[i]);
}
