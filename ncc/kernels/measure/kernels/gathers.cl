// Reading and writing at indices that are data.
#define I get_global_id(0)
__kernel void gather(__global const float *in, __global const int *index, __global float *out) { out[I] = in[index[I]]; }
__kernel void gather4(__global const float *in, __global const int4 *index, __global float *out) {
  int4 at = index[I];
  out[I] = in[at.x] + in[at.y] + in[at.z] + in[at.w];
}
__kernel void scatter(__global const float *in, __global float *out, const int n) {
  out[(int)(((ulong)I * 40503u) % (uint)n)] = in[I];
}
__kernel void chase(__global const int *next, __global int *out) {
  int at = I;
  for (int k = 0; k < 32; k++) at = next[at];
  out[I] = at;
}
__kernel void look_up(__global const uchar *in, __constant float *table, __global float *out) { out[I] = table[in[I]]; }
// ncc: table: size 256
