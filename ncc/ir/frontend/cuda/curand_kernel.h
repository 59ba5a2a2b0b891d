/* Random numbers on the device (cuRAND's device API): generators of a like size, not their numbers. */
#ifndef NCC_CUDA_CURAND_KERNEL_H
#define NCC_CUDA_CURAND_KERNEL_H
#include "prelude.h"

/* Five words that are shifted and added to, as the default generator of cuRAND does (Marsaglia's xorwow). */
struct curandStateXORWOW {
  unsigned int d, v[5];
};
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandStateXORWOW_t;
struct curandStatePhilox4_32_10 {
  uint4 counter, output;
  uint2 key;
  unsigned int used;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];
};
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

NCC_DEVICE unsigned int curand(curandStateXORWOW *s) {
  unsigned int t = s->v[0] ^ (s->v[0] >> 2);
  for (int i = 0; i < 4; i++) s->v[i] = s->v[i + 1];
  s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
  s->d += 362437;
  return s->v[4] + s->d;
}
NCC_DEVICE uint4 curand4(curandStatePhilox4_32_10 *s) {
  uint4 c = s->counter;
  uint2 k = s->key;
  for (int i = 0; i < 10; i++) {
    c = uint4{__umulhi(0xCD9E8D57u, c.z) ^ c.y ^ k.x, 0xCD9E8D57u * c.z, __umulhi(0xD2511F53u, c.x) ^ c.w ^ k.y,
              0xD2511F53u * c.x};
    k = uint2{k.x + 0x9E3779B9u, k.y + 0xBB67AE85u};
  }
  s->counter.x++;
  return s->output = c;
}
NCC_DEVICE unsigned int curand(curandStatePhilox4_32_10 *s) {
  const unsigned int word = s->used++ & 3;
  if (word == 0) curand4(s);
  return word == 0 ? s->output.x : word == 1 ? s->output.y : word == 2 ? s->output.z : s->output.w;
}
NCC_DEVICE unsigned int curand(curandStateMRG32k3a *s) {
  const long long p1 = (1403580ll * s->s1[1] - 810728ll * s->s1[0]) % 4294967087ll;
  const long long p2 = (527612ll * s->s2[2] - 1370589ll * s->s2[0]) % 4294944443ll;
  s->s1[0] = s->s1[1], s->s1[1] = s->s1[2], s->s1[2] = static_cast<unsigned int>(p1);
  s->s2[0] = s->s2[1], s->s2[1] = s->s2[2], s->s2[2] = static_cast<unsigned int>(p2);
  return static_cast<unsigned int>(p1 - p2);
}
NCC_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                            curandStateXORWOW *s) {
  const unsigned int low = static_cast<unsigned int>(seed) ^ 0xaad26b49u;
  const unsigned int high = static_cast<unsigned int>(seed >> 32) ^ 0xf7dcefddu;
  s->d = 6615241u + high + low;
  for (int i = 0; i < 5; i++) s->v[i] = (low + i * 1099087573u) ^ high;
  for (; sequence | offset; sequence >>= 2, offset >>= 2)
    for (int i = 0; i < 5; i++) s->v[i] ^= static_cast<unsigned int>(sequence + offset) << i;
}
NCC_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                            curandStatePhilox4_32_10 *s) {
  s->key = uint2{static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32)};
  s->counter = uint4{static_cast<unsigned int>(offset), static_cast<unsigned int>(offset >> 32),
                     static_cast<unsigned int>(sequence), static_cast<unsigned int>(sequence >> 32)};
  s->used = 0;
}
NCC_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                            curandStateMRG32k3a *s) {
  for (int i = 0; i < 3; i++) s->s1[i] = static_cast<unsigned int>(seed + sequence), s->s2[i] = static_cast<unsigned int>(offset + i);
}
template <typename S>
NCC_DEVICE float curand_uniform(S *s) { return curand(s) * 2.3283064e-10f + 1.1641532e-10f; }
template <typename S>
NCC_DEVICE double curand_uniform_double(S *s) {
  const unsigned int x = curand(s), y = curand(s);
  return static_cast<double>(static_cast<unsigned long long>(x) ^ (static_cast<unsigned long long>(y) << 21)) * 1.1102230246251565e-16;
}
template <typename S>
NCC_DEVICE float2 curand_normal2(S *s) {
  const float radius = sqrtf(-2.0f * logf(curand_uniform(s))), angle = 6.2831853f * curand_uniform(s);
  return float2{radius * sinf(angle), radius * cosf(angle)};
}
template <typename S>
NCC_DEVICE float curand_normal(S *s) { return curand_normal2(s).x; }
template <typename S>
NCC_DEVICE double curand_normal_double(S *s) {
  const double radius = sqrt(-2.0 * log(curand_uniform_double(s)));
  return radius * sin(6.283185307179586 * curand_uniform_double(s));
}
template <typename S>
NCC_DEVICE float curand_log_normal(S *s, float mean, float deviation) { return expf(mean + deviation * curand_normal(s)); }
NCC_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10 *s) {
  const uint4 v = curand4(s);
  return float4{v.x * 2.3283064e-10f, v.y * 2.3283064e-10f, v.z * 2.3283064e-10f, v.w * 2.3283064e-10f};
}
NCC_DEVICE float4 curand_normal4(curandStatePhilox4_32_10 *s) {
  const float2 x = curand_normal2(s), y = curand_normal2(s);
  return float4{x.x, x.y, y.x, y.y};
}
template <typename S>
NCC_DEVICE unsigned int curand_poisson(S *s, double mean) {
  unsigned int n = 0;
  for (double product = curand_uniform_double(s), bound = exp(-mean); product > bound; n++) product *= curand_uniform_double(s);
  return n;
}
template <typename S>
NCC_DEVICE void skipahead(unsigned long long n, S *s) { while (n--) curand(s); }
#endif
