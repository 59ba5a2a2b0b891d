// Neighbours that go different ways.
#define I get_global_id(0)
__kernel void two_ways(__global const float *in, __global float *out) {
  float x = in[I];
  if (x > 0.5f)
    for (int k = 0; k < 32; k++) x = x * 0.9f + 0.05f;
  else
    for (int k = 0; k < 32; k++) x = sqrt(x + 0.1f);
  out[I] = x;
}
__kernel void eight_ways(__global const int *in, __global int *out) {
  int x = in[I];
  switch (x & 7) {
    case 0: x += 11; break;
    case 1: x *= 3; break;
    case 2: x ^= 0x55; break;
    case 3: x = x / 7; break;
    case 4: x = x % 13; break;
    case 5: x <<= 2; break;
    case 6: x = ~x; break;
    default: x = x * x;
  }
  out[I] = x;
}
__kernel void rare(__global const float *in, __global float *out) {
  float x = in[I];
  if (x > 0.99f)
    for (int k = 0; k < 256; k++) x = sin(x) + 0.5f;
  out[I] = x;
}
__kernel void by_lane(__global const float *in, __global float *out) {
  float x = in[I];
  for (int k = 0; k < (I & 31); k++) x = x * 1.01f + 0.001f;
  out[I] = x;
}
__kernel void uneven_loops(__global const int *in, __global int *out) {
  int sum = 0;
  for (int k = 0; k < (in[I] & 63); k++) sum += k * k ^ in[I];
  out[I] = sum;
}
