// Differential equations, each work-item one of its own, and rows of dynamic programming.
#define I get_global_id(0)
__kernel void lorenz(__global const float4 *in, __global float4 *out) {
  float4 s = in[I];
  for (int k = 0; k < 100; k++)
    s += 0.005f * (float4)(10.0f * (s.y - s.x), s.x * (28.0f - s.z) - s.y, s.x * s.y - 2.6666667f * s.z, 0.0f);
  out[I] = s;
}
__kernel void pendulum(__global const float2 *in, __global float2 *out) {
  float angle = in[I].x, speed = in[I].y;
  for (int k = 0; k < 64; k++) {
    speed -= 0.01f * sin(angle);
    angle += 0.01f * speed;
  }
  out[I] = (float2)(angle, speed);
}
__kernel void edit_row(__global const int *before, __global const uchar *text, __global int *row, const int n) {
  int i = I, left = before[max(i - 1, 0)];
  row[i] = min(left + (text[i] != 1), before[i] + 1);
}
__kernel void align(__global const uchar *a, __global const uchar *b, __global int *out) {
  int row[9];
  for (int k = 0; k < 9; k++) row[k] = 0;
  for (int i = 0; i < 8; i++) {
    int diagonal = 0;
    for (int k = 1; k < 9; k++) {
      int was = row[k], same = a[I * 8 + i] == b[I * 8 + k - 1] ? 2 : -1;
      row[k] = max(max(0, diagonal + same), max(was, row[k - 1]) - 1);
      diagonal = was;
    }
  }
  out[I] = row[8];
}
__kernel void logistic(__global const double *in, __global double *out) {
  double x = in[I];
  for (int k = 0; k < 128; k++) x = 3.7 * x * (1.0 - x);
  out[I] = x;
}
// ncc: text: below 4
// ncc: a: size 8 * N, below 4
// ncc: b: size 8 * N, below 4
