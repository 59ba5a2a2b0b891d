#define N 4096
typedef float real;
static cl_kernel kernel;
static cl_mem a, b;
#ifdef SMALL
#define LOCAL 32
#else
#define LOCAL 64
#endif
void create(void) {
  a = clCreateBuffer(context, CL_MEM_READ_ONLY, N * sizeof(real), NULL, &error);
  b = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_int) * N, NULL, &error);
  kernel = clCreateKernel(program, "vadd", &error);
}
void launch(int n) {
  size_t global[2], local[2];
  global[0] = (size_t)ceil((float)n / (float)LOCAL) * LOCAL;
  global[1] = 2;
  local[0] = LOCAL;
  local[1] = 1;
  clSetKernelArg(kernel, 0, sizeof(cl_mem), (void *)&a);
  clSetKernelArg(kernel, 1, sizeof(cl_mem), (void *)&b);
  clSetKernelArg(kernel, 2, sizeof(int), &n);
  clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
}
int main(void) { launch(N - 1); }
