#include <cublas_v2.h>
#include <thrust/device_vector.h>
template <class T, int N> __global__ void scale(T *p) { p[threadIdx.x] *= N; }
int main() {
  cublasHandle_t handle;
  cublasCreate(&handle);
  thrust::device_vector<float> d(10);
  thrust::sort(d.begin(), d.end());
  scale<float, 4><<<1, 2>>>(thrust::raw_pointer_cast(d.data()));
  scale<double, 8><<<1, 2>>>(nothing.p);
  if (cublasDestroy(handle)) return 1;
}
