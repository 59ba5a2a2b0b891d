#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

__global__ void vector_add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

#define CHECK(call)                                               \
  do {                                                            \
    cudaError_t error = (call);                                   \
    if (error != cudaSuccess) {                                   \
      fprintf(stderr, "%s\n", cudaGetErrorString(error));         \
      return 1;                                                   \
    }                                                             \
  } while (0)

int main() {
  const int n = 1 << 20;
  std::vector<float> host(n, 1.0f);
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, n * sizeof(float)));
  CHECK(cudaMalloc((void **)&b, n * sizeof(float)));
  CHECK(cudaMallocManaged(&c, n * sizeof(float)));
  CHECK(cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  vector_add<<<(n + 255) / 256, 256>>>(a, b, c, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::printf("%f\n", c[0]);
  cudaFree(a);
  return 0;
}
