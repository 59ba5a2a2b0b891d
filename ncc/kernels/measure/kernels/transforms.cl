// Fourier, wavelet and cosine transforms.
#define I get_global_id(0)
__kernel void fourier_step(__global const float2 *in, __global float2 *out, const int n) {
  int half_size = n / 2, k = I % half_size, second = I / half_size;
  float2 a = in[k], b = in[k + half_size], c;
  c = second ? a - b : a + b;
  float angle = -6.2831853f * k / n, co = cos(angle), si = sin(angle);
  out[2 * k + second] = second ? (float2)(c.x * co - c.y * si, c.x * si + c.y * co) : c;
}
__kernel void fourier_naive(__global const float2 *in, __global float2 *out) {
  int k = I % 64, start = I - k;
  float2 sum = (float2)(0.0f);
  for (int j = 0; j < 64; j++) {
    float angle = -0.098174770f * (j * k % 64), co = cos(angle), si = sin(angle);
    float2 v = in[start + j];
    sum += (float2)(v.x * co - v.y * si, v.x * si + v.y * co);
  }
  out[I] = sum;
}
__kernel void haar_step(__global const float2 *in, __global float *out, const int n) {
  out[I] = (in[I].x + in[I].y) * 0.70710678f;
  out[n + I] = (in[I].x - in[I].y) * 0.70710678f;
}
__kernel void walsh(__global const float *in, __global float *out) {
  float own[16];
  for (int k = 0; k < 16; k++) own[k] = in[I * 16 + k];
  for (int apart = 1; apart < 16; apart *= 2)
    for (int k = 0; k < 16; k++)
      if (!(k & apart)) {
        float a = own[k], b = own[k + apart];
        own[k] = a + b;
        own[k + apart] = a - b;
      }
  for (int k = 0; k < 16; k++) out[I * 16 + k] = own[k];
}
__kernel void cosine(__global const float *in, __global float *out) {
  for (int k = 0; k < 8; k++) {
    float sum = 0.0f;
    for (int j = 0; j < 8; j++) sum += in[I * 8 + j] * cos(0.39269908f * (j + 0.5f) * k);
    out[I * 8 + k] = sum;
  }
}
// ncc: haar_step.out: size 2 * N
// ncc: walsh: items W / 4
// ncc: walsh.in: size 16 * N
// ncc: walsh.out: size 16 * N
// ncc: cosine: items W / 2
// ncc: cosine.in: size 8 * N
// ncc: cosine.out: size 8 * N
