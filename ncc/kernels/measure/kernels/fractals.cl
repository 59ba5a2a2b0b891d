// Iterations that end at different times for neighbours.
#define X get_global_id(0)
#define Y get_global_id(1)
__kernel void mandelbrot(__global const float *shift, __global int *out, const int n) {
  float a = 3.0f * X / n - 2.0f + 0.001f * shift[0], b = 2.0f * Y / n - 1.0f, x = 0.0f, y = 0.0f;
  int k = 0;
  for (; k < 200 && x * x + y * y < 4.0f; k++) {
    float was = x;
    x = x * x - y * y + a;
    y = 2.0f * was * y + b;
  }
  out[Y * n + X] = k + (int)(1000.0f * shift[0]);
}
__kernel void julia(__global const float2 *start, __global int *out) {
  float x = 3.0f * start[X].x - 1.5f, y = 3.0f * start[X].y - 1.5f;
  int k = 0;
  for (; k < 200 && x * x + y * y < 4.0f; k++) {
    float was = x;
    x = x * x - y * y - 0.8f;
    y = 2.0f * was * y + 0.156f;
  }
  out[X] = k;
}
__kernel void newton(__global const float *in, __global float *out) {
  float x = in[X] + 0.5f;
  for (int k = 0; k < 50; k++) {
    float step = (x * x * x - in[X] - 1.0f) / (3.0f * x * x);
    x -= step;
    if (fabs(step) < 1e-5f) break;
  }
  out[X] = x;
}
__kernel void collatz(__global const int *in, __global int *out) {
  uint at = in[X] + 1;
  int steps = 0;
  for (; at != 1 && steps < 300; steps++) at = at & 1 ? 3 * at + 1 : at / 2;
  out[X] = steps;
}
__kernel void euclid(__global const int *a, __global const int *b, __global int *out) {
  int x = a[X] + 1, y = b[X] + 1;
  while (y) {
    int rest = x % y;
    x = y;
    y = rest;
  }
  out[X] = x;
}
