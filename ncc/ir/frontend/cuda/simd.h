/* SIMD instructions in a word (CUDA Math API, "SIMD Intrinsics"): two 16-bit or four 8-bit numbers each. */
#ifndef NCC_CUDA_SIMD_H
#define NCC_CUDA_SIMD_H

#define NCC_LANES(name, lanes, number, type, result)                                      \
  NCC_BOTH unsigned int name(unsigned int a, unsigned int b) {                            \
    unsigned int words = 0;                                                               \
    for (int i = 0; i < lanes; i++) {                                                     \
      const int at = i * (32 / lanes);                                                    \
      const int x = static_cast<type>(a >> at), y = static_cast<type>(b >> at);           \
      words |= static_cast<unsigned int>(static_cast<number>(result)) << at;              \
    }                                                                                     \
    return words;                                                                         \
  }
#define NCC_SIMD(name, result)                                                            \
  NCC_LANES(__v##name##2, 2, unsigned short, unsigned short, result)                      \
  NCC_LANES(__v##name##4, 4, unsigned char, unsigned char, result)
#define NCC_SIMD_SIGNED(name, result)                                                     \
  NCC_LANES(__v##name##s2, 2, unsigned short, short, result)                              \
  NCC_LANES(__v##name##s4, 4, unsigned char, signed char, result)                         \
  NCC_LANES(__v##name##u2, 2, unsigned short, unsigned short, result)                     \
  NCC_LANES(__v##name##u4, 4, unsigned char, unsigned char, result)
NCC_SIMD(add, x + y)
NCC_SIMD(sub, x - y)
NCC_SIMD(cmpeq, x == y ? -1 : 0)
NCC_SIMD(cmpne, x != y ? -1 : 0)
NCC_SIMD(seteq, x == y)
NCC_SIMD(setne, x != y)
NCC_SIMD_SIGNED(max, x > y ? x : y)
NCC_SIMD_SIGNED(min, x < y ? x : y)
NCC_SIMD_SIGNED(absdiff, x > y ? x - y : y - x)
NCC_SIMD_SIGNED(avg, (x + y + 1) / 2)
NCC_SIMD_SIGNED(cmpgt, x > y ? -1 : 0)
NCC_SIMD_SIGNED(cmpge, x >= y ? -1 : 0)
NCC_SIMD_SIGNED(cmplt, x < y ? -1 : 0)
NCC_SIMD_SIGNED(cmple, x <= y ? -1 : 0)
NCC_SIMD_SIGNED(setgt, x > y)
NCC_SIMD_SIGNED(setge, x >= y)
NCC_SIMD_SIGNED(setlt, x < y)
NCC_SIMD_SIGNED(setle, x <= y)
/* Saturated: a lane keeps the nearest number that it can hold. */
#define NCC_WITHIN(low, value, high) ((value) < (low) ? (low) : (value) > (high) ? (high) : (value))
#define NCC_SIMD_SATURATED(name, value)                                                   \
  NCC_LANES(__v##name##ss2, 2, unsigned short, short, NCC_WITHIN(-32768, value, 32767))   \
  NCC_LANES(__v##name##ss4, 4, unsigned char, signed char, NCC_WITHIN(-128, value, 127))  \
  NCC_LANES(__v##name##us2, 2, unsigned short, unsigned short, NCC_WITHIN(0, value, 65535)) \
  NCC_LANES(__v##name##us4, 4, unsigned char, unsigned char, NCC_WITHIN(0, value, 255))
NCC_SIMD_SATURATED(add, x + y)
NCC_SIMD_SATURATED(sub, x - y)
#undef NCC_SIMD_SATURATED
#undef NCC_WITHIN
#undef NCC_SIMD
#undef NCC_SIMD_SIGNED
#undef NCC_LANES
NCC_BOTH unsigned int __vabs4(unsigned int a) { return __vmaxs4(a, __vsub4(0, a)); }
NCC_BOTH unsigned int __vabs2(unsigned int a) { return __vmaxs2(a, __vsub2(0, a)); }
NCC_BOTH unsigned int __vneg4(unsigned int a) { return __vsub4(0, a); }
NCC_BOTH unsigned int __vneg2(unsigned int a) { return __vsub2(0, a); }
NCC_BOTH unsigned int __vsadu4(unsigned int a, unsigned int b) {
  const unsigned int each = __vabsdiffu4(a, b);
  return (each & 0xff) + ((each >> 8) & 0xff) + ((each >> 16) & 0xff) + (each >> 24);
}

#endif
