// Sizes that a command line may change, with defaults.
__global__ void work(int n, float a, const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = a;
  for (int k = 0; k < n; k++) sum = sum * x[i] + k;
  y[i] = sum;
}

#include <cstring>
static int size = 1 << 16;
const static int block = 64;
int main(int argc, char **argv) {
  int n = 20;
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], "-n")) n = atoi(argv[++i]);
  float *x, *y;
  cudaMallocManaged(&x, size * sizeof(float));
  cudaMallocManaged(&y, size * sizeof(float));
  work<<<size / block, block>>>(n, 3.0f, x, y);
}
