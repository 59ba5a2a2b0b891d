// A launch in a function that is called with sizes.
__global__ void work(int n, float a, const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = a;
  for (int k = 0; k < n; k++) sum = sum * x[i] + k;
  y[i] = sum;
}

void run(int n, int times, float *x, float *y) {
  dim3 grid(n / 128, 1), block(128);
  work<<<grid, block>>>(times, 1.0f / times, x, y);
}
int main() {
  const int n = 128 * 500;
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  run(n, 77, a, b);
}
