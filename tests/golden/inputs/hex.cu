// Numbers in base sixteen and eight, with suffixes.
__global__ void work(int n, float a, const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = a;
  for (int k = 0; k < n; k++) sum = sum * x[i] + k;
  y[i] = sum;
}

int main() {
  const unsigned n = 0x400U, blocks = 0x10;
  float *x, *y;
  cudaMalloc(&x, 0x100000);
  cudaMalloc(&y, 1UL << 20);
  work<<<blocks, 0x80>>>(n / 010, 1.5e-3f, x, y);
}
