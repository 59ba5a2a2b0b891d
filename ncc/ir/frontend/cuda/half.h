/* Half precision and bfloat16 (CUDA Math API, "Half Precision" and "Bfloat16 Precision Intrinsics"). */
#ifndef NCC_CUDA_HALF_H
#define NCC_CUDA_HALF_H
#define __CUDA_FP16_H__
#define __CUDA_BF16_H__
#include "prelude.h"

template <bool is_number> struct ncc_number;
template <> struct ncc_number<true> { typedef void type; };

#define NCC_NARROW(type, pair, stored)                                                             \
  struct type##_raw { unsigned short x; };                                                         \
  struct pair##_raw { unsigned short x, y; };                                                      \
  struct alignas(2) type {                                                                         \
    stored v;                                                                                      \
    type() = default;                                                                              \
    __host__ __device__ type(float x) : v(static_cast<stored>(x)) {}                               \
    template <typename T, typename = typename ncc_number<__is_arithmetic(T) || __is_enum(T)>::type> \
    __host__ __device__ type(T x) : v(static_cast<stored>(static_cast<float>(x))) {}               \
    __host__ __device__ type(type##_raw raw) : v(__builtin_bit_cast(stored, raw.x)) {}             \
    __host__ __device__ operator type##_raw() const { return {__builtin_bit_cast(unsigned short, v)}; } \
    __host__ __device__ operator float() const { return static_cast<float>(v); }                   \
    NCC_NARROW_OPERATOR(type, +)                                                                   \
    NCC_NARROW_OPERATOR(type, -)                                                                   \
    NCC_NARROW_OPERATOR(type, *)                                                                   \
    NCC_NARROW_OPERATOR(type, /)                                                                   \
    NCC_FRIEND type operator-(type x) { type r; r.v = -x.v; return r; }                            \
    NCC_NARROW_COMPARISON(type, <)                                                                 \
    NCC_NARROW_COMPARISON(type, >)                                                                 \
    NCC_NARROW_COMPARISON(type, <=)                                                                \
    NCC_NARROW_COMPARISON(type, >=)                                                                \
    NCC_NARROW_COMPARISON(type, ==)                                                                \
    NCC_NARROW_COMPARISON(type, !=)                                                                \
  };                                                                                               \
  struct alignas(4) pair {                                                                         \
    type x, y;                                                                                     \
    pair() = default;                                                                              \
    __host__ __device__ pair(type x, type y) : x(x), y(y) {}                                       \
    __host__ __device__ pair(pair##_raw raw) : x(type##_raw{raw.x}), y(type##_raw{raw.y}) {}       \
    __host__ __device__ operator pair##_raw() const { return {type##_raw(x).x, type##_raw(y).x}; } \
  };                                                                                               \
  NCC_BOTH pair make_##pair(type x, type y) { return pair(x, y); }                                 \
  NCC_PAIR_OPERATOR(pair, +)                                                                       \
  NCC_PAIR_OPERATOR(pair, -)                                                                       \
  NCC_PAIR_OPERATOR(pair, *)                                                                       \
  NCC_PAIR_OPERATOR(pair, /)                                                                       \
  NCC_NARROW_2(type, pair, __hadd, x + y)                                                          \
  NCC_NARROW_2(type, pair, __hsub, x - y)                                                          \
  NCC_NARROW_2(type, pair, __hmul, x * y)                                                          \
  NCC_NARROW_2(type, pair, __hdiv, x / y)                                                          \
  NCC_NARROW_2(type, pair, __hmax, x < y ? y : x)                                                  \
  NCC_NARROW_2(type, pair, __hmin, y < x ? y : x)                                                  \
  NCC_BOTH pair __h2div(pair x, pair y) { return pair(x.x / y.x, x.y / y.y); }                     \
  NCC_BOTH type __hfma(type x, type y, type z) { return x * y + z; }                               \
  NCC_BOTH pair __hfma2(pair x, pair y, pair z) { return x * y + z; }                              \
  NCC_BOTH type __hneg(type x) { return -x; }                                                      \
  NCC_BOTH pair __hneg2(pair x) { return pair(-x.x, -x.y); }                                       \
  NCC_BOTH type __habs(type x) { return x < type(0) ? -x : x; }                                    \
  NCC_BOTH pair __habs2(pair x) { return pair(__habs(x.x), __habs(x.y)); }                         \
  NCC_BOTH bool __heq(type x, type y) { return x == y; }                                           \
  NCC_BOTH bool __hne(type x, type y) { return x != y; }                                           \
  NCC_BOTH bool __hgt(type x, type y) { return x > y; }                                            \
  NCC_BOTH bool __hge(type x, type y) { return x >= y; }                                           \
  NCC_BOTH bool __hlt(type x, type y) { return x < y; }                                            \
  NCC_BOTH bool __hle(type x, type y) { return x <= y; }                                           \
  NCC_BOTH bool __hisnan(type x) { return x != x; }                                                \
  NCC_NARROW_PAIRS(type, pair, eq, ==)                                                             \
  NCC_NARROW_PAIRS(type, pair, ne, !=)                                                             \
  NCC_NARROW_PAIRS(type, pair, gt, >)                                                              \
  NCC_NARROW_PAIRS(type, pair, ge, >=)                                                             \
  NCC_NARROW_PAIRS(type, pair, lt, <)                                                              \
  NCC_NARROW_PAIRS(type, pair, le, <=)                                                             \
  NCC_NARROW_1(type, pair, hexp, expf)                                                             \
  NCC_NARROW_1(type, pair, hlog, logf)                                                             \
  NCC_NARROW_1(type, pair, hsqrt, sqrtf)                                                           \
  NCC_NARROW_1(type, pair, hrsqrt, rsqrtf)                                                         \
  NCC_NARROW_1(type, pair, hsin, sinf)                                                             \
  NCC_NARROW_1(type, pair, hcos, cosf)                                                             \
  NCC_NARROW_1(type, pair, htanh, tanhf)                                                           \
  NCC_NARROW_1(type, pair, hrcp, __frcp_rn)                                                        \
  NCC_NARROW_1(type, pair, hceil, ceilf)                                                           \
  NCC_NARROW_1(type, pair, hfloor, floorf)                                                         \
  NCC_DEVICE type __ldg(const type *p) { return *p; }                                              \
  NCC_DEVICE type atomicAdd(type *p, type v) {                                                     \
    type old = *p;                                                                                 \
    type sum = old + v;                                                                            \
    __atomic_exchange_n((unsigned short *)p, __builtin_bit_cast(unsigned short, sum.v), __ATOMIC_SEQ_CST); \
    return old;                                                                                    \
  }                                                                                                \
  NCC_DEVICE pair atomicAdd(pair *p, pair v) { return pair(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)); } \
  NCC_NARROW_SHUFFLE(type, pair, __shfl_sync, int)                                                 \
  NCC_NARROW_SHUFFLE(type, pair, __shfl_up_sync, unsigned int)                                     \
  NCC_NARROW_SHUFFLE(type, pair, __shfl_down_sync, unsigned int)                                   \
  NCC_NARROW_SHUFFLE(type, pair, __shfl_xor_sync, int)
/* Friends, so that what becomes one of these by a conversion of its own is none of their operands. */
#define NCC_FRIEND friend __inline__ __attribute__((host, device, always_inline))
#define NCC_NARROW_OPERATOR(type, sign)                                                            \
  NCC_FRIEND type operator sign(type x, type y) { type r; r.v = x.v sign y.v; return r; }          \
  NCC_FRIEND type &operator sign##=(type &x, type y) { return x = x sign y; }
#define NCC_PAIR_OPERATOR(pair, sign)                                                              \
  NCC_BOTH pair operator sign(pair x, pair y) { return pair(x.x sign y.x, x.y sign y.y); }         \
  NCC_BOTH pair &operator sign##=(pair &x, pair y) { return x = x sign y; }
#define NCC_NARROW_COMPARISON(type, sign) NCC_FRIEND bool operator sign(type x, type y) { return x.v sign y.v; }
#define NCC_NARROW_PAIRS(type, pair, name, sign)                                                   \
  NCC_BOTH pair __h##name##2(pair x, pair y) {                                                     \
    return pair(x.x sign y.x ? 1.0f : 0.0f, x.y sign y.y ? 1.0f : 0.0f);                           \
  }                                                                                                \
  NCC_BOTH bool __hb##name##2(pair x, pair y) { return x.x sign y.x && x.y sign y.y; }             \
  NCC_BOTH unsigned int __h##name##2_mask(pair x, pair y) {                                        \
    return (x.x sign y.x ? 0xffffu : 0u) | (x.y sign y.y ? 0xffff0000u : 0u);                      \
  }
#define NCC_NARROW_2(type, pair, name, result)                                                     \
  NCC_BOTH type name(type x, type y) { return result; }                                            \
  NCC_BOTH pair name##2(pair x, pair y) { return pair(name(x.x, y.x), name(x.y, y.y)); }
#define NCC_NARROW_1(type, pair, name, wide)                                                       \
  NCC_DEVICE type name(type x) { return type(wide(static_cast<float>(x))); }                       \
  NCC_DEVICE pair ncc_##name(pair x) { return pair(name(x.x), name(x.y)); }
#define NCC_NARROW_SHUFFLE(type, pair, name, argument)                                             \
  NCC_DEVICE type name(unsigned int mask, type v, argument lane, int width = warpSize) {           \
    return type(name(mask, static_cast<float>(v), lane, width));                                   \
  }                                                                                                \
  NCC_DEVICE pair name(unsigned int mask, pair v, argument lane, int width = warpSize) {           \
    return pair(name(mask, v.x, lane, width), name(mask, v.y, lane, width));                       \
  }
NCC_NARROW(__half, __half2, _Float16)
NCC_NARROW(__nv_bfloat16, __nv_bfloat162, __bf16)
#define h2exp ncc_hexp
#define h2log ncc_hlog
#define h2sqrt ncc_hsqrt
#define h2rsqrt ncc_hrsqrt
#define h2sin ncc_hsin
#define h2cos ncc_hcos
#define h2rcp ncc_hrcp

typedef __half half, nv_half, __nv_half;
typedef __half2 half2, nv_half2, __nv_half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
NCC_BOTH half2 make_half2(half x, half y) { return half2(x, y); }
NCC_BOTH nv_bfloat162 make_bfloat162(nv_bfloat16 x, nv_bfloat16 y) { return nv_bfloat162(x, y); }

#define NCC_ROUNDED(name, from, to)                                                                \
  NCC_BOTH to name(from x) { return static_cast<to>(x); }                                          \
  NCC_BOTH to name##_rn(from x) { return static_cast<to>(x); }                                     \
  NCC_BOTH to name##_rz(from x) { return static_cast<to>(x); }                                     \
  NCC_BOTH to name##_rd(from x) { return static_cast<to>(x); }                                     \
  NCC_BOTH to name##_ru(from x) { return static_cast<to>(x); }
NCC_ROUNDED(__float2half, float, __half)
NCC_ROUNDED(__double2half, double, __half)
NCC_ROUNDED(__int2half, int, __half)
NCC_ROUNDED(__uint2half, unsigned int, __half)
NCC_ROUNDED(__half2int, __half, int)
NCC_ROUNDED(__half2uint, __half, unsigned int)
NCC_ROUNDED(__half2short, __half, short)
NCC_ROUNDED(__short2half, short, __half)
NCC_ROUNDED(__float2bfloat16, float, __nv_bfloat16)
NCC_ROUNDED(__double2bfloat16, double, __nv_bfloat16)
#undef NCC_ROUNDED
NCC_BOTH float __half2float(__half x) { return x; }
NCC_BOTH float __bfloat162float(__nv_bfloat16 x) { return x; }
NCC_BOTH __half2 __float2half2_rn(float x) { return __half2(x, x); }
NCC_BOTH __half2 __floats2half2_rn(float x, float y) { return __half2(x, y); }
NCC_BOTH __half2 __float22half2_rn(float2 x) { return __half2(x.x, x.y); }
NCC_BOTH float2 __half22float2(__half2 x) { return float2{x.x, x.y}; }
NCC_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
NCC_BOTH __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
NCC_BOTH __half __low2half(__half2 x) { return x.x; }
NCC_BOTH __half __high2half(__half2 x) { return x.y; }
NCC_BOTH float __low2float(__half2 x) { return x.x; }
NCC_BOTH float __high2float(__half2 x) { return x.y; }
NCC_BOTH __half2 __lowhigh2highlow(__half2 x) { return __half2(x.y, x.x); }
NCC_BOTH unsigned short __half_as_ushort(__half x) { return __builtin_bit_cast(unsigned short, x.v); }
NCC_BOTH short __half_as_short(__half x) { return __builtin_bit_cast(short, x.v); }
NCC_BOTH __half __short_as_half(short x) { __half r; r.v = __builtin_bit_cast(_Float16, x); return r; }
NCC_BOTH __half __ushort_as_half(unsigned short x) { __half r; r.v = __builtin_bit_cast(_Float16, x); return r; }
NCC_BOTH __half2 __hadd2_rn(__half2 x, __half2 y) { return x + y; }
NCC_BOTH __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(x, x); }
NCC_BOTH __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(x, y); }
NCC_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 x) { return __nv_bfloat162(x.x, x.y); }
NCC_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
NCC_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
NCC_BOTH float2 __bfloat1622float2(__nv_bfloat162 x) { return float2{x.x, x.y}; }
NCC_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
NCC_BOTH __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 x) { return __nv_bfloat162(x.y, x.x); }
NCC_BOTH float __low2float(__nv_bfloat162 x) { return x.x; }
NCC_BOTH float __high2float(__nv_bfloat162 x) { return x.y; }
NCC_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return __builtin_bit_cast(unsigned short, x.v); }
NCC_BOTH short __bfloat16_as_short(__nv_bfloat16 x) { return __builtin_bit_cast(short, x.v); }
NCC_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16_raw{x}; }
NCC_BOTH __nv_bfloat16 __short_as_bfloat16(short x) { return __nv_bfloat16_raw{static_cast<unsigned short>(x)}; }
NCC_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }

#undef NCC_NARROW
#undef NCC_FRIEND
#undef NCC_NARROW_OPERATOR
#undef NCC_PAIR_OPERATOR
#undef NCC_NARROW_COMPARISON
#undef NCC_NARROW_2
#undef NCC_NARROW_PAIRS
#undef NCC_NARROW_1
#undef NCC_NARROW_SHUFFLE
#endif
