/* What CUB gives the threads of a block and of a warp: the same kind of work, by shuffles and shared memory. */
#ifndef NCC_CUDA_CUB_H
#define NCC_CUDA_CUB_H
#include "prelude.h"
#include <float.h>
#include <iterator>
#include <limits>
#include <type_traits>

namespace cub {
#define NCC_OPERATION(name, result)                              \
  struct name {                                                  \
    template <typename T, typename U>                            \
    NCC_MEMBER T operator()(T x, U y) const { return result; }   \
  };
NCC_OPERATION(Sum, x + y)
NCC_OPERATION(Max, x < y ? y : x)
NCC_OPERATION(Min, y < x ? y : x)
#undef NCC_OPERATION
template <typename Key, typename Value>
struct KeyValuePair {
  Key key;
  Value value;
  KeyValuePair() = default;
  __host__ __device__ KeyValuePair(Key key, Value value) : key(key), value(value) {}
};
struct Equality {
  template <typename T, typename U>
  NCC_MEMBER bool operator()(T x, U y) const { return x == y; }
};
struct Inequality {
  template <typename T, typename U>
  NCC_MEMBER bool operator()(T x, U y) const { return x != y; }
};
struct ArgMax {
  template <typename T>
  NCC_MEMBER T operator()(T x, T y) const { return x.value < y.value ? y : x; }
};
struct ArgMin {
  template <typename T>
  NCC_MEMBER T operator()(T x, T y) const { return y.value < x.value ? y : x; }
};
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING, BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE };
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };

struct NullType {};

/* Any value moves as its words. */
#define NCC_SHUFFLE(name, shuffle)                                                                 \
  template <typename T>                                                                            \
  NCC_DEVICE T name(T v, int n, int lanes = 32) {                                                  \
    union { T whole; unsigned int words[(sizeof(T) + 3) / 4]; } moved;                             \
    moved.whole = v;                                                                               \
    for (unsigned int &word : moved.words) word = shuffle(0xffffffffu, word, n, lanes);            \
    return moved.whole;                                                                            \
  }
NCC_SHUFFLE(ncc_shuffle, __shfl_sync)
NCC_SHUFFLE(ncc_shuffle_up, __shfl_up_sync)
NCC_SHUFFLE(ncc_shuffle_down, __shfl_down_sync)
#undef NCC_SHUFFLE
NCC_DEVICE unsigned int ncc_thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }

template <typename T, int lanes = 32, int = 0>
struct WarpReduce {
  struct TempStorage { T words[1]; };
  NCC_MEMBER WarpReduce(TempStorage &) {}
  template <typename O>
  NCC_MEMBER T Reduce(T v, O operation) {
    for (int n = lanes / 2; n; n /= 2) v = operation(v, ncc_shuffle_down(v, n));
    return v;
  }
  template <typename O>
  NCC_MEMBER T Reduce(T v, O operation, int) { return Reduce(v, operation); }
  NCC_MEMBER T Sum(T v) { return Reduce(v, cub::Sum()); }
  NCC_MEMBER T Sum(T v, int) { return Sum(v); }
  NCC_MEMBER T Max(T v) { return Reduce(v, cub::Max()); }
  NCC_MEMBER T Min(T v) { return Reduce(v, cub::Min()); }
};
template <typename T, int x, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1, int z = 1, int = 0>
struct BlockReduce {
  struct TempStorage { T words[32]; };
  TempStorage &storage;
  NCC_MEMBER BlockReduce(TempStorage &storage) : storage(storage) {}
  template <typename O>
  NCC_MEMBER T Reduce(T v, O operation) {
    for (int n = 16; n; n /= 2) v = operation(v, ncc_shuffle_down(v, n));
    if (x * y * z <= 32) return v;
    if (ncc_thread() % 32 == 0) storage.words[ncc_thread() / 32] = v;
    __syncthreads();
    if (ncc_thread() == 0)
      for (int i = 1; i < x * y * z / 32; i++) v = operation(v, storage.words[i]);
    return v;
  }
  template <typename O>
  NCC_MEMBER T Reduce(T v, O operation, int) { return Reduce(v, operation); }
  template <int n, typename O>
  NCC_MEMBER T Reduce(const T (&v)[n], O operation) {
    T all = v[0];
    for (int i = 1; i < n; i++) all = operation(all, v[i]);
    return Reduce(all, operation);
  }
  template <typename V>
  NCC_MEMBER T Sum(V &&v) { return Reduce(v, cub::Sum()); }
  NCC_MEMBER T Sum(T v, int) { return Reduce(v, cub::Sum()); }
  template <typename V>
  NCC_MEMBER T Max(V &&v) { return Reduce(v, cub::Max()); }
  template <typename V>
  NCC_MEMBER T Min(V &&v) { return Reduce(v, cub::Min()); }
};
template <typename T, int lanes = 32, int = 0>
struct WarpScan {
  struct TempStorage { T words[1]; };
  NCC_MEMBER WarpScan(TempStorage &) {}
  template <typename O>
  NCC_MEMBER void InclusiveScan(T v, T &out, O operation) {
    for (int n = 1; n < lanes; n *= 2) {
      const T other = ncc_shuffle_up(v, n);
      if (ncc_thread() % lanes >= static_cast<unsigned int>(n)) v = operation(other, v);
    }
    out = v;
  }
  NCC_MEMBER void InclusiveSum(T v, T &out) { InclusiveScan(v, out, cub::Sum()); }
  NCC_MEMBER void InclusiveSum(T v, T &out, T &all) { InclusiveSum(v, out), all = ncc_shuffle(out, lanes - 1, lanes); }
  NCC_MEMBER void ExclusiveSum(T v, T &out) { InclusiveSum(v, out), out = out - v; }
  NCC_MEMBER void ExclusiveSum(T v, T &out, T &all) { InclusiveSum(v, out, all), out = out - v; }
  template <typename O>
  NCC_MEMBER void ExclusiveScan(T v, T &out, T first, O operation) {
    InclusiveScan(v, out, operation), out = ncc_shuffle_up(out, 1);
    out = ncc_thread() % lanes ? operation(first, out) : first;
  }
};
template <typename T, int x, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int y = 1, int z = 1, int = 0>
struct BlockScan {
  static constexpr int warps = (x * y * z + 31) / 32;
  struct TempStorage { T words[warps], prefix; };
  TempStorage &storage;
  NCC_MEMBER BlockScan(TempStorage &storage) : storage(storage) {}
  /* What the threads before this one have together, and all; the first thread's is nobody's. */
  template <typename O>
  NCC_MEMBER T ncc_before(T v, O operation, T &all) {
    typename WarpScan<T>::TempStorage none;
    T upto;
    WarpScan<T>(none).InclusiveScan(v, upto, operation);
    const unsigned int warp = ncc_thread() / 32;
    if (ncc_thread() % 32 == 31 || ncc_thread() == x * y * z - 1) storage.words[warp] = upto;
    __syncthreads();
    T before = all = storage.words[0];
    for (unsigned int i = 1; i < warps; i++) {
      before = i == warp ? all : before;
      all = operation(all, storage.words[i]);
    }
    upto = ncc_shuffle_up(upto, 1);
    return ncc_thread() % 32 == 0 ? before : warp ? operation(before, upto) : upto;
  }
  /* What comes before the block, by a functor of the block's own that its first warp calls with all. */
  template <typename P>
  NCC_MEMBER T ncc_prefix(T all, P &prefix) {
    if (ncc_thread() < 32) {
      const T found = prefix(all);
      if (ncc_thread() == 0) storage.prefix = found;
    }
    __syncthreads();
    return storage.prefix;
  }
  template <int n, typename O>
  NCC_MEMBER static void ncc_spread(const T (&v)[n], T (&out)[n], T before, O operation) {
    for (int i = 0; i < n; i++) {
      const T own = v[i];
      out[i] = before, before = operation(before, own);
    }
  }
  template <int n, typename O>
  NCC_MEMBER static T ncc_sum(const T (&v)[n], O operation) {
    T sum = v[0];
    for (int i = 1; i < n; i++) sum = operation(sum, v[i]);
    return sum;
  }
  template <int n, typename O>
  NCC_MEMBER void InclusiveScan(const T (&v)[n], T (&out)[n], O operation, T &all) {
    for (int i = 0; i < n; i++) out[i] = i ? operation(out[i - 1], v[i]) : v[i];
    const T before = ncc_before(out[n - 1], operation, all);
    for (int i = 0; i < n; i++) out[i] = ncc_thread() ? operation(before, out[i]) : out[i];
  }
  template <int n, typename O, typename P>
  NCC_MEMBER void InclusiveScan(const T (&v)[n], T (&out)[n], O operation, P &prefix) {
    T all;
    InclusiveScan(v, out, operation, all);
    all = ncc_prefix(all, prefix);
    for (int i = 0; i < n; i++) out[i] = operation(all, out[i]);
  }
  template <int n, typename O>
  NCC_MEMBER void ExclusiveScan(const T (&v)[n], T (&out)[n], T first, O operation, T &all) {
    const T before = ncc_before(ncc_sum(v, operation), operation, all);
    ncc_spread(v, out, ncc_thread() ? operation(first, before) : first, operation);
  }
  template <int n, typename O, typename P>
  NCC_MEMBER void ExclusiveScan(const T (&v)[n], T (&out)[n], O operation, P &prefix) {
    T all;
    const T before = ncc_before(ncc_sum(v, operation), operation, all);
    all = ncc_prefix(all, prefix);
    ncc_spread(v, out, ncc_thread() ? operation(all, before) : all, operation);
  }
  template <int n, typename O>
  NCC_MEMBER void InclusiveScan(const T (&v)[n], T (&out)[n], O operation) { T all; InclusiveScan(v, out, operation, all); }
  template <int n, typename O>
  NCC_MEMBER void ExclusiveScan(const T (&v)[n], T (&out)[n], T first, O operation) {
    T all;
    ExclusiveScan(v, out, first, operation, all);
  }
  template <int n>
  NCC_MEMBER void InclusiveSum(const T (&v)[n], T (&out)[n]) { InclusiveScan(v, out, cub::Sum()); }
  template <int n>
  NCC_MEMBER void InclusiveSum(const T (&v)[n], T (&out)[n], T &all) { InclusiveScan(v, out, cub::Sum(), all); }
  template <int n>
  NCC_MEMBER void ExclusiveSum(const T (&v)[n], T (&out)[n]) { ExclusiveScan(v, out, T(), cub::Sum()); }
  template <int n>
  NCC_MEMBER void ExclusiveSum(const T (&v)[n], T (&out)[n], T &all) { ExclusiveScan(v, out, T(), cub::Sum(), all); }
  template <typename O>
  NCC_MEMBER void ExclusiveScan(T v, T &out, O operation) { T all; out = ncc_before(v, operation, all); }
  /* Of one item. */
#define NCC_SCAN(name)                                                                             \
  template <typename... Rest>                                                                      \
  NCC_MEMBER void name(T v, T &out, Rest &&...rest) {                                              \
    name(reinterpret_cast<const T(&)[1]>(v), reinterpret_cast<T(&)[1]>(out), rest...);             \
  }
  NCC_SCAN(InclusiveScan)
  NCC_SCAN(ExclusiveScan)
  NCC_SCAN(InclusiveSum)
  NCC_SCAN(ExclusiveSum)
#undef NCC_SCAN
};
template <typename T, int x, int n, BlockLoadAlgorithm how = BLOCK_LOAD_DIRECT, int y = 1, int z = 1, int = 0>
struct BlockLoad {
  struct TempStorage { T words[how < BLOCK_LOAD_TRANSPOSE ? 1 : x * y * z * n]; };
  NCC_MEMBER BlockLoad(TempStorage &) {}
  template <typename From>
  NCC_MEMBER void Load(From from, T (&v)[n]) {
    for (int i = 0; i < n; i++) v[i] = from[how == BLOCK_LOAD_DIRECT ? ncc_thread() * n + i : ncc_thread() + i * x * y * z];
  }
  template <typename From>
  NCC_MEMBER void Load(From from, T (&v)[n], int valid) {
    for (int i = 0; i < n; i++)
      if (static_cast<int>(ncc_thread() + i * x * y * z) < valid) v[i] = from[ncc_thread() + i * x * y * z];
  }
  template <typename From, typename D>
  NCC_MEMBER void Load(From from, T (&v)[n], int valid, D other) {
    for (int i = 0; i < n; i++) v[i] = other;
    Load(from, v, valid);
  }
};
template <typename T, int x, int n, BlockStoreAlgorithm how = BLOCK_STORE_DIRECT, int y = 1, int z = 1, int = 0>
struct BlockStore {
  struct TempStorage { T words[how < BLOCK_STORE_TRANSPOSE ? 1 : x * y * z * n]; };
  NCC_MEMBER BlockStore(TempStorage &) {}
  template <typename To>
  NCC_MEMBER void Store(To to, T (&v)[n]) {
    for (int i = 0; i < n; i++) to[how == BLOCK_STORE_DIRECT ? ncc_thread() * n + i : ncc_thread() + i * x * y * z] = v[i];
  }
  template <typename To>
  NCC_MEMBER void Store(To to, T (&v)[n], int valid) {
    for (int i = 0; i < n; i++)
      if (static_cast<int>(ncc_thread() + i * x * y * z) < valid) to[ncc_thread() + i * x * y * z] = v[i];
  }
};
}
#include "cub_sort.h"
#endif
