// Sizes cut by min and max, and chosen by a condition.
__global__ void work(int n, float a, const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = a;
  for (int k = 0; k < n; k++) sum = sum * x[i] + k;
  y[i] = sum;
}

#include <algorithm>
int main(int argc, char **argv) {
  int n = std::min(argc > 1 ? atoi(argv[1]) : 5000, 700);
  int blocks = std::max(std::min(n / 4, 64), 16), most = n > 100 ? 128 : 64;
  float *x, *y;
  cudaMalloc(&x, max(n, 1 << 14) * sizeof(float));
  cudaMalloc(&y, max(n, 1 << 14) * sizeof(float));
  work<<<blocks, most>>>(min(n, 300), 1, x, y);
}
