// Pictures filtered: a pixel from those around it.
#define X get_global_id(0)
#define Y get_global_id(1)
#define AT(x, y) in[clamp((int)(y), 0, n - 1) * n + clamp((int)(x), 0, n - 1)]
__kernel void gauss(__global const float *in, __global float *out, __constant float *weight, const int n) {
  float sum = 0.0f;
  for (int k = 0; k < 25; k++) sum += weight[k] * AT((int)X + k % 5 - 2, (int)Y + k / 5 - 2);
  out[Y * n + X] = sum;
}
__kernel void sobel(__global const float *in, __global float *out, const int n) {
  int x = X, y = Y;
  float h = AT(x + 1, y - 1) + 2 * AT(x + 1, y) + AT(x + 1, y + 1) - AT(x - 1, y - 1) - 2 * AT(x - 1, y) - AT(x - 1, y + 1);
  float v = AT(x - 1, y + 1) + 2 * AT(x, y + 1) + AT(x + 1, y + 1) - AT(x - 1, y - 1) - 2 * AT(x, y - 1) - AT(x + 1, y - 1);
  out[y * n + x] = sqrt(h * h + v * v);
}
__kernel void median(__global const float *in, __global float *out, const int n) {
  float own[9];
  for (int k = 0; k < 9; k++) own[k] = AT((int)X + k % 3 - 1, (int)Y + k / 3 - 1);
  for (int i = 0; i < 5; i++)
    for (int j = i + 1; j < 9; j++) {
      float low = fmin(own[i], own[j]), high = fmax(own[i], own[j]);
      own[i] = low;
      own[j] = high;
    }
  out[Y * n + X] = own[4];
}
__kernel void bilateral(__global const float *in, __global float *out, const int n) {
  float centre = AT(X, Y), sum = 0.0f, weights = 0.0f;
  for (int k = 0; k < 25; k++) {
    float value = AT((int)X + k % 5 - 2, (int)Y + k / 5 - 2), away = value - centre;
    float weight = exp(-8.0f * away * away);
    sum += weight * value;
    weights += weight;
  }
  out[Y * n + X] = sum / weights;
}
__kernel void dilate(__global const uchar *in, __global uchar *out, const int n) {
  uchar most = 0;
  for (int dx = -3; dx <= 3; dx++) most = max(most, AT((int)X + dx, Y));
  out[Y * n + X] = most;
}
// ncc: weight: size 25, values 1 + i % 5
