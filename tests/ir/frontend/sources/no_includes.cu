// What nvcc accepts without a single #include.
__global__ void fill(float *values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(n > 0);
  if (i < n) values[i] = sqrt((float)i) + abs(values[i]) + floor(values[i]) + fmod(values[i], 2.0f);
  if (i == 0) printf("%f %d\n", values[0], (int)clock());
  uint3 where = threadIdx;
  dim3 size = blockDim;
  atomicAdd((unsigned int *)values, where.x * size.x);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1024;
  float *host = (float *)malloc(n * sizeof(float)), *device = NULL;
  memset(host, 0, n * sizeof(float));
  if (cudaMalloc((void **)&device, n * sizeof(float)) != cudaSuccess) exit(1);
  clock_t start = clock();
  fill<<<dim3((n + 255) / 256), dim3(256)>>>(device, n);
  cudaMemcpy(host, device, n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%f %f\n", host[0], sqrt(2.0) + fabs(-1.0f) + max(1, 2) + (double)(clock() - start));
  free(host);
  return 0;
}
