// Options and random numbers.

float cumulative(float d) { return 0.5f * erfc(-d * 0.70710678f); }

__kernel void black_scholes(float riskless, float volatility, __global const float* price, __global const float* strike,
                            __global const float* years, __global float* call, __global float* put) {
  int i = get_global_id(0);
  float s = price[i] + 1.0f, x = strike[i] + 1.0f, t = years[i] + 0.25f, spread = volatility * sqrt(t);
  float d1 = (log(s / x) + (riskless + 0.5f * volatility * volatility) * t) / spread, d2 = d1 - spread;
  float discount = x * exp(-riskless * t);
  call[i] = s * cumulative(d1) - discount * cumulative(d2);
  put[i] = discount * cumulative(-d2) - s * cumulative(-d1);
}

__kernel void monte_carlo_pi(int trials, __global const uint* seeds, __global uint* hits) {
  int i = get_global_id(0);
  uint state = seeds[i] * 2654435761u + 1, inside = 0;
  for (int trial = 0; trial < trials; trial++) {
    state = state * 1664525u + 1013904223u;
    float x = (state >> 8) * 0x1p-24f;
    state = state * 1664525u + 1013904223u;
    float y = (state >> 8) * 0x1p-24f;
    inside += x * x + y * y < 1.0f;
  }
  hits[i] = inside;
}

__kernel void binomial_option(__global const float* spot, __global float* fair) {
  float value[129];
  int i = get_global_id(0);
  float base = spot[i] + 1.0f;
  for (int step = 0; step <= 128; step++) value[step] = fmax(base * exp(0.02f * (2 * step - 128)) - 1.5f, 0.0f);
  for (int steps = 128; steps > 0; steps--)
    for (int step = 0; step < steps; step++) value[step] = 0.4995f * value[step] + 0.4995f * value[step + 1];
  fair[i] = value[0];
}

__kernel void xorshift_fill(__global uint* state, __global float* noise) {
  int i = get_global_id(0);
  uint x = state[i] + 1;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  state[i] = x;
  noise[i] = x * 0x1p-32f;
}
