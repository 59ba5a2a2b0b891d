// One hundred lines of OpenCL, for the time that the command line takes from start to answer.

#define TILE 16

__kernel void multiply(__global const float* a, __global const float* b,
                       __global float* c, int size) {
  __local float tile_a[TILE][TILE];
  __local float tile_b[TILE][TILE];
  int row = get_global_id(1);
  int column = get_global_id(0);
  int local_row = get_local_id(1);
  int local_column = get_local_id(0);
  float sum = 0.0f;
  for (int start = 0; start < size; start += TILE) {
    tile_a[local_row][local_column] = a[row * size + start + local_column];
    tile_b[local_row][local_column] = b[(start + local_row) * size + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++)
      sum = fma(tile_a[local_row][k], tile_b[k][local_column], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * size + column] = sum;
}

__kernel void reduce(__global const float* in,
                     __global float* out,
                     __local float* partial,
                     int n) {
  int local_id = get_local_id(0);
  float sum = 0.0f;
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    sum += in[i];
  partial[local_id] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = get_local_size(0) / 2; width > 0; width /= 2) {
    if (local_id < width)
      partial[local_id] += partial[local_id + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (local_id == 0)
    out[get_group_id(0)] = partial[0];
}

__kernel void diffuse(__global const float* in,
                      __global float* out,
                      int width,
                      int height,
                      float rate) {
  int x = get_global_id(0);
  int y = get_global_id(1);
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
    return;
  int at = y * width + x;
  float around = in[at - 1] + in[at + 1] + in[at - width] + in[at + width];
  out[at] = in[at] + rate * (around - 4.0f * in[at]);
}

__kernel void histogram(__global const uchar* pixels,
                        __global int* bins,
                        __local int* counts,
                        int n) {
  int local_id = get_local_id(0);
  for (int bin = local_id; bin < 256; bin += get_local_size(0))
    counts[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    atomic_inc(&counts[pixels[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int bin = local_id; bin < 256; bin += get_local_size(0))
    atomic_add(&bins[bin], counts[bin]);
}

__kernel void attract(__global const float4* position,
                      __global float4* velocity,
                      int n,
                      float step) {
  int i = get_global_id(0);
  float4 here = position[i];
  float4 force = (float4)(0.0f);
  for (int j = 0; j < n; j++) {
    float4 away = position[j] - here;
    float squared = away.x * away.x + away.y * away.y + away.z * away.z + 0.01f;
    float inverse = rsqrt(squared);
    force += away * (position[j].w * inverse * inverse * inverse);
  }
  velocity[i] += step * force;
}

__kernel void escape(__global int* steps, int width, int height, int limit) {
  float real = 3.0f * get_global_id(0) / width - 2.0f;
  float imaginary = 2.0f * get_global_id(1) / height - 1.0f;
  float x = 0.0f, y = 0.0f;
  int step = 0;
  for (; step < limit && x * x + y * y < 4.0f; step++) {
    float next = x * x - y * y + real;
    y = 2.0f * x * y + imaginary;
    x = next;
  }
  steps[get_global_id(1) * width + get_global_id(0)] = step;
}
