/* Matrices of a warp (CUDA C++ Programming Guide, "Warp Matrix Functions"): tensor cores' instructions as calls. */
#ifndef NCC_CUDA_MMA_H
#define NCC_CUDA_MMA_H
#include "half.h"

namespace nvcuda {
namespace wmma {
enum layout_t { mem_row_major, mem_col_major };
struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
namespace precision {
struct tf32 {};
struct u4 {};
struct s4 {};
struct b1 {};
}  // namespace precision
template <typename T>
struct ncc_element { typedef T type; };
template <>
struct ncc_element<precision::tf32> { typedef float type; };

/* Each thread of a warp holds its part of a matrix of m by n, by k. */
template <typename Use, int m, int n, int k, typename T, typename Layout = void>
struct fragment {
  typedef typename ncc_element<T>::type element_type;
  enum { rows = __is_same(Use, matrix_b) ? k : m, columns = __is_same(Use, matrix_a) ? k : n };
  enum { num_elements = rows * columns / 32 > 0 ? rows * columns / 32 : 1 };
  element_type x[num_elements];
};
NCC_DEVICE float __float_to_tf32(float x) { return x; }

template <typename F, typename T>
NCC_DEVICE void load_matrix_sync(F &f, const T *p, unsigned int stride) {
  const unsigned int lane = __nvvm_read_ptx_sreg_laneid();
  for (int i = 0; i < F::num_elements; i++) {
    const unsigned int at = lane * F::num_elements + i;
    f.x[i] = p[at / F::columns * stride + at % F::columns];
  }
}
template <typename F, typename T>
NCC_DEVICE void load_matrix_sync(F &f, const T *p, unsigned int stride, layout_t) { load_matrix_sync(f, p, stride); }
template <typename F, typename T>
NCC_DEVICE void store_matrix_sync(T *p, const F &f, unsigned int stride, layout_t) {
  const unsigned int lane = __nvvm_read_ptx_sreg_laneid();
  for (int i = 0; i < F::num_elements; i++) {
    const unsigned int at = lane * F::num_elements + i;
    p[at / F::columns * stride + at % F::columns] = f.x[i];
  }
}
template <typename F, typename T>
NCC_DEVICE void fill_fragment(F &f, T v) {
  for (int i = 0; i < F::num_elements; i++) f.x[i] = v;
}
extern "C" __device__ void ncc_mma_sync(void *d, const void *a, const void *b, const void *c);
template <typename D, typename A, typename B, typename C>
NCC_DEVICE void mma_sync(D &d, const A &a, const B &b, const C &c, bool saturated = false) {
  ncc_mma_sync(d.x, a.x, b.x, c.x);
}
}  // namespace wmma
}  // namespace nvcuda

#endif
