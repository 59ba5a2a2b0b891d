// Sizes from expressions in brackets, and with casts.
__global__ void work(int n, float a, const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = a;
  for (int k = 0; k < n; k++) sum = sum * x[i] + k;
  y[i] = sum;
}

#define DIV(a, b) (((a) + (b) - 1) / (b))
int main() {
  int n = 3 * (2 + (4 << 3)) - (7 % 4), size = (int)((n + 1) * 1024.0);
  float *x, *y;
  cudaMalloc((void **)&x, (size_t)(size) * (sizeof(float)));
  cudaMalloc((void **)&y, ((size)) * sizeof(float));
  work<<<(DIV((size), (256))), (256)>>>((n), (-(2.0f)), (x), &y[0]);
}
