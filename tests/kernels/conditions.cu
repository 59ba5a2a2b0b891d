__global__ void twice(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= 2; }
__global__ void seventh(float *p, int n) { if (blockIdx.x == 7) for (int j = 0; j < n; j++) p[threadIdx.x] *= 2; }
__global__ void first(float *p) { if (blockIdx.x * blockDim.x + threadIdx.x == 0) p[0] *= 2; }
__global__ void odd(float *p) { if (blockIdx.x & 1) p[threadIdx.x] *= 2; }
__global__ void triangle(float *p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < i; j++) p[i] *= 2;
}
__global__ void picture(float *p, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) p[y * w + x] *= 2;
}
