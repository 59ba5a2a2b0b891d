// Each cell from its neighbours in a plane.
#define X get_global_id(0)
#define Y get_global_id(1)
#define AT(x, y) in[clamp((int)(y), 0, n - 1) * n + clamp((int)(x), 0, n - 1)]
__kernel void laplace(__global const float *in, __global float *out, const int n) {
  out[Y * n + X] = AT(X - 1, Y) + AT(X + 1, Y) + AT(X, Y - 1) + AT(X, Y + 1) - 4.0f * AT(X, Y);
}
__kernel void nine_points(__global const float *in, __global float *out, const int n) {
  float sum = 0.0f;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) sum += AT((int)X + dx, (int)Y + dy);
  out[Y * n + X] = sum / 9.0f;
}
__kernel void wide_cross(__global const float *in, __global float *out, const int n) {
  float sum = AT(X, Y);
  for (int d = 1; d <= 4; d++) sum += (AT(X - d, Y) + AT(X + d, Y) + AT(X, Y - d) + AT(X, Y + d)) / d;
  out[Y * n + X] = sum;
}
__kernel void life(__global const uchar *in, __global uchar *out, const int n) {
  int alive = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) alive += (dx || dy) ? AT((int)X + dx, (int)Y + dy) : 0;
  out[Y * n + X] = alive == 3 || (alive == 2 && AT(X, Y));
}
__kernel void heat_tiled(__global const float *in, __global float *out, const int n) {
  __local float tile[18][18];
  int x = get_local_id(0), y = get_local_id(1);
  for (int i = y; i < 18; i += 16)
    for (int j = x; j < 18; j += 16) tile[i][j] = AT((int)get_group_id(0) * 16 + j - 1, (int)get_group_id(1) * 16 + i - 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  float centre = tile[y + 1][x + 1];
  out[Y * n + X] = centre + 0.2f * (tile[y][x + 1] + tile[y + 2][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2] - 4.0f * centre);
}
// ncc: life.in: below 2
// ncc: heat_tiled: local 256
