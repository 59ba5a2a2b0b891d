__global__ void strided(int n, const float *x, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] * x[i];
}
__global__ void pairs(int n, const float4 *p, float *f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < n; j++) sum += p[j].x * p[i].x;
  f[i] = sum;
}
__global__ void rows(const int *start, const float *x, float *y) {
  float sum = 0;
  for (int k = start[threadIdx.x]; k < start[threadIdx.x + 1]; k++) sum += x[k];
  y[threadIdx.x] = sum;
}
__global__ void tree(float *x) {
  __shared__ float part[256];
  part[threadIdx.x] = x[threadIdx.x];
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) x[blockIdx.x] = part[0];
}
template <typename T, int times> __global__ void scale(T *x) {
  for (int i = 0; i < times; i++) x[threadIdx.x + i * 3] *= times;
}
template __global__ void scale<float, 3>(float *);
template __global__ void scale<double, 300>(double *);
