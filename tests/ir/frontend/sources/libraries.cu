#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <thrust/complex.h>
namespace cg = cooperative_groups;
texture<float, 2, cudaReadModeElementType> image;
__global__ void __launch_bounds__(256, 2) all(half2 *x, half *y, float *z, cudaTextureObject_t t) {
  extern __shared__ float dynamic[];
  auto block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<32, cg::thread_block> same = warp;
  same.sync();
  curandState s;
  curand_init(1, block.thread_rank(), 0, &s);
  typedef cub::BlockReduce<float, 256> Reduce;
  __shared__ Reduce::TempStorage storage;
  float v = __half2float(y[0]) + tex2D(image, 1.f, 2.f) + tex1Dfetch<float>(t, 3) + curand_normal(&s);
  v = Reduce(storage).Sum(v);
  dynamic[threadIdx.x] = v;
  block.sync();
  x[0] = __hfma2(x[1], x[2], __hmul2(x[3], x[4]));
  y[4] = hexp(y[5]) * (half)2.0f;
  z[0] = cg::reduce(warp, v, cg::plus<float>()) + cuCabsf(cuCmulf(make_cuComplex(1, v), make_cuComplex(v, 2)));
  thrust::complex<float> c(v, 1);
  z[1] = (c * c).real() + abs(c) + __shfl_down(v, 1) + min(threadIdx.x, 5);
  __nv_bfloat16 b = __float2bfloat16(v);
  z[2] = __bfloat162float(b * b) + dynamic[5] + __ldg(z + 7);
  if (__any_sync(~0u, v > 1)) atomicAdd(z + 3, v);
}
