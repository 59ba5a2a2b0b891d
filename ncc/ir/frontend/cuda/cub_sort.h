/* What CUB gives the threads of a block to exchange, sort and count items. */
#ifndef NCC_CUDA_CUB_SORT_H
#define NCC_CUDA_CUB_SORT_H
#include "cub.h"

namespace cub {
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
