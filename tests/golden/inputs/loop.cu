// A launch in a loop whose counter it is given.
__global__ void work(int n, float a, const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = a;
  for (int k = 0; k < n; k++) sum = sum * x[i] + k;
  y[i] = sum;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 1 << 22);
  cudaMalloc(&y, 1 << 22);
  for (int step = 1; step <= 40; step += 3) {
    for (int half = 64; half > 0; half /= 2) work<<<256, 128>>>(step * 2, 0.5f, x, y);
  }
}
