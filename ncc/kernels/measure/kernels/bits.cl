// Bits counted, reversed and packed.
#define I get_global_id(0)
__kernel void population(__global const uint *in, __global uint *out) { out[I] = popcount(in[I] * 2654435761u); }
__kernel void reverse_bits(__global const uint *in, __global uint *out) {
  uint x = in[I];
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
  out[I] = x >> 16 | x << 16;
}
__kernel void pack(__global const uchar *in, __global uint *out) {
  uint word = 0;
  for (int k = 0; k < 32; k++) word |= (uint)(in[I * 32 + k] & 1) << k;
  out[I] = word;
}
__kernel void morton(__global const int2 *in, __global uint *out) {
  uint code = 0;
  for (int k = 0; k < 16; k++) code |= (in[I].x >> k & 1) << 2 * k | (in[I].y >> k & 1) << (2 * k + 1);
  out[I] = code;
}
__kernel void leading_zeros(__global const uint *in, __global uint *out) { out[I] = clz(in[I]) + (in[I] & -in[I]); }
// ncc: pack: items W / 32
// ncc: pack.in: size 32 * N
