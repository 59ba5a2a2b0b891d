// A step of n bodies: each work-item adds up the pull of all bodies on its own, a tile at a time in local memory.
#define TILE 64
__kernel void nbody(__global const float4 *body, __global float4 *next, __global float4 *velocity, const int n,
                    const float step) {
  __local float4 tile[TILE];
  int i = get_global_id(0), own = get_local_id(0);
  float4 me = body[i], pull = (float4)(0.0f);
  for (int t = 0; t < n; t += TILE) {
    tile[own] = body[t + own];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < TILE; j++) {
      float4 r = tile[j] - me;
      float inverse = rsqrt(r.x * r.x + r.y * r.y + r.z * r.z + 0.01f);
      pull += r * (tile[j].w * inverse * inverse * inverse);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  velocity[i] += pull * step;
  next[i] = me + velocity[i] * step;
}
// ncc: nbody: local 64
