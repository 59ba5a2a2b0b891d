// Steps of training and clustering.
#define I get_global_id(0)
__kernel void sigmoid(__global const float *in, __global float *out) { out[I] = 1.0f / (1.0f + exp(-in[I])); }
__kernel void adam(__global float *weight, __global float *mean, __global float *square, __global const float *slope) {
  float g = slope[I], m = 0.9f * mean[I] + 0.1f * g, v = 0.999f * square[I] + 0.001f * g * g;
  mean[I] = m;
  square[I] = v;
  weight[I] -= 0.001f * m / (sqrt(v) + 1e-8f);
}
__kernel void nearest_centre(__global const float *in, __global const float *centre, __global int *out, const int n) {
  int best = 0;
  float least = INFINITY;
  for (int c = 0; c < 8; c++) {
    float sum = 0.0f;
    for (int k = 0; k < 16; k++) {
      float away = in[k * n + I] - centre[c * 16 + k];
      sum += away * away;
    }
    if (sum < least) least = sum, best = c;
  }
  out[I] = best;
}
__kernel void pool(__global const float *in, __global float *out) {
  float most = in[I * 4];
  for (int k = 1; k < 4; k++) most = fmax(most, in[I * 4 + k]);
  out[I] = most;
}
__kernel void gated(__global const float4 *gate, __global float *state, __global float *out) {
  float4 g = gate[I];
  float next = state[I] / (1.0f + exp(-g.x)) + tanh(g.y) / (1.0f + exp(-g.z));
  state[I] = next;
  out[I] = tanh(next) / (1.0f + exp(-g.w));
}
// ncc: nearest_centre.in: size 16 * N
// ncc: centre: size 128
// ncc: pool.in: size 4 * N
