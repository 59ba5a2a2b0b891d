// Whole numbers mixed: hashes, checksums, ciphers.
#define I get_global_id(0)
__kernel void fnv(__global const uchar *in, __global uint *out) {
  uint hash = 2166136261u;
  for (int k = 0; k < 64; k++) hash = (hash ^ in[I * 64 + k]) * 16777619u;
  out[I] = hash;
}
__kernel void finalise(__global const uint *in, __global uint *out) {
  uint h = in[I];
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  out[I] = h ^ h >> 16;
}
__kernel void checksum(__global const uchar *in, __global uint *out) {
  uint crc = ~0u;
  for (int k = 0; k < 16; k++) {
    crc ^= in[I * 16 + k];
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  out[I] = ~crc;
}
__kernel void cipher(__global const uint2 *in, __global uint2 *out) {
  uint a = in[I].x, b = in[I].y, sum = 0;
  for (int round = 0; round < 32; round++) {
    sum += 0x9e3779b9u;
    a += (b << 4) + 11u ^ b + sum ^ (b >> 5) + 13u;
    b += (a << 4) + 17u ^ a + sum ^ (a >> 5) + 19u;
  }
  out[I] = (uint2)(a, b);
}
__kernel void rounds_of_words(__global const uint4 *in, __global uint4 *out) {
  uint4 s = in[I];
  for (int round = 0; round < 20; round++) {
    s.x += s.y; s.w = rotate(s.w ^ s.x, 16u);
    s.z += s.w; s.y = rotate(s.y ^ s.z, 12u);
    s.x += s.y; s.w = rotate(s.w ^ s.x, 8u);
    s.z += s.w; s.y = rotate(s.y ^ s.z, 7u);
  }
  out[I] = s;
}
// ncc: fnv: items W / 16
// ncc: fnv.in: size 64 * N
// ncc: checksum.in: size 16 * N
