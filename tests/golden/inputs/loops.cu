// Loops with a guard, a step, a bound from memory and one that halves; shared memory, atomics and doubles.
__global__ void loops(int n, int step, const int *ends, const float *x, double *y, int *count) {
  __shared__ float tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = x[i];
  __syncthreads();
  double sum = 0;
  for (int k = i; k < n; k += step) sum += sqrt((double)x[k]) / (k + 1);
  for (int k = 0; k < ends[i]; k++) sum += tile[k % 128];
  for (int half = n; half > 1; half >>= 1) sum -= __expf(sum);
  if (threadIdx.x % 2 == 0 && sum > 0) atomicAdd(count, 1);
  y[i * 4] = sum;
}
int main() {
  int n = 1 << 18, *ends, *count;
  float *x;
  double *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * 4 * sizeof(double));
  cudaMalloc(&ends, n * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  loops<<<n / 128 / 8, 128>>>(n, n / 8, ends, x, y, count);
}
