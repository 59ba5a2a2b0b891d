// Moving data: nothing is computed, so memory and transfers are all.
#define I get_global_id(0)
__kernel void copy_float(__global const float *in, __global float *out) { out[I] = in[I]; }
__kernel void copy_float4(__global const float4 *in, __global float4 *out) { out[I] = in[I]; }
__kernel void copy_bytes(__global const uchar *in, __global uchar *out) { out[I] = in[I]; }
__kernel void copy_strided(__global const float *in, __global float *out) { out[I] = in[I * 16]; }
__kernel void copy_reversed(__global const float *in, __global float *out, const int n) { out[n - 1 - I] = in[I]; }
__kernel void copy_blocks(__global const float *in, __global float *out) {
  for (int k = 0; k < 16; k++) out[I * 16 + k] = in[I * 16 + k];
}
// ncc: copy_strided.in: size 16 * N
// ncc: copy_blocks: items W / 16
// ncc: copy_blocks.in: size 16 * N
// ncc: copy_blocks.out: size 16 * N
