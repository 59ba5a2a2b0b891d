// Long chains of multiplications and additions on one number.
#define I get_global_id(0)
#define CHAIN(name, type, steps, step)                                \
  __kernel void name(__global const type *in, __global type *out) {   \
    type x = in[I], y = x;                                            \
    for (int k = 0; k < steps; k++) y = step;                         \
    out[I] = y;                                                       \
  }
CHAIN(horner_16, float, 16, y * x + 0.5f)
CHAIN(horner_256, float, 256, y * x + 0.5f)
CHAIN(horner_vector, float4, 64, y * x + 0.5f)
CHAIN(horner_double, double, 64, y * x + 0.5)
CHAIN(division_chain, float, 32, x / (y + 1.0f))
CHAIN(whole_chain, int, 128, (y * x + 7) ^ k)
CHAIN(modulo_chain, uint, 32, (y * 17u + x) % 1009u)
CHAIN(long_chain, long, 64, y * x + (y >> 7))
