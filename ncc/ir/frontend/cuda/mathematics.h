/* Mathematical functions of device code (CUDA C++ Programming Guide, "Mathematical Functions").
 * Those of <math.h> stay calls by their C names, as they are in the IR of a CPU program. */
#ifndef NCC_CUDA_MATHEMATICS_H
#define NCC_CUDA_MATHEMATICS_H

/* NAME(double), NAMEf(float) and the C++ overload NAME(float), for device code only. */
#define NCC_UNARY(name)                                \
  extern "C" __device__ double name(double);           \
  extern "C" __device__ float name##f(float);          \
  NCC_DEVICE float name(float x) { return name##f(x); }
#define NCC_BINARY(name)                                           \
  extern "C" __device__ double name(double, double);               \
  extern "C" __device__ float name##f(float, float);               \
  NCC_DEVICE float name(float x, float y) { return name##f(x, y); }

/* What a GPU has an instruction for becomes one of LLVM's intrinsics, again as on a CPU. */
#define NCC_INSTRUCTION(name)                                        \
  NCC_DEVICE double name(double x) { return __builtin_##name(x); }   \
  NCC_DEVICE float name##f(float x) { return __builtin_##name##f(x); } \
  NCC_DEVICE float name(float x) { return __builtin_##name##f(x); }
#define NCC_INSTRUCTION_2(name)                                                          \
  NCC_DEVICE double name(double x, double y) { return __builtin_##name(x, y); }          \
  NCC_DEVICE float name##f(float x, float y) { return __builtin_##name##f(x, y); }       \
  NCC_DEVICE float name(float x, float y) { return __builtin_##name##f(x, y); }

NCC_INSTRUCTION(ceil)
NCC_INSTRUCTION(fabs)
NCC_INSTRUCTION(floor)
NCC_INSTRUCTION(nearbyint)
NCC_INSTRUCTION(rint)
NCC_INSTRUCTION(round)
NCC_INSTRUCTION(sqrt)
NCC_INSTRUCTION(trunc)
NCC_INSTRUCTION_2(copysign)
NCC_INSTRUCTION_2(fmax)
NCC_INSTRUCTION_2(fmin)

#undef NCC_INSTRUCTION
#undef NCC_INSTRUCTION_2

NCC_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
NCC_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
NCC_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

NCC_UNARY(acos)
NCC_UNARY(acosh)
NCC_UNARY(asin)
NCC_UNARY(asinh)
NCC_UNARY(atan)
NCC_UNARY(atanh)
NCC_UNARY(cbrt)
NCC_UNARY(cos)
NCC_UNARY(cosh)
NCC_UNARY(erf)
NCC_UNARY(erfc)
NCC_UNARY(exp)
NCC_UNARY(exp2)
NCC_UNARY(expm1)
NCC_UNARY(lgamma)
NCC_UNARY(log)
NCC_UNARY(log10)
NCC_UNARY(log1p)
NCC_UNARY(log2)
NCC_UNARY(logb)
NCC_UNARY(sin)
NCC_UNARY(sinh)
NCC_UNARY(tan)
NCC_UNARY(tanh)
NCC_UNARY(tgamma)
NCC_BINARY(atan2)
NCC_BINARY(fdim)
NCC_BINARY(fmod)
NCC_BINARY(hypot)
NCC_BINARY(nextafter)
NCC_BINARY(pow)
NCC_BINARY(remainder)
/* CUDA's own, which <math.h> does not have. */
NCC_UNARY(cospi)
NCC_UNARY(erfcinv)
NCC_UNARY(erfcx)
NCC_UNARY(erfinv)
NCC_UNARY(exp10)
NCC_UNARY(j0)
NCC_UNARY(j1)
NCC_UNARY(normcdf)
NCC_UNARY(normcdfinv)
NCC_UNARY(rcbrt)
NCC_UNARY(rsqrt)
NCC_UNARY(sinpi)
NCC_UNARY(y0)
NCC_UNARY(y1)
NCC_BINARY(fdivide)
NCC_BINARY(rhypot)

#undef NCC_UNARY
#undef NCC_BINARY

extern "C" __device__ double ldexp(double, int);
extern "C" __device__ float ldexpf(float, int);
extern "C" __device__ double frexp(double, int *);
extern "C" __device__ float frexpf(float, int *);
extern "C" __device__ double modf(double, double *);
extern "C" __device__ float modff(float, float *);
extern "C" __device__ long lround(double);
extern "C" __device__ long lroundf(float);
extern "C" __device__ long lrint(double);
extern "C" __device__ long lrintf(float);
extern "C" __device__ long long llround(double);
extern "C" __device__ long long llrint(double);
extern "C" __device__ long long llroundf(float);
extern "C" __device__ long long llrintf(float);
extern "C" __device__ int ilogb(double);
extern "C" __device__ int ilogbf(float);
extern "C" __device__ double scalbn(double, int);
extern "C" __device__ float scalbnf(float, int);
extern "C" __device__ double jn(int, double);
extern "C" __device__ double norm3d(double, double, double);
extern "C" __device__ float norm3df(float, float, float);
extern "C" __device__ float rnorm3df(float, float, float);
extern "C" __device__ double nan(const char *);
extern "C" __device__ float nanf(const char *);
extern "C" __device__ void sincos(double, double *, double *);
extern "C" __device__ void sincosf(float, float *, float *);
__device__ void sincos(float, float *, float *) __asm__("sincosf");
extern "C" __device__ void sincospi(double, double *, double *);
extern "C" __device__ void sincospif(float, float *, float *);
extern "C" __device__ int abs(int);
extern "C" __device__ long labs(long);
extern "C" __device__ long long llabs(long long);

NCC_DEVICE float ldexp(float x, int exponent) { return ldexpf(x, exponent); }
NCC_DEVICE float frexp(float x, int *exponent) { return frexpf(x, exponent); }
NCC_DEVICE float modf(float x, float *whole) { return modff(x, whole); }
NCC_DEVICE bool isnan(float x) { return __builtin_isnan(x); }
NCC_DEVICE bool isnan(double x) { return __builtin_isnan(x); }
NCC_DEVICE bool isinf(float x) { return __builtin_isinf(x); }
NCC_DEVICE bool isinf(double x) { return __builtin_isinf(x); }
NCC_DEVICE bool isfinite(float x) { return __builtin_isfinite(x); }
NCC_DEVICE bool isfinite(double x) { return __builtin_isfinite(x); }
NCC_DEVICE bool signbit(float x) { return __builtin_signbit(x); }
NCC_DEVICE bool signbit(double x) { return __builtin_signbit(x); }
NCC_DEVICE long abs(long x) { return labs(x); }
NCC_DEVICE long long abs(long long x) { return llabs(x); }
NCC_DEVICE float abs(float x) { return fabsf(x); }
NCC_DEVICE double abs(double x) { return fabs(x); }
NCC_DEVICE float pow(float x, int y) { return powf(x, static_cast<float>(y)); }
NCC_DEVICE double pow(double x, int y) { return pow(x, static_cast<double>(y)); }

/* min and max are CUDA's in host code as well; mixed arguments convert as in `a < b`. */
#define NCC_MIN_MAX(type)                                                                    \
  NCC_BOTH type min(type a, type b) { return b < a ? b : a; }                                \
  NCC_BOTH type max(type a, type b) { return a < b ? b : a; }
NCC_MIN_MAX(int)
NCC_MIN_MAX(unsigned int)
NCC_MIN_MAX(long)
NCC_MIN_MAX(unsigned long)
NCC_MIN_MAX(long long)
NCC_MIN_MAX(unsigned long long)
#undef NCC_MIN_MAX
#define NCC_MIXED(wide, narrow)                                                              \
  NCC_BOTH wide min(wide a, narrow b) { return min(a, static_cast<wide>(b)); }               \
  NCC_BOTH wide min(narrow a, wide b) { return min(static_cast<wide>(a), b); }               \
  NCC_BOTH wide max(wide a, narrow b) { return max(a, static_cast<wide>(b)); }               \
  NCC_BOTH wide max(narrow a, wide b) { return max(static_cast<wide>(a), b); }
NCC_MIXED(unsigned int, int)
NCC_MIXED(unsigned long, long)
NCC_MIXED(unsigned long long, long long)
NCC_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
NCC_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
NCC_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
NCC_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
NCC_MIXED(double, float)
#undef NCC_MIXED
NCC_BOTH int umin(unsigned int a, unsigned int b) { return min(a, b); }
NCC_BOTH int umax(unsigned int a, unsigned int b) { return max(a, b); }

/* Intrinsics: faster or with a chosen rounding; without NVIDIA's library they stay calls. */
#define NCC_INTRINSIC(name) extern "C" __device__ float name(float);
NCC_INTRINSIC(__cosf)
NCC_INTRINSIC(__expf)
NCC_INTRINSIC(__exp10f)
NCC_INTRINSIC(__log10f)
NCC_INTRINSIC(__log2f)
NCC_INTRINSIC(__logf)
NCC_INTRINSIC(__sinf)
NCC_INTRINSIC(__tanf)
#undef NCC_INTRINSIC
extern "C" __device__ float __fdividef(float, float);
extern "C" __device__ float __powf(float, float);
extern "C" __device__ void __sincosf(float, float *, float *);

/* One result, whatever the rounding that a name ends in: counts are the same. */
#define NCC_ROUNDINGS(NCC_FORM) NCC_FORM(rn) NCC_FORM(rz) NCC_FORM(ru) NCC_FORM(rd)
#define NCC_DIRECTED(NCC_FORM) NCC_FORM(rz) NCC_FORM(ru) NCC_FORM(rd)
#define NCC_FLOAT_ARITHMETIC(mode)                                                           \
  NCC_DEVICE float __fadd_##mode(float x, float y) { return x + y; }                         \
  NCC_DEVICE float __fsub_##mode(float x, float y) { return x - y; }                         \
  NCC_DEVICE float __fmul_##mode(float x, float y) { return x * y; }                         \
  NCC_DEVICE float __fdiv_##mode(float x, float y) { return x / y; }                         \
  NCC_DEVICE float __fmaf_##mode(float x, float y, float z) { return fmaf(x, y, z); }        \
  NCC_DEVICE float __frcp_##mode(float x) { return 1.0f / x; }                               \
  NCC_DEVICE float __fsqrt_##mode(float x) { return sqrtf(x); }                              \
  NCC_DEVICE double __dadd_##mode(double x, double y) { return x + y; }                      \
  NCC_DEVICE double __dsub_##mode(double x, double y) { return x - y; }                      \
  NCC_DEVICE double __dmul_##mode(double x, double y) { return x * y; }                      \
  NCC_DEVICE double __ddiv_##mode(double x, double y) { return x / y; }                      \
  NCC_DEVICE double __fma_##mode(double x, double y, double z) { return fma(x, y, z); }      \
  NCC_DEVICE double __drcp_##mode(double x) { return 1.0 / x; }                              \
  NCC_DEVICE double __dsqrt_##mode(double x) { return sqrt(x); }                             \
  NCC_DEVICE float __int2float_##mode(int x) { return x; }                                   \
  NCC_DEVICE float __uint2float_##mode(unsigned int x) { return x; }                         \
  NCC_DEVICE float __ll2float_##mode(long long x) { return x; }                              \
  NCC_DEVICE float __ull2float_##mode(unsigned long long x) { return x; }                    \
  NCC_DEVICE double __ll2double_##mode(long long x) { return x; }                            \
  NCC_DEVICE double __ull2double_##mode(unsigned long long x) { return x; }                  \
  NCC_DEVICE float __double2float_##mode(double x) { return x; }
NCC_ROUNDINGS(NCC_FLOAT_ARITHMETIC)
#define NCC_TO_INTEGER(mode, single, twice)                                                  \
  NCC_DEVICE int __float2int_##mode(float x) { return single(x); }                           \
  NCC_DEVICE unsigned int __float2uint_##mode(float x) { return single(x); }                 \
  NCC_DEVICE long long __float2ll_##mode(float x) { return single(x); }                      \
  NCC_DEVICE unsigned long long __float2ull_##mode(float x) { return single(x); }            \
  NCC_DEVICE int __double2int_##mode(double x) { return twice(x); }                          \
  NCC_DEVICE unsigned int __double2uint_##mode(double x) { return twice(x); }                \
  NCC_DEVICE long long __double2ll_##mode(double x) { return twice(x); }                     \
  NCC_DEVICE unsigned long long __double2ull_##mode(double x) { return twice(x); }
NCC_TO_INTEGER(rn, rintf, rint)
NCC_TO_INTEGER(rz, , )
NCC_TO_INTEGER(rd, floorf, floor)
NCC_TO_INTEGER(ru, ceilf, ceil)
#undef NCC_FLOAT_ARITHMETIC
#undef NCC_TO_INTEGER
#undef NCC_ROUNDINGS
#undef NCC_DIRECTED
NCC_DEVICE float __frsqrt_rn(float x) { return rsqrtf(x); }
NCC_DEVICE float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
NCC_DEVICE double __int2double_rn(int x) { return x; }
NCC_DEVICE double __uint2double_rn(unsigned int x) { return x; }
NCC_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
NCC_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
NCC_DEVICE float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
NCC_DEVICE unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
NCC_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
NCC_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
NCC_DEVICE int __mul24(int x, int y) { return x * y; }
NCC_DEVICE unsigned int __umul24(unsigned int x, unsigned int y) { return x * y; }
NCC_DEVICE int __mulhi(int x, int y) { return static_cast<int>((static_cast<long long>(x) * y) >> 32); }
NCC_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) * y) >> 32);
}
NCC_DEVICE int __popc(unsigned int x) { return __builtin_popcount(x); }
NCC_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
NCC_DEVICE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(x)); }
NCC_DEVICE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
NCC_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
NCC_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
NCC_DEVICE int __double2hiint(double x) { return static_cast<int>(__builtin_bit_cast(long long, x) >> 32); }
NCC_DEVICE int __double2loint(double x) { return static_cast<int>(__builtin_bit_cast(long long, x)); }
NCC_DEVICE double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, (static_cast<long long>(high) << 32) | static_cast<unsigned int>(low));
}
NCC_DEVICE long long __mul64hi(long long x, long long y) {
  return static_cast<long long>((static_cast<__int128>(x) * y) >> 64);
}
NCC_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
NCC_DEVICE unsigned int __sad(int x, int y, unsigned int z) { return z + (x < y ? y - x : x - y); }
NCC_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return z + (x < y ? y - x : x - y); }
NCC_DEVICE int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
NCC_DEVICE int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
NCC_DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>((((static_cast<unsigned long long>(high) << 32) | low) << (shift & 31)) >> 32);
}
NCC_DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>(((static_cast<unsigned long long>(high) << 32) | low) >> (shift & 31));
}
NCC_DEVICE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}
NCC_DEVICE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}
NCC_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) { return __nvvm_prmt(x, y, s); }
NCC_DEVICE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  return c;
}
NCC_DEVICE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  for (int i = 0; i < 32; i += 8) c += static_cast<unsigned char>(a >> i) * static_cast<unsigned char>(b >> i);
  return c;
}
NCC_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
NCC_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

#endif
