// Signals with filters of some length, in rows.
#define I get_global_id(0)
#define CONVOLVE(name, type, taps)                                                                     \
  __kernel void name(__global const type *in, __constant type *filter, __global type *out) {           \
    type sum = 0;                                                                                      \
    for (int k = 0; k < taps; k++) sum += in[I + k] * filter[k];                                       \
    out[I] = sum;                                                                                      \
  }
CONVOLVE(convolve_7, float, 7)
CONVOLVE(convolve_63, float, 63)
CONVOLVE(convolve_double, double, 31)
CONVOLVE(convolve_whole, int, 31)
__kernel void convolve_tiled(__global const float *in, __constant float *filter, __global float *out, __local float *part) {
  int own = get_local_id(0), group = get_local_size(0);
  part[own] = in[I];
  if (own < 32) part[group + own] = in[I + group];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int k = 0; k < 32; k++) sum += part[own + k] * filter[k];
  out[I] = sum;
}
// ncc: in: size N + 512
// ncc: filter: size 64, values 1 + i % 7
// ncc: part: size L + 32
