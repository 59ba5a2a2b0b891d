/* HIP's template of vectors: element and number of elements name CUDA's vector. */
#ifndef NCC_HIP_VECTOR_TYPES_H
#define NCC_HIP_VECTOR_TYPES_H

template <class T, unsigned int n> struct ncc_hip_vector;

#define NCC_HIP_VECTORS(T, name)                                                \
  template <> struct ncc_hip_vector<T, 1> { using type = name##1; };            \
  template <> struct ncc_hip_vector<T, 2> { using type = name##2; };            \
  template <> struct ncc_hip_vector<T, 3> { using type = name##3; };            \
  template <> struct ncc_hip_vector<T, 4> { using type = name##4; };

NCC_HIP_VECTORS(char, char)
NCC_HIP_VECTORS(signed char, char)
NCC_HIP_VECTORS(unsigned char, uchar)
NCC_HIP_VECTORS(short, short)
NCC_HIP_VECTORS(unsigned short, ushort)
NCC_HIP_VECTORS(int, int)
NCC_HIP_VECTORS(unsigned int, uint)
NCC_HIP_VECTORS(long, long)
NCC_HIP_VECTORS(unsigned long, ulong)
NCC_HIP_VECTORS(long long, longlong)
NCC_HIP_VECTORS(unsigned long long, ulonglong)
NCC_HIP_VECTORS(float, float)
NCC_HIP_VECTORS(double, double)
#undef NCC_HIP_VECTORS

template <class T, unsigned int n> using HIP_vector_type = typename ncc_hip_vector<T, n>::type;

#endif
