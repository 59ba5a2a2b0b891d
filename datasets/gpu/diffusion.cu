// Heat in a plate: a step is a stencil of five points; what is left is summed up. With the host code that starts it.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define TILE 16
#define BLOCKS(n) (((n) + TILE - 1) / TILE)

__global__ void step(int n, float rate, const float *from, float *to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int at = y * n + x;
  to[at] = from[at] + rate * (from[at - 1] + from[at + 1] + from[at - n] + from[at + n] - 4 * from[at]);
}

__global__ void roots(int times, const float *values, float *found) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  float root = 1;
  for (int i = 0; i < times; i++) root = 0.5f * (root + values[at] / root);
  found[at] = root;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 4096, steps = 100;
  const size_t bytes = sizeof(float) * n * n;
  float *a, *b;
  cudaMalloc((void **)&a, bytes);
  cudaMalloc((void **)&b, bytes);
  cudaMemset(a, 0, bytes);
  dim3 grid(BLOCKS(n), BLOCKS(n)), block(TILE, TILE);
  for (int i = 0; i < steps; i++) {
    step<<<grid, block>>>(n, 0.2f, a, b);
    float *other = a;
    a = b;
    b = other;
  }
  roots<<<n * n / 256, 256>>>(1000, a, b);
  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(b);
  return 0;
}
