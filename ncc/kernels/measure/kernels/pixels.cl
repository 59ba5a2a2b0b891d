// Pictures changed a pixel at a time.
#define I get_global_id(0)
__kernel void grey(__global const uchar4 *in, __global uchar *out) {
  uchar4 c = in[I];
  out[I] = (c.x * 77 + c.y * 151 + c.z * 28) >> 8;
}
__kernel void gamma_correct(__global const float4 *in, __global float4 *out, const float gamma) {
  out[I] = pow(in[I], (float4)(gamma + 0.5f));
}
__kernel void blend(__global const uchar4 *a, __global const uchar4 *b, __global uchar4 *out) {
  int4 x = convert_int4(a[I]), y = convert_int4(b[I]);
  out[I] = convert_uchar4_sat((x * x.w + y * (255 - x.w)) / 255);
}
__kernel void hue(__global const float4 *in, __global float *out) {
  float4 c = in[I];
  float most = fmax(c.x, fmax(c.y, c.z)), span = most - fmin(c.x, fmin(c.y, c.z)) + 1e-6f, h;
  if (most == c.x) h = (c.y - c.z) / span;
  else if (most == c.y) h = 2.0f + (c.z - c.x) / span;
  else h = 4.0f + (c.x - c.y) / span;
  out[I] = h < 0.0f ? h + 6.0f : h;
}
__kernel void threshold(__global const uchar *in, __global uchar *out) { out[I] = in[I] > 127 ? 255 : in[I] / 2; }
