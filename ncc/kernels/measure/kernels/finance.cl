// Prices of options.
#define I get_global_id(0)
static float normal(float x) {
  float t = 1.0f / (1.0f + 0.2316419f * fabs(x));
  float tail = t * (0.31938153f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
  float p = 0.39894228f * exp(-0.5f * x * x) * tail;
  return x > 0 ? 1.0f - p : p;
}
__kernel void call_prices(__global const float *spot, __global const float *strike, __global float *out, const float sigma) {
  float spread = 0.1f + sigma, d = log((spot[I] + 1.0f) / (strike[I] + 1.0f)) / spread + 0.5f * spread;
  out[I] = (spot[I] + 1.0f) * normal(d) - (strike[I] + 1.0f) * normal(d - spread);
}
__kernel void implied_volatility(__global const float *price, __global float *out) {
  float low = 0.01f, high = 3.0f;
  for (int k = 0; k < 20; k++) {
    float middle = 0.5f * (low + high);
    if (2.0f * normal(0.5f * middle) - 1.0f < price[I]) low = middle;
    else high = middle;
  }
  out[I] = low;
}
__kernel void binomial_tree(__global const float *spot, __global float *out) {
  float value[17];
  for (int k = 0; k <= 16; k++) value[k] = fmax((spot[I] + 0.5f) * exp(0.05f * (2 * k - 16)) - 1.0f, 0.0f);
  for (int step = 16; step > 0; step--)
    for (int k = 0; k < step; k++) value[k] = 0.499f * (value[k] + value[k + 1]);
  out[I] = value[0];
}
__kernel void present_value(__global const float *rate, __global float *out) {
  float sum = 0.0f, discount = 1.0f;
  for (int year = 0; year < 30; year++) {
    discount /= 1.0f + 0.1f * rate[I];
    sum += 0.05f * discount;
  }
  out[I] = sum + discount;
}
