#include <cmath>
#include <cuda.h>
#include <device_launch_parameters.h>
#include <iostream>
#include <math.h>
#include <stdio.h>

#define TILE 16

__constant__ float scale[4];
__device__ int num_calls;

template <typename T>
__device__ __forceinline__ T activate(T x) {
  return max(x, static_cast<T>(0)) + std::abs(x) * static_cast<T>(0.01);
}

template <typename T, int N>
__global__ void multiply(const T *__restrict__ a, const T *__restrict__ b, T *c, int width) {
  __shared__ T tile_a[N][N], tile_b[N][N];
  int row = blockIdx.y * N + threadIdx.y, column = blockIdx.x * N + threadIdx.x;
  T sum = 0;
  for (int k = 0; k < width; k += N) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * width + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = __ldg(&b[(k + threadIdx.y) * width + column]);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < N; ++j) sum += tile_a[threadIdx.y][j] * tile_b[j][threadIdx.x];
    __syncthreads();
  }
  c[row * width + column] = activate(sum) * scale[0];
}

__global__ void functions(float4 *v, double *d, int *counts) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float4 p = v[i];
  p.x = sqrtf(p.x) + expf(p.y) * __expf(p.z) + sinf(p.w) + fabsf(p.x) + powf(p.x, 2.0f) + rsqrtf(p.y);
  p.y = sqrt(p.x) + exp(p.y) + pow(p.x, 3) + fminf(p.z, 1.0f) + min(p.x, p.y) + std::sqrt(p.x);
  d[i] = sqrt(d[i]) + pow(d[i], 2.0) + fma(d[i], d[i], 1.0) + floor(d[i]) + M_PI;
  v[i] = make_float4(p.x, p.y, p.z, 0.0f);
  atomicMax(&counts[0], i);
  atomicCAS(&counts[1], 0, i);
  atomicAdd(&num_calls, 1);
  if (isnan(p.x) || i == 0) printf("%d %f\n", i, p.x);
}

int main() {
  float *a = nullptr, *b = nullptr, *c = nullptr;
  dim3 block(TILE, TILE), grid(64, 64);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaEvent_t start;
  cudaEventCreate(&start);
  float factors[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(scale, factors, sizeof(factors));
  multiply<float, TILE><<<grid, block, 0, stream>>>(a, b, c, 1024);
  cudaEventRecord(start);
  std::cout << "done " << std::sqrt(2.0) << std::endl;
}
