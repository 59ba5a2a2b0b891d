// Random numbers, and what is drawn with them.
#define I get_global_id(0)
static uint draw(uint *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}
static float uniform(uint *state) { return (draw(state) >> 8) * 5.9604645e-8f; }
__kernel void estimate_pi(__global const uint *seed, __global float *out) {
  uint state = seed[I] * 747796405u + 1u;
  int inside = 0;
  for (int k = 0; k < 100; k++) {
    float x = uniform(&state), y = uniform(&state);
    inside += x * x + y * y < 1.0f;
  }
  out[I] = inside / 25.0f;
}
__kernel void walk(__global const uint *seed, __global int *out) {
  uint state = seed[I] * 747796405u + 1u;
  int at = 0;
  for (int k = 0; k < 200 && abs(at) < 20; k++) at += draw(&state) & 1024 ? 1 : -1;
  out[I] = at;
}
__kernel void asian_option(__global const uint *seed, __global float *out, const float volatility) {
  uint state = seed[I] * 747796405u + 1u;
  float price = 1.0f, sum = 0.0f;
  for (int day = 0; day < 32; day++) {
    float normal = sqrt(-2.0f * log(uniform(&state) + 1e-7f)) * cos(6.2831853f * uniform(&state));
    price *= exp(0.02f * volatility * normal);
    sum += price;
  }
  out[I] = fmax(sum / 32.0f - 1.0f, 0.0f);
}
__kernel void fill_uniform(__global const uint *seed, __global float *out) {
  uint state = seed[I] + 88172645u;
  out[I] = uniform(&state);
}
__kernel void ising(__global const char *spin, __global char *next, __global const uint *seed, const int n) {
  int x = get_global_id(0), y = get_global_id(1), i = y * n + x;
  uint state = seed[i] * 747796405u + 1u;
  int sum = spin[y * n + (x + 1) % n] + spin[y * n + (x + n - 1) % n] + spin[(y + 1) % n * n + x] + spin[(y + n - 1) % n * n + x];
  next[i] = uniform(&state) < exp(-0.8f * spin[i] * sum) ? -spin[i] : spin[i];
}
// ncc: spin: values 1 - i % 3 % 2 * 2
