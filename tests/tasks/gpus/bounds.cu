__global__ void triad(const double *a, const double *b, double *c, double s, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + s * b[i];
}
__global__ void nothing() {}
__global__ void alone(float *a, int n) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0) for (int i = 1; i < n; i++) a[i] = a[i - 1] * 0.5f + a[i];
}
__global__ void again(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int k = -4; k <= 4; k++) s += a[(i + k) % 1000];
  c[i] = s;
}
__global__ void product(const float *a, const float *b, float *c, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
  c[y * n + x] = s;
}
