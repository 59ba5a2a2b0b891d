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
template <typename T>
NCC_DEVICE T ncc_shuffle_down(T v, int n) {
  union { T whole; unsigned int words[(sizeof(T) + 3) / 4]; } moved;
  moved.whole = v;
  for (unsigned int i = 0; i < (sizeof(T) + 3) / 4; i++) moved.words[i] = __shfl_down_sync(0xffffffffu, moved.words[i], n);
  return moved.whole;
}
template <typename T>
NCC_DEVICE T ncc_shuffle_up(T v, int n) {
  union { T whole; unsigned int words[(sizeof(T) + 3) / 4]; } moved;
  moved.whole = v;
  for (unsigned int i = 0; i < (sizeof(T) + 3) / 4; i++) moved.words[i] = __shfl_up_sync(0xffffffffu, moved.words[i], n);
  return moved.whole;
}
template <typename T>
NCC_DEVICE T ncc_shuffle(T v, int lane, int lanes) {
  union { T whole; unsigned int words[(sizeof(T) + 3) / 4]; } moved;
  moved.whole = v;
  for (unsigned int i = 0; i < (sizeof(T) + 3) / 4; i++) moved.words[i] = __shfl_sync(0xffffffffu, moved.words[i], lane, lanes);
  return moved.whole;
}
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
  struct TempStorage { T words[warps]; };
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
  template <int n, typename O>
  NCC_MEMBER void InclusiveScan(const T (&v)[n], T (&out)[n], O operation, T &all) {
    for (int i = 0; i < n; i++) out[i] = i ? operation(out[i - 1], v[i]) : v[i];
    const T before = ncc_before(out[n - 1], operation, all);
    for (int i = 0; i < n; i++) out[i] = ncc_thread() ? operation(before, out[i]) : out[i];
  }
  template <int n, typename O>
  NCC_MEMBER void ExclusiveScan(const T (&v)[n], T (&out)[n], T first, O operation, T &all) {
    T sum = v[0];
    for (int i = 1; i < n; i++) sum = operation(sum, v[i]);
    T before = ncc_before(sum, operation, all);
    before = ncc_thread() ? operation(first, before) : first;
    for (int i = 0; i < n; i++) {
      const T own = v[i];
      out[i] = before, before = operation(before, own);
    }
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
  NCC_MEMBER void InclusiveScan(T v, T &out, O operation, T &all) {
    const T before = ncc_before(v, operation, all);
    out = ncc_thread() ? operation(before, v) : v;
  }
  template <typename O>
  NCC_MEMBER void ExclusiveScan(T v, T &out, T first, O operation, T &all) {
    const T before = ncc_before(v, operation, all);
    out = ncc_thread() ? operation(first, before) : first;
  }
  template <typename O>
  NCC_MEMBER void InclusiveScan(T v, T &out, O operation) { T all; InclusiveScan(v, out, operation, all); }
  template <typename O>
  NCC_MEMBER void ExclusiveScan(T v, T &out, T first, O operation) { T all; ExclusiveScan(v, out, first, operation, all); }
  template <typename O>
  NCC_MEMBER void ExclusiveScan(T v, T &out, O operation) { T all; out = ncc_before(v, operation, all); }
  NCC_MEMBER void InclusiveSum(T v, T &out) { InclusiveScan(v, out, cub::Sum()); }
  NCC_MEMBER void InclusiveSum(T v, T &out, T &all) { InclusiveScan(v, out, cub::Sum(), all); }
  NCC_MEMBER void ExclusiveSum(T v, T &out) { ExclusiveScan(v, out, T(), cub::Sum()); }
  NCC_MEMBER void ExclusiveSum(T v, T &out, T &all) { ExclusiveScan(v, out, T(), cub::Sum(), all); }
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
template <typename T, int x, int n, bool = false, int y = 1, int z = 1, int = 0>
struct BlockExchange {
  static constexpr int threads = x * y * z;
  struct TempStorage { T words[threads * n]; };
  TempStorage &storage;
  NCC_MEMBER BlockExchange(TempStorage &storage) : storage(storage) {}
  template <typename R>
  NCC_MEMBER void ncc_scatter(const T (&v)[n], const R (&rank)[n]) {
    for (int i = 0; i < n; i++) storage.words[rank[i]] = v[i];
    __syncthreads();
  }
  template <typename R>
  NCC_MEMBER void ScatterToBlocked(const T (&v)[n], T (&out)[n], const R (&rank)[n]) {
    ncc_scatter(v, rank);
    for (int i = 0; i < n; i++) out[i] = storage.words[ncc_thread() * n + i];
  }
  template <typename R>
  NCC_MEMBER void ScatterToStriped(const T (&v)[n], T (&out)[n], const R (&rank)[n]) {
    ncc_scatter(v, rank);
    for (int i = 0; i < n; i++) out[i] = storage.words[ncc_thread() + i * threads];
  }
  NCC_MEMBER void BlockedToStriped(const T (&v)[n], T (&out)[n]) {
    int rank[n];
    for (int i = 0; i < n; i++) rank[i] = ncc_thread() * n + i;
    ScatterToStriped(v, out, rank);
  }
  NCC_MEMBER void StripedToBlocked(const T (&v)[n], T (&out)[n]) {
    int rank[n];
    for (int i = 0; i < n; i++) rank[i] = ncc_thread() + i * threads;
    ScatterToBlocked(v, out, rank);
  }
  NCC_MEMBER void BlockedToStriped(T (&v)[n]) { BlockedToStriped(v, v); }
  NCC_MEMBER void StripedToBlocked(T (&v)[n]) { StripedToBlocked(v, v); }
  template <typename R>
  NCC_MEMBER void ScatterToBlocked(T (&v)[n], const R (&rank)[n]) { ScatterToBlocked(v, v, rank); }
  template <typename R>
  NCC_MEMBER void ScatterToStriped(T (&v)[n], const R (&rank)[n]) { ScatterToStriped(v, v, rank); }
};

template <int bytes> struct ncc_word;
template <> struct ncc_word<1> { typedef unsigned char type; };
template <> struct ncc_word<2> { typedef unsigned short type; };
template <> struct ncc_word<4> { typedef unsigned int type; };
template <> struct ncc_word<8> { typedef unsigned long long type; };
/* A number's bits, and those that ascend with the number. */
template <typename T>
struct Traits {
  typedef typename ncc_word<sizeof(T)>::type UnsignedBits;
  static constexpr UnsignedBits sign = static_cast<UnsignedBits>(UnsignedBits(1) << (8 * sizeof(T) - 1));
  NCC_MEMBER static UnsignedBits TwiddleIn(UnsignedBits bits) {
    if constexpr (std::is_unsigned_v<T>) return bits;
    if constexpr (std::is_integral_v<T>) return bits ^ sign;
    return bits & sign ? ~bits : bits | sign;
  }
  NCC_MEMBER static UnsignedBits TwiddleOut(UnsignedBits bits) {
    if constexpr (std::is_unsigned_v<T>) return bits;
    if constexpr (std::is_integral_v<T>) return bits ^ sign;
    return bits & sign ? bits ^ sign : ~bits;
  }
};
template <typename T>
using NumericTraits = Traits<T>;
/* By digits of four bits, the lowest first: each thread counts its own, and all counts are summed up. */
template <typename Key, int x, int n, typename Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int y = 1, int z = 1, int = 0>
struct BlockRadixSort {
  static constexpr int threads = x * y * z;
  typedef BlockScan<int, x, BLOCK_SCAN_WARP_SCANS, y, z> Scan;
  typedef BlockExchange<Key, x, n, false, y, z> Keys;
  typedef BlockExchange<Value, x, n, false, y, z> Values;
  struct TempStorage {
    int counts[16 * threads];
    typename Scan::TempStorage scan;
    typename Keys::TempStorage keys;
    typename Values::TempStorage values;
  };
  TempStorage &storage;
  NCC_MEMBER BlockRadixSort(TempStorage &storage) : storage(storage) {}
  NCC_MEMBER static auto ncc_ascending(Key key) {
    typedef typename Traits<Key>::UnsignedBits Bits;
    return Traits<Key>::TwiddleIn(__builtin_bit_cast(Bits, key));
  }
  NCC_MEMBER void ncc_rank(const Key (&key)[n], int (&rank)[n], int bit, int bits, bool is_descending) {
    int *const counts = storage.counts;
    int at[n];
    for (int i = 0; i < 16; i++) counts[i * threads + ncc_thread()] = 0;
    for (int i = 0; i < n; i++) {
      const int digit = static_cast<int>(ncc_ascending(key[i]) >> bit) & ((1 << bits) - 1);
      at[i] = (is_descending ? 15 - digit : digit) * threads + ncc_thread();
      rank[i] = counts[at[i]]++;
    }
    __syncthreads();
    int own[16];
    for (int i = 0; i < 16; i++) own[i] = counts[ncc_thread() * 16 + i];
    Scan(storage.scan).ExclusiveSum(own, own);
    for (int i = 0; i < 16; i++) counts[ncc_thread() * 16 + i] = own[i];
    __syncthreads();
    for (int i = 0; i < n; i++) rank[i] += counts[at[i]];
    __syncthreads();
  }
  NCC_MEMBER void ncc_sort(Key (&key)[n], Value *value, int begin, int end, bool is_descending, bool is_striped) {
    for (int bit = begin; bit < end; bit += 4) {
      int rank[n];
      ncc_rank(key, rank, bit, end - bit < 4 ? end - bit : 4, is_descending);
      const bool is_last = is_striped && bit + 4 >= end;
      is_last ? Keys(storage.keys).ScatterToStriped(key, rank) : Keys(storage.keys).ScatterToBlocked(key, rank);
      if (value) {
        Value(&values)[n] = *reinterpret_cast<Value(*)[n]>(value);
        is_last ? Values(storage.values).ScatterToStriped(values, rank) : Values(storage.values).ScatterToBlocked(values, rank);
      }
      __syncthreads();
    }
  }
#define NCC_SORT(name, is_descending, is_striped)                                                  \
  NCC_MEMBER void name(Key (&key)[n], int begin = 0, int end = 8 * sizeof(Key)) {                  \
    ncc_sort(key, nullptr, begin, end, is_descending, is_striped);                                 \
  }                                                                                                \
  NCC_MEMBER void name(Key (&key)[n], Value (&value)[n], int begin = 0, int end = 8 * sizeof(Key)) { \
    ncc_sort(key, value, begin, end, is_descending, is_striped);                                   \
  }
  NCC_SORT(Sort, false, false)
  NCC_SORT(SortDescending, true, false)
  NCC_SORT(SortBlockedToStriped, false, true)
  NCC_SORT(SortDescendingBlockedToStriped, true, true)
#undef NCC_SORT
};
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
template <typename T, int x, int n, int bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int y = 1, int z = 1, int = 0>
struct BlockHistogram {
  struct TempStorage { T words[1]; };
  NCC_MEMBER BlockHistogram(TempStorage &) {}
  template <typename Count>
  NCC_MEMBER void InitHistogram(Count counts[bins]) {
    for (int i = ncc_thread(); i < bins; i += x * y * z) counts[i] = 0;
  }
  template <typename Count>
  NCC_MEMBER void Composite(T (&v)[n], Count counts[bins]) {
    for (int i = 0; i < n; i++) atomicAdd(counts + v[i], 1);
  }
  template <typename Count>
  NCC_MEMBER void Histogram(T (&v)[n], Count counts[bins]) {
    InitHistogram(counts);
    __syncthreads();
    Composite(v, counts);
  }
};
template <typename T, int x, int y = 1, int z = 1, int = 0>
struct BlockDiscontinuity {
  struct TempStorage { T words[x * y * z]; };
  TempStorage &storage;
  NCC_MEMBER BlockDiscontinuity(TempStorage &storage) : storage(storage) {}
  template <typename F, int n, typename O>
  NCC_MEMBER void FlagHeads(F (&flags)[n], T (&v)[n], O differ) {
    storage.words[ncc_thread()] = v[n - 1];
    __syncthreads();
    flags[0] = ncc_thread() ? differ(storage.words[ncc_thread() - 1], v[0]) : true;
    for (int i = 1; i < n; i++) flags[i] = differ(v[i - 1], v[i]);
  }
  template <typename F, int n, typename O>
  NCC_MEMBER void FlagTails(F (&flags)[n], T (&v)[n], O differ) {
    storage.words[ncc_thread()] = v[0];
    __syncthreads();
    for (int i = 0; i + 1 < n; i++) flags[i] = differ(v[i], v[i + 1]);
    flags[n - 1] = ncc_thread() + 1 < x * y * z ? differ(v[n - 1], storage.words[ncc_thread() + 1]) : true;
  }
};
}
#endif
