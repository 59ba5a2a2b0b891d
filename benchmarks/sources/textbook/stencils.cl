// Stencils on grids of one to three dimensions.

__kernel void average_1d(int width, __global const float* line, __global float* average) {
  int i = get_global_id(0);
  if (i > 0 && i < width - 1) average[i] = (line[i - 1] + line[i] + line[i + 1]) / 3.0f;
}

__kernel void jacobi_2d(int side, __global const float* before, __global float* after) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
  int i = y * side + x;
  after[i] = 0.25f * (before[i - 1] + before[i + 1] + before[i - side] + before[i + side]);
}

__kernel void laplace_3d(int edge, __global const float* volume, __global float* smooth) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x < 1 || y < 1 || z < 1 || x >= edge - 1 || y >= edge - 1 || z >= edge - 1) return;
  int plane = edge * edge, i = z * plane + y * edge + x;
  smooth[i] = volume[i - 1] + volume[i + 1] + volume[i - edge] + volume[i + edge] + volume[i - plane] +
              volume[i + plane] - 6.0f * volume[i];
}

// ncc: now: below 2
__kernel void game_of_life(int board, __global const int* now, __global int* next) {
  int x = get_global_id(0), y = get_global_id(1), alive = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      if (dx || dy) alive += now[(y + dy + board) % board * board + (x + dx + board) % board];
  next[y * board + x] = alive == 3 || (alive == 2 && now[y * board + x]);
}

__kernel void heat_plate(int plate, float rate, __global const float* cold, __global float* warm) {
  int x = get_global_id(0), y = get_global_id(1), i = y * plate + x;
  float left = x > 0 ? cold[i - 1] : 0, right = x < plate - 1 ? cold[i + 1] : 0;
  float up = y > 0 ? cold[i - plate] : 0, down = y < plate - 1 ? cold[i + plate] : 0;
  warm[i] = cold[i] + rate * (left + right + up + down - 4.0f * cold[i]);
}
