/* Eight-bit floats (CUDA Math API, "FP8 Intrinsics"): one value is the card's instruction to convert it. */
#ifndef NCC_CUDA_FP8_H
#define NCC_CUDA_FP8_H
#define __CUDA_FP8_H__
#include "half.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

extern "C" __host__ __device__ __nv_fp8_storage_t __nv_cvt_float_to_fp8(float, __nv_saturation_t,
                                                                        __nv_fp8_interpretation_t);
extern "C" __host__ __device__ float ncc_fp8_to_float(__nv_fp8_storage_t, __nv_fp8_interpretation_t);
NCC_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return __nv_cvt_float_to_fp8(static_cast<float>(x), s, k);
}
NCC_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return __nv_cvt_float_to_fp8(v.x, s, k) | __nv_cvt_float_to_fp8(v.y, s, k) << 8;
}
#define NCC_FP8_OF(name, type)                                                                     \
  NCC_BOTH __nv_fp8_storage_t __nv_cvt_##name##raw_to_fp8(type##_raw v, __nv_saturation_t s,       \
                                                          __nv_fp8_interpretation_t k) {           \
    return __nv_cvt_float_to_fp8(type(v), s, k);                                                   \
  }                                                                                                \
  NCC_BOTH __nv_fp8x2_storage_t __nv_cvt_##name##raw2_to_fp8x2(type##2_raw v, __nv_saturation_t s, \
                                                               __nv_fp8_interpretation_t k) {      \
    const type##2 pair = v;                                                                        \
    return __nv_cvt_float2_to_fp8x2(float2{pair.x, pair.y}, s, k);                                 \
  }
NCC_FP8_OF(half, __half)
NCC_FP8_OF(bfloat16, __nv_bfloat16)
#undef NCC_FP8_OF
NCC_BOTH __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t k) {
  return __half(ncc_fp8_to_float(x, k));
}
NCC_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t k) {
  return __half2(ncc_fp8_to_float(x & 0xff, k), ncc_fp8_to_float(x >> 8, k));
}

#define NCC_FP8(type, kind)                                                                        \
  struct __nv_fp8_##type {                                                                         \
    __nv_fp8_storage_t __x;                                                                        \
    __nv_fp8_##type() = default;                                                                   \
    template <typename T, typename = decltype(static_cast<float>(T()))>                            \
    __host__ __device__ explicit __nv_fp8_##type(T x)                                              \
        : __x(__nv_cvt_float_to_fp8(static_cast<float>(x), __NV_SATFINITE, kind)) {}               \
    __host__ __device__ operator float() const { return ncc_fp8_to_float(__x, kind); }             \
  };                                                                                               \
  struct alignas(2) __nv_fp8x2_##type {                                                            \
    __nv_fp8x2_storage_t __x;                                                                      \
    __nv_fp8x2_##type() = default;                                                                 \
    __host__ __device__ void set(float x, float y) {                                               \
      __x = __nv_fp8_##type(x).__x | __nv_fp8_##type(y).__x << 8;                                  \
    }                                                                                              \
    __host__ __device__ explicit __nv_fp8x2_##type(float2 v) { set(v.x, v.y); }                    \
    __host__ __device__ explicit __nv_fp8x2_##type(__half2 v) { set(v.x, v.y); }                   \
    __host__ __device__ explicit __nv_fp8x2_##type(__nv_bfloat162 v) { set(v.x, v.y); }            \
    __host__ __device__ operator float2() const {                                                  \
      return float2{ncc_fp8_to_float(__x & 0xff, kind), ncc_fp8_to_float(__x >> 8, kind)};         \
    }                                                                                              \
  };                                                                                               \
  struct alignas(4) __nv_fp8x4_##type {                                                            \
    __nv_fp8x4_storage_t __x;                                                                      \
    __nv_fp8x4_##type() = default;                                                                 \
    template <typename V>                                                                          \
    __host__ __device__ __nv_fp8x4_##type(V low, V high)                                           \
        : __x(__nv_fp8x2_##type(low).__x | static_cast<unsigned int>(__nv_fp8x2_##type(high).__x) << 16) {} \
    __host__ __device__ explicit __nv_fp8x4_##type(float4 v)                                       \
        : __nv_fp8x4_##type(float2{v.x, v.y}, float2{v.z, v.w}) {}                                 \
    __host__ __device__ operator float4() const {                                                  \
      __nv_fp8x2_##type low, high;                                                                 \
      low.__x = __x & 0xffff, high.__x = __x >> 16;                                                \
      const float2 x = low, y = high;                                                              \
      return float4{x.x, x.y, y.x, y.y};                                                           \
    }                                                                                              \
  };
NCC_FP8(e4m3, __NV_E4M3)
NCC_FP8(e5m2, __NV_E5M2)
#undef NCC_FP8

#endif
