#include <hip/hip_runtime.h>
__global__ void scale(float *a, float k, int n) {
  int i = hipBlockIdx_x * hipBlockDim_x + threadIdx.x;
  HIP_DYNAMIC_SHARED(float, tile)
  tile[threadIdx.x] = a[i];
  __syncthreads();
  if (i < n) a[i] = k * tile[threadIdx.x];
}
int main() {
  float *a;
  hipDeviceProp_t properties;
  hipError_t error = hipGetDeviceProperties(&properties, 0);
  if (error != hipSuccess) return 1;
  hipMalloc((void **)&a, 1024);
  hipMemset(a, 0, 1024);
  hipLaunchKernelGGL(scale, dim3(4), dim3(64), 256, 0, a, 2.0f, 256);
  hipDeviceSynchronize();
  hipFree(a);
}
