/* Vector types, their constructors (CUDA C++ Programming Guide 7.3) and dim3. */
#ifndef NCC_CUDA_VECTORS_H
#define NCC_CUDA_VECTORS_H

/* Two- and four-element vectors are aligned to their size, up to 16 bytes; those of three are not. */
#define NCC_VECTORS(name, type)                                                                     \
  struct name##1 {                                                                                  \
    type x;                                                                                         \
  };                                                                                                \
  struct __attribute__((aligned(2 * sizeof(type)))) name##2 {                                       \
    type x, y;                                                                                      \
  };                                                                                                \
  struct name##3 {                                                                                  \
    type x, y, z;                                                                                   \
  };                                                                                                \
  struct __attribute__((aligned(4 * sizeof(type) < 16 ? 4 * sizeof(type) : 16))) name##4 {          \
    type x, y, z, w;                                                                                \
  };                                                                                                \
  NCC_BOTH name##1 make_##name##1(type x) { return name##1{x}; }                                    \
  NCC_BOTH name##2 make_##name##2(type x, type y) { return name##2{x, y}; }                         \
  NCC_BOTH name##3 make_##name##3(type x, type y, type z) { return name##3{x, y, z}; }              \
  NCC_BOTH name##4 make_##name##4(type x, type y, type z, type w) { return name##4{x, y, z, w}; }

NCC_VECTORS(char, signed char)
NCC_VECTORS(uchar, unsigned char)
NCC_VECTORS(short, short)
NCC_VECTORS(ushort, unsigned short)
NCC_VECTORS(int, int)
NCC_VECTORS(uint, unsigned int)
NCC_VECTORS(long, long)
NCC_VECTORS(ulong, unsigned long)
NCC_VECTORS(longlong, long long)
NCC_VECTORS(ulonglong, unsigned long long)
NCC_VECTORS(float, float)
NCC_VECTORS(double, double)

#undef NCC_VECTORS

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
      : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ operator uint3() const { return uint3{x, y, z}; }
};

#endif
