// Images: filters and fractals.

__kernel void mandelbrot(int limit, __global int* escape) {
  int px = get_global_id(0), py = get_global_id(1), width = get_global_size(0), step = 0;
  float cx = 3.0f * px / width - 2.0f, cy = 2.0f * py / get_global_size(1) - 1.0f, x = 0, y = 0;
  for (; step < limit && x * x + y * y < 4.0f; step++) {
    float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
  }
  escape[py * width + px] = step;
}

__kernel void julia_fixed(__global float* modulus) {
  int px = get_global_id(0), py = get_global_id(1), width = get_global_size(0);
  float x = 3.0f * px / width - 1.5f, y = 3.0f * py / width - 1.5f;
  for (int step = 0; step < 100; step++) {
    float next = x * x - y * y - 0.7f;
    y = fmin(fmax(2.0f * x * y + 0.27f, -4.0f), 4.0f);
    x = fmin(fmax(next, -4.0f), 4.0f);
  }
  modulus[py * width + px] = x * x + y * y;
}

__kernel void convolve_5x5(int photo, __global const float* source, __constant float* mask, __global float* filtered) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int dy = 0; dy < 5; dy++)
    for (int dx = 0; dx < 5; dx++) {
      int sx = clamp(x + dx - 2, 0, photo - 1), sy = clamp(y + dy - 2, 0, photo - 1);
      sum += source[sy * photo + sx] * mask[dy * 5 + dx];
    }
  filtered[y * photo + x] = sum;
}

__kernel void sobel(int stride, __global const float* scene, __global float* edges) {
  int x = get_global_id(0), y = get_global_id(1), i = y * stride + x;
  if (x < 1 || y < 1 || x >= stride - 1 || y >= stride - 1) return;
  float gx = scene[i - stride + 1] + 2 * scene[i + 1] + scene[i + stride + 1] - scene[i - stride - 1] -
             2 * scene[i - 1] - scene[i + stride - 1];
  float gy = scene[i + stride - 1] + 2 * scene[i + stride] + scene[i + stride + 1] - scene[i - stride - 1] -
             2 * scene[i - stride] - scene[i - stride + 1];
  edges[i] = sqrt(gx * gx + gy * gy);
}

__kernel void gray_scale(__global const uchar4* color, __global uchar* gray) {
  int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
  gray[i] = (77 * color[i].x + 150 * color[i].y + 29 * color[i].z) >> 8;
}

__kernel void median_3x3(int vga_x, int vga_y, __global const float* noisy, __global float* clean) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= vga_x - 1 || y >= vga_y - 1) return;
  float window[9];
  for (int i = 0; i < 9; i++) window[i] = noisy[(y + i / 3 - 1) * vga_x + x + i % 3 - 1];
  for (int i = 0; i < 5; i++)
    for (int j = i + 1; j < 9; j++) {
      float low = fmin(window[i], window[j]);
      window[j] = fmax(window[i], window[j]);
      window[i] = low;
    }
  clean[y * vga_x + x] = window[4];
}

__kernel void bilateral(int portrait, __global const float* rough, __global float* fine) {
  int x = get_global_id(0), y = get_global_id(1);
  float own = rough[y * portrait + x], sum = 0, weights = 0;
  for (int dy = -2; dy <= 2; dy++)
    for (int dx = -2; dx <= 2; dx++) {
      float other = rough[clamp(y + dy, 0, portrait - 1) * portrait + clamp(x + dx, 0, portrait - 1)];
      float weight = exp(-0.1f * (dx * dx + dy * dy) - 8.0f * (other - own) * (other - own));
      sum += weight * other;
      weights += weight;
    }
  fine[y * portrait + x] = sum / weights;
}
