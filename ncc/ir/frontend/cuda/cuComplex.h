/* Complex numbers as pairs: the functions of CUDA's cuComplex.h. */
#ifndef NCC_CUDA_COMPLEX_H
#define NCC_CUDA_COMPLEX_H
#include "prelude.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define NCC_COMPLEX(type, real, f, make, root)                                                         \
  NCC_BOTH type make(real x, real y) { return type{x, y}; }                                            \
  NCC_BOTH real cuCreal##f(type x) { return x.x; }                                                     \
  NCC_BOTH real cuCimag##f(type x) { return x.y; }                                                     \
  NCC_BOTH type cuConj##f(type x) { return type{x.x, -x.y}; }                                          \
  NCC_BOTH type cuCadd##f(type x, type y) { return type{x.x + y.x, x.y + y.y}; }                       \
  NCC_BOTH type cuCsub##f(type x, type y) { return type{x.x - y.x, x.y - y.y}; }                       \
  NCC_BOTH type cuCmul##f(type x, type y) { return type{x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; } \
  NCC_BOTH type cuCdiv##f(type x, type y) {                                                            \
    const real scale = y.x * y.x + y.y * y.y;                                                          \
    return type{(x.x * y.x + x.y * y.y) / scale, (x.y * y.x - x.x * y.y) / scale};                     \
  }                                                                                                    \
  NCC_BOTH real cuCabs##f(type x) { return root(x.x * x.x + x.y * x.y); }                              \
  NCC_BOTH type cuCfma##f(type x, type y, type z) { return cuCadd##f(cuCmul##f(x, y), z); }
NCC_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex, __builtin_sqrtf)
NCC_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex, __builtin_sqrt)
#undef NCC_COMPLEX
NCC_BOTH cuComplex make_cuComplex(float x, float y) { return cuComplex{x, y}; }
#endif
