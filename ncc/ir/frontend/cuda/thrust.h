/* The part of Thrust that kernels and their launches name: vectors, pointers, tuples, complex numbers, operations.
 * Its algorithms run kernels of their own, which no source holds: where a host calls one, the call is left out. */
#ifndef NCC_CUDA_THRUST_H
#define NCC_CUDA_THRUST_H
#include "prelude.h"
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace thrust {
template <typename T>
struct device_ptr {
  T *p;
  __host__ __device__ explicit device_ptr(T *p = nullptr) : p(p) {}
  __host__ __device__ T *get() const { return p; }
  __host__ __device__ T &operator*() const { return *p; }
  __host__ __device__ T &operator[](__PTRDIFF_TYPE__ i) const { return p[i]; }
  __host__ __device__ device_ptr operator+(__PTRDIFF_TYPE__ n) const { return device_ptr(p + n); }
  __host__ __device__ __PTRDIFF_TYPE__ operator-(device_ptr other) const { return p - other.p; }
  __host__ __device__ device_ptr &operator++() { ++p; return *this; }
  __host__ __device__ bool operator==(device_ptr other) const { return p == other.p; }
  __host__ __device__ bool operator!=(device_ptr other) const { return p != other.p; }
};
template <typename T, typename A = void>
struct host_vector : std::vector<T> {
  using std::vector<T>::vector;
  template <typename V>
  host_vector(const V &v);
};
template <typename T, typename A = void>
struct device_vector {
  typedef T value_type;
  typedef device_ptr<T> iterator;
  typedef device_ptr<T> pointer;
  device_vector() = default;
  explicit device_vector(__SIZE_TYPE__ n);
  device_vector(__SIZE_TYPE__ n, T v);
  template <typename V>
  device_vector(const V &v);
  template <typename I>
  device_vector(I begin, I end);
  iterator begin() const, end() const;
  pointer data() const;
  T &operator[](__SIZE_TYPE__ i) const;
  __SIZE_TYPE__ size() const;
  bool empty() const;
  void resize(__SIZE_TYPE__ n, T v = T());
  void reserve(__SIZE_TYPE__ n);
  void clear();
  void push_back(T v);
  void shrink_to_fit();
  T &front() const;
  T &back() const;
};
template <typename T>
NCC_BOTH T *raw_pointer_cast(device_ptr<T> p) { return p.get(); }
template <typename T>
NCC_BOTH T *raw_pointer_cast(T *p) { return p; }
template <typename T>
NCC_BOTH device_ptr<T> device_pointer_cast(T *p) { return device_ptr<T>(p); }

template <typename T>
struct complex {
  T re, im;
  __host__ __device__ constexpr complex(T re = T(), T im = T()) : re(re), im(im) {}
  template <typename U>
  __host__ __device__ constexpr complex(const complex<U> &z) : re(z.real()), im(z.imag()) {}
  __host__ __device__ constexpr T real() const { return re; }
  __host__ __device__ constexpr T imag() const { return im; }
  __host__ __device__ void real(T x) { re = x; }
  __host__ __device__ void imag(T x) { im = x; }
  __host__ __device__ complex &operator+=(complex z) { return *this = *this + z; }
  __host__ __device__ complex &operator-=(complex z) { return *this = *this - z; }
  __host__ __device__ complex &operator*=(complex z) { return *this = *this * z; }
  __host__ __device__ complex &operator/=(complex z) { return *this = *this / z; }
  friend __host__ __device__ complex operator+(complex x, complex y) { return complex(x.re + y.re, x.im + y.im); }
  friend __host__ __device__ complex operator-(complex x, complex y) { return complex(x.re - y.re, x.im - y.im); }
  friend __host__ __device__ complex operator-(complex x) { return complex(-x.re, -x.im); }
  friend __host__ __device__ complex operator*(complex x, complex y) {
    return complex(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
  }
  friend __host__ __device__ complex operator/(complex x, complex y) {
    const T scale = y.re * y.re + y.im * y.im;
    return complex((x.re * y.re + x.im * y.im) / scale, (x.im * y.re - x.re * y.im) / scale);
  }
  friend __host__ __device__ bool operator==(complex x, complex y) { return x.re == y.re && x.im == y.im; }
  friend __host__ __device__ bool operator!=(complex x, complex y) { return !(x == y); }
};
template <typename T>
NCC_BOTH T norm(complex<T> z) { return z.re * z.re + z.im * z.im; }
template <typename T>
NCC_DEVICE T abs(complex<T> z) { return sqrt(norm(z)); }
template <typename T>
NCC_DEVICE T arg(complex<T> z) { return atan2(z.im, z.re); }
template <typename T>
NCC_BOTH complex<T> conj(complex<T> z) { return complex<T>(z.re, -z.im); }
template <typename T>
NCC_DEVICE complex<T> polar(T radius, T angle) { return complex<T>(radius * cos(angle), radius * sin(angle)); }
template <typename T>
NCC_DEVICE complex<T> exp(complex<T> z) { return polar(::exp(z.re), z.im); }
template <typename T>
NCC_DEVICE complex<T> sqrt(complex<T> z) { return polar(::sqrt(abs(z)), arg(z) / 2); }
#define NCC_COMPLEX(name, value)                                                                   \
  template <typename T>                                                                            \
  NCC_DEVICE complex<T> name(complex<T> z) {                                                       \
    const complex<T> one(1), i(0, 1);                                                              \
    return value;                                                                                  \
  }
NCC_COMPLEX(log, complex<T>(::log(abs(z)), arg(z)))
NCC_COMPLEX(log10, log(z) / complex<T>(T(2.302585092994046)))
NCC_COMPLEX(sinh, complex<T>(::sinh(z.re) * ::cos(z.im), ::cosh(z.re) * ::sin(z.im)))
NCC_COMPLEX(cosh, complex<T>(::cosh(z.re) * ::cos(z.im), ::sinh(z.re) * ::sin(z.im)))
NCC_COMPLEX(tanh, sinh(z) / cosh(z))
NCC_COMPLEX(sin, complex<T>(::sin(z.re) * ::cosh(z.im), ::cos(z.re) * ::sinh(z.im)))
NCC_COMPLEX(cos, complex<T>(::cos(z.re) * ::cosh(z.im), -::sin(z.re) * ::sinh(z.im)))
NCC_COMPLEX(tan, sin(z) / cos(z))
NCC_COMPLEX(asinh, log(z + sqrt(z * z + one)))
NCC_COMPLEX(acosh, log(z + sqrt(z + one) * sqrt(z - one)))
NCC_COMPLEX(atanh, (log(one + z) - log(one - z)) / complex<T>(2))
NCC_COMPLEX(asin, -(i * asinh(i * z)))
NCC_COMPLEX(acos, complex<T>(T(1.5707963267948966)) - asin(z))
NCC_COMPLEX(atan, -(i * atanh(i * z)))
#undef NCC_COMPLEX
template <typename T, typename U>
NCC_DEVICE complex<T> pow(complex<T> z, U exponent) { return exp(log(z) * complex<T>(exponent)); }
template <typename T>
NCC_DEVICE complex<T> pow(T base, complex<T> exponent) { return exp(complex<T>(::log(base)) * exponent); }

using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::tie;
using std::tuple;
using std::swap;
#define NCC_OPERATION(name, result)                                       \
  template <typename T = void>                                            \
  struct name {                                                           \
    template <typename V, typename W>                                     \
    __host__ __device__ auto operator()(const V &x, const W &y) const { return result; } \
  };
NCC_OPERATION(plus, x + y)
NCC_OPERATION(minus, x - y)
NCC_OPERATION(multiplies, x *y)
NCC_OPERATION(divides, x / y)
NCC_OPERATION(maximum, x < y ? y : x)
NCC_OPERATION(minimum, y < x ? y : x)
NCC_OPERATION(less, x < y)
NCC_OPERATION(greater, y < x)
NCC_OPERATION(equal_to, x == y)
#undef NCC_OPERATION
template <typename T>
struct identity {
  __host__ __device__ T operator()(const T &x) const { return x; }
};
template <typename A, typename R>
struct unary_function {};
template <typename A, typename B, typename R>
struct binary_function {};
struct ncc_policy {
  template <typename... A>
  ncc_policy on(A...) const;
};
extern const __device__ ncc_policy device, host, seq;
namespace cuda { struct ncc_par : ncc_policy {}; extern const ncc_par par; }
}
#endif
