// Pictures and signals in another size or place.
#define X get_global_id(0)
#define Y get_global_id(1)
__kernel void halve(__global const float *in, __global float *out, const int n) {
  int at = 2 * Y * 2 * n + 2 * X;
  out[Y * n + X] = 0.25f * (in[at] + in[at + 1] + in[at + 2 * n] + in[at + 2 * n + 1]);
}
__kernel void turn(__global const float *in, __global float *out, const int n) {
  float x = 0.8f * X - 0.6f * Y, y = 0.6f * X + 0.8f * Y;
  int left = clamp((int)floor(x), 0, n - 2), up = clamp((int)floor(y), 0, n - 2);
  float dx = clamp(x - left, 0.0f, 1.0f), dy = clamp(y - up, 0.0f, 1.0f);
  __global const float *p = in + up * n + left;
  out[Y * n + X] = mix(mix(p[0], p[1], dx), mix(p[n], p[n + 1], dx), dy);
}
__kernel void cubic(__global const float *in, __global float *out, const int n) {
  float t = (X % 3) / 3.0f;
  int at = clamp((int)X / 3, 1, n - 3);
  float a = in[at - 1], b = in[at], c = in[at + 1], d = in[at + 2];
  out[X] = b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}
__kernel void up_by_two(__global const uchar *in, __global uchar *out, const int n) {
  out[Y * n + X] = in[(Y / 2) * n + X / 2];
}
// ncc: halve.in: size 4 * N
