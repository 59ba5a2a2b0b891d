// Counting values, by atomics and without.
#define I get_global_id(0)
__kernel void bins_global(__global const uchar *in, __global uint *bins) { atomic_inc(&bins[in[I]]); }
__kernel void bins_local(__global const uchar *in, __global uint *bins) {
  __local uint own[256];
  for (int k = get_local_id(0); k < 256; k += get_local_size(0)) own[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < 16; k++) atomic_inc(&own[in[I * 16 + k]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = get_local_id(0); k < 256; k += get_local_size(0)) atomic_add(&bins[k], own[k]);
}
__kernel void bins_private(__global const uchar *in, __global uchar *bins) {
  uchar own[16];
  for (int k = 0; k < 16; k++) own[k] = 0;
  for (int k = 0; k < 64; k++) own[in[I * 64 + k] & 15]++;
  for (int k = 0; k < 16; k++) bins[I * 16 + k] = own[k];
}
__kernel void bins_wide(__global const uint *in, __global uint *bins, const uint n) {
  atomic_inc(&bins[(in[I] * 2654435761u) % n]);
}
// ncc: bins: size 256, values 0
// ncc: bins_local: items W / 16
// ncc: bins_local.in: size 16 * N
// ncc: bins_private: items W / 64
// ncc: bins_private.in: size 64 * N
// ncc: bins_private.bins: size 16 * N
// ncc: bins_wide.bins: size N
