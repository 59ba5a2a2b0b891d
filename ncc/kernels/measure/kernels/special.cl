// Functions that cost many instructions, or a unit of their own.
#define I get_global_id(0)
#define APPLY(name, type, expression)                                          \
  __kernel void name(__global const type *in, __global type *out) {            \
    type x = in[I] + (type)0.25;                                               \
    out[I] = expression;                                                       \
  }
APPLY(trigonometry, float, sin(x) * cos(2.0f * x) + tan(0.5f * x))
APPLY(exponentials, float, exp(x) + log(x) + exp2(-x))
APPLY(powers, float, pow(x, 1.7f) + cbrt(x))
APPLY(roots_double, double, sqrt(x) + 1.0 / sqrt(x + 1.0) + x / (x + 3.0))
APPLY(fast, float, native_sin(x) + native_exp(x) * native_rsqrt(x))
APPLY(errors, float, erf(x) + erfc(0.5f * x))
APPLY(inverses, float, atan2(x, 2.0f) + asin(0.5f * x) + sinh(x))
APPLY(trigonometry_double, double, sin(x) + cos(x) * exp(-x))
