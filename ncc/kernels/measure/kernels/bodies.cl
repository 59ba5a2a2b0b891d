// Particles that act on each other.
#define I get_global_id(0)
#define PULL(other)                                              \
  {                                                              \
    float4 away = (other) - me;                                  \
    float inverse = rsqrt(away.x * away.x + away.y * away.y + away.z * away.z + 0.01f); \
    pull += away * ((other).w * inverse * inverse * inverse);    \
  }
__kernel void all_pairs(__global const float4 *body, __global float4 *out, const int n) {
  float4 me = body[I], pull = (float4)(0.0f);
  for (int k = 0; k < n; k++) PULL(body[k])
  out[I] = pull;
}
__kernel void near_pairs(__global const float4 *body, __global const int *near, __global float4 *out) {
  float4 me = body[I], pull = (float4)(0.0f);
  for (int k = 0; k < 16; k++) PULL(body[near[I * 16 + k]])
  out[I] = pull;
}
__kernel void sampled_pairs(__global const float4 *body, __global float4 *out) {
  float4 me = body[I], pull = (float4)(0.0f);
  for (int k = 0; k < 256; k++) PULL(body[k])
  out[I] = pull;
}
__kernel void lennard_jones(__global const float4 *body, __global float *out) {
  float energy = 0.0f;
  for (int k = 0; k < 64; k++) {
    float4 away = body[I] - body[k];
    float squared = dot(away, away) + 0.1f, sixth = 1.0f / (squared * squared * squared);
    energy += sixth * sixth - sixth;
  }
  out[I] = energy;
}
__kernel void move(__global float4 *body, __global float4 *velocity, __global const float4 *pull, const float step) {
  velocity[I] += pull[I] * step;
  body[I] += velocity[I] * step;
}
// ncc: all_pairs: items W / 4
// ncc: sampled_pairs.body: size N + 256
// ncc: lennard_jones.body: size N + 64
// ncc: near: size 16 * N
