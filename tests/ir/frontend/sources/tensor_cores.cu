#include <cuda_fp8.h>
#include <mma.h>
using namespace nvcuda;
__global__ void product(const half *a, const half *b, float *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(x, a, 16);
  wmma::load_matrix_sync(y, b, 16);
  wmma::mma_sync(sum, x, y, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
__global__ void narrow(__nv_fp8_e4m3 *p, half2 *h, unsigned int *words) {
  p[0] = __nv_fp8_e4m3(static_cast<float>(p[1]) * 2);
  words[0] = __vmaxs4(words[1], words[2]) + __hgt2_mask(h[0], h[1]);
  if (__hbge2(h[0], h[1])) h[2] = __hlt2(h[0], h[1]);
  words[3] = __vsubss4(0x80u, 0x01u) + 1000 * __vaddus2(0xfffeu, 9u);
}
