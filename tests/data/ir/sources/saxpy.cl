/* A kernel with local memory and a barrier, and one that calls a helper. */
float blend(float4 v, float t) { return mix(v.x, v.w, t) + dot(v, v); }

__kernel void saxpy(__global float *restrict y, __global const float *restrict x, const float a, const uint n) {
  uint i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}

__kernel void reduce(__global const float4 *in, __global float *out, __local float *part, __constant float *scale) {
  size_t l = get_local_id(0);
  part[l] = blend(in[get_global_id(0)], scale[0]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (l < s) part[l] += part[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = native_sqrt(part[0]);
}
