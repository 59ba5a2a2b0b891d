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
extern "C" __device__ void sincos(double, double *, double *);
extern "C" __device__ void sincosf(float, float *, float *);
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
NCC_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
NCC_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
NCC_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
NCC_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }

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
NCC_INTRINSIC(__saturatef)
NCC_INTRINSIC(__frcp_rn)
NCC_INTRINSIC(__fsqrt_rn)
NCC_INTRINSIC(__frsqrt_rn)
#undef NCC_INTRINSIC
extern "C" __device__ float __fdividef(float, float);
extern "C" __device__ float __powf(float, float);
extern "C" __device__ void __sincosf(float, float *, float *);

NCC_DEVICE float __fadd_rn(float x, float y) { return x + y; }
NCC_DEVICE float __fsub_rn(float x, float y) { return x - y; }
NCC_DEVICE float __fmul_rn(float x, float y) { return x * y; }
NCC_DEVICE float __fdiv_rn(float x, float y) { return x / y; }
NCC_DEVICE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
NCC_DEVICE double __dadd_rn(double x, double y) { return x + y; }
NCC_DEVICE double __dmul_rn(double x, double y) { return x * y; }
NCC_DEVICE double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
NCC_DEVICE int __float2int_rn(float x) { return static_cast<int>(rintf(x)); }
NCC_DEVICE int __float2int_rz(float x) { return static_cast<int>(x); }
NCC_DEVICE int __float2int_rd(float x) { return static_cast<int>(floorf(x)); }
NCC_DEVICE int __float2int_ru(float x) { return static_cast<int>(ceilf(x)); }
NCC_DEVICE unsigned int __float2uint_rn(float x) { return static_cast<unsigned int>(rintf(x)); }
NCC_DEVICE float __int2float_rn(int x) { return static_cast<float>(x); }
NCC_DEVICE float __uint2float_rn(unsigned int x) { return static_cast<float>(x); }
NCC_DEVICE float __double2float_rn(double x) { return static_cast<float>(x); }
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
NCC_DEVICE unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
NCC_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

#endif
