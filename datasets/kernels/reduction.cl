// A sum for each work-group, by a tree in local memory.
__kernel void reduction(__global const float *in, __global float *out, __local float *part) {
  int own = get_local_id(0);
  part[own] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
    if (own < half_size) part[own] += part[own + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (own == 0) out[get_group_id(0)] = part[0];
}
// ncc: out: size N / L
