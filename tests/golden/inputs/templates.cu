// Two instances of one template, and a structure of sizes.
struct Sizes { int rows, columns; };
template <typename T, int W>
__global__ void filter(Sizes sizes, const T *from, T *to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < W || x >= sizes.columns - W || y >= sizes.rows) return;
  T sum = 0;
  for (int d = -W; d <= W; d++) sum += from[y * sizes.columns + x + d];
  to[y * sizes.columns + x] = sum / (2 * W + 1);
}
int main() {
  Sizes sizes{512, 1024};
  float *a, *b;
  double *c, *d;
  cudaMalloc(&a, sizes.rows * sizes.columns * sizeof(float));
  cudaMalloc(&b, sizes.rows * sizes.columns * sizeof(float));
  cudaMalloc(&c, sizes.rows * sizes.columns * sizeof(double));
  cudaMalloc(&d, sizes.rows * sizes.columns * sizeof(double));
  filter<float, 1><<<dim3(4, 512), 256>>>(sizes, a, b);
  filter<double, 4><<<dim3(8, 512), 128>>>(sizes, c, d);
}
