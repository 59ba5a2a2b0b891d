// y = a x + y, and the sum of y, as CUDA: the grid may be smaller than the data.
#include <cublas_v2.h>

__global__ void saxpy(int n, float a, const float *x, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

template <int threads>
__global__ void sum(int n, const float *y, float *result) {
  __shared__ float part[threads];
  const int i = blockIdx.x * threads + threadIdx.x;
  part[threadIdx.x] = i < n ? y[i] : 0.0f;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(result, part[0]);
}

void run(int n, float a, const float *x, float *y, float *result) {
  cublasHandle_t handle;  // of a library that need not be installed
  cublasCreate(&handle);
  saxpy<<<1024, 256>>>(n, a, x, y);
  sum<256><<<(n + 255) / 256, 256>>>(n, y, result);
  cublasDestroy(handle);
}
