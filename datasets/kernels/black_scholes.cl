// Prices of European options by the Black-Scholes formula, an option a work-item.
float normal(float x) {
  float t = 1.0f / (1.0f + 0.2316419f * fabs(x));
  float tail = t * (0.31938153f + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f))));
  float p = 0.39894228f * exp(-0.5f * x * x) * tail;
  return x > 0 ? 1.0f - p : p;
}

__kernel void black_scholes(__global const float *spot, __global const float *strike, __global const float *years,
                            __global float *call, __global float *put, float rate, float volatility) {
  int i = get_global_id(0);
  float s = spot[i], k = strike[i], t = years[i];
  float spread = volatility * sqrt(t);
  float d1 = (log(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
  float d2 = d1 - spread, discounted = k * exp(-rate * t);
  call[i] = s * normal(d1) - discounted * normal(d2);
  put[i] = discounted * normal(-d2) - s * normal(-d1);
}
