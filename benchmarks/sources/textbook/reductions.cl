// Reductions, scans and histograms.

__kernel void sum_groups(__global const float* values, __global float* partial) {
  __local float shared[256];
  int i = get_local_id(0);
  shared[i] = values[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 128; step > 0; step /= 2) {
    if (i < step) shared[i] += shared[i + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i == 0) partial[get_group_id(0)] = shared[0];
}

__kernel void dot_groups(__global const float* left, __global const float* right, __global float* dots) {
  __local float products[128];
  int i = get_local_id(0), at = get_global_id(0);
  products[i] = left[at] * right[at];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 64; step > 0; step >>= 1) {
    if (i < step) products[i] += products[i + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i == 0) dots[get_group_id(0)] = products[0];
}

__kernel void row_sums(int columns, __global const float* table, __global float* sums) {
  int row = get_global_id(0);
  float sum = 0;
  for (int column = 0; column < columns; column++) sum += table[row * columns + column];
  sums[row] = sum;
}

__kernel void column_sums(int height, __global const float* grid, __global float* totals) {
  int column = get_global_id(0), width = get_global_size(0);
  float sum = 0;
  for (int row = 0; row < height; row++) sum += grid[row * width + column];
  totals[column] = sum;
}

// ncc: input: below 100
__kernel void scan_groups(__global const int* input, __global int* prefix) {
  __local int sums[256];
  int i = get_local_id(0);
  sums[i] = input[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < 256; step *= 2) {
    int before = i >= step ? sums[i - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[i] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  prefix[get_global_id(0)] = sums[i];
}

__kernel void histogram_local(__global const uint* samples, __global uint* bins) {
  __local uint counts[256];
  int i = get_local_id(0);
  counts[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&counts[samples[get_global_id(0)] & 255]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[i], counts[i]);
}

__kernel void group_variance(int members, __global const float* scores, __global float* variance) {
  int group = get_global_id(0);
  float sum = 0, squares = 0;
  for (int member = 0; member < members; member++) {
    float score = scores[group * members + member];
    sum += score;
    squares += score * score;
  }
  variance[group] = squares / members - sum * sum / ((float)members * members);
}
