// Work-items that meet at the same places.
#define I get_global_id(0)
__kernel void one_counter(__global const int *in, __global int *out) {
  if (in[I] & 1) atomic_inc(out);
}
__kernel void counter_of_group(__global const int *in, __global int *out) {
  __local int own;
  if (get_local_id(0) == 0) own = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&own, in[I] & 15);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_add(out, own);
}
__kernel void many_counters(__global const int *in, __global int *out) { atomic_add(&out[in[I]], 1); }
__kernel void extremes(__global const int *in, __global int *out) {
  atomic_max(&out[I & 63], in[I]);
  atomic_min(&out[64 + (I & 63)], in[I]);
}
__kernel void bits(__global const uint *in, __global uint *out) { atomic_or(&out[in[I] >> 5], 1u << (in[I] & 31)); }
__kernel void exchange_sums(__global const float *in, __global int *out) {
  atomic_add(&out[(int)(in[I] * 1000.0f)], (int)(in[I] * 256.0f));
}
// ncc: one_counter.out: size 1
// ncc: counter_of_group.out: size 1
// ncc: many_counters.out: values 0
// ncc: extremes.out: size 128, values 1000
// ncc: bits.out: size N / 32 + 1, values 0
// ncc: exchange_sums.out: size 1024, values 0
