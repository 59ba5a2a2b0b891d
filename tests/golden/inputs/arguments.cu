// Sizes from the program's arguments, by place.
__global__ void work(int n, float a, const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = a;
  for (int k = 0; k < n; k++) sum = sum * x[i] + k;
  y[i] = sum;
}

#include <cstdlib>
int main(int argc, char **argv) {
  if (argc != 3) return 1;
  const int n = atoi(argv[1]), block = std::stoi(argv[2]);
  float *x, *y;
  cudaMalloc(&x, n * block * sizeof(float));
  cudaMalloc(&y, n * block * sizeof(float));
  work<<<n, block>>>(n / 2, 2.5f, x, y);
}
