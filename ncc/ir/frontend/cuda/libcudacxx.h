/* What libcu++ adds to std's own names: atomics of a scope, barriers, pipelines of copies to shared memory. */
#ifndef NCC_CUDA_LIBCUDACXX_H
#define NCC_CUDA_LIBCUDACXX_H
#include "prelude.h"
#include "cooperative_groups.h"
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

/* A copy by the block's threads, or by one of them; the processor may go on meanwhile. */
NCC_DEVICE void __pipeline_memcpy_async(void *to, const void *from, __SIZE_TYPE__ bytes, __SIZE_TYPE__ zeros = 0) {
  memcpy(to, from, bytes - zeros);
}
NCC_DEVICE void __pipeline_commit() {}
NCC_DEVICE void __pipeline_wait_prior(unsigned int) { __threadfence_block(); }

namespace cuda {
namespace std {
using namespace ::std;
}
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

#define NCC_ORDER memory_order = memory_order_seq_cst
#define NCC_ATOMIC(qualifier)                                                                      \
  NCC_MEMBER T load(NCC_ORDER) const { return __atomic_load_n(ncc_place(), __ATOMIC_SEQ_CST); }    \
  NCC_MEMBER void store(T v, NCC_ORDER) qualifier { __atomic_store_n(ncc_place(), v, __ATOMIC_SEQ_CST); } \
  NCC_MEMBER bool compare_exchange_strong(T &expected, T v, NCC_ORDER, NCC_ORDER) qualifier {      \
    return __atomic_compare_exchange_n(ncc_place(), &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                \
  NCC_MEMBER bool compare_exchange_weak(T &expected, T v, NCC_ORDER, NCC_ORDER) qualifier {        \
    return compare_exchange_strong(expected, v);                                                   \
  }                                                                                                \
  NCC_FETCH(exchange, qualifier, __atomic_exchange_n(ncc_place(), v, __ATOMIC_SEQ_CST))            \
  NCC_FETCH(fetch_add, qualifier, atomicAdd(ncc_place(), v))                                       \
  NCC_FETCH(fetch_sub, qualifier, atomicAdd(ncc_place(), static_cast<T>(-v)))                      \
  NCC_FETCH(fetch_and, qualifier, __atomic_fetch_and(ncc_place(), v, __ATOMIC_SEQ_CST))            \
  NCC_FETCH(fetch_or, qualifier, __atomic_fetch_or(ncc_place(), v, __ATOMIC_SEQ_CST))              \
  NCC_FETCH(fetch_xor, qualifier, __atomic_fetch_xor(ncc_place(), v, __ATOMIC_SEQ_CST))            \
  NCC_FETCH(fetch_max, qualifier, __atomic_fetch_max(ncc_place(), v, __ATOMIC_SEQ_CST))            \
  NCC_FETCH(fetch_min, qualifier, __atomic_fetch_min(ncc_place(), v, __ATOMIC_SEQ_CST))            \
  NCC_MEMBER T operator++(int) qualifier { return fetch_add(1); }                                  \
  NCC_MEMBER T operator++() qualifier { return fetch_add(1) + 1; }                                 \
  NCC_MEMBER T operator--(int) qualifier { return fetch_sub(1); }                                  \
  NCC_MEMBER T operator--() qualifier { return fetch_sub(1) - 1; }                                 \
  NCC_MEMBER T operator+=(T v) qualifier { return fetch_add(v) + v; }                              \
  NCC_MEMBER T operator-=(T v) qualifier { return fetch_sub(v) - v; }                              \
  NCC_MEMBER T operator=(T v) qualifier { return store(v), v; }                                    \
  NCC_MEMBER operator T() const { return load(); }                                                 \
  NCC_MEMBER void wait(T old, NCC_ORDER) const {                                                   \
    while (load() == old) {}                                                                       \
  }                                                                                                \
  NCC_MEMBER void notify_one() const {}                                                            \
  NCC_MEMBER void notify_all() const {}
#define NCC_FETCH(name, qualifier, result) \
  NCC_MEMBER T name(T v, NCC_ORDER) qualifier { return result; }
template <typename T, thread_scope = thread_scope_system>
struct atomic_ref {
  T *own;
  NCC_MEMBER explicit atomic_ref(T &v) : own(&v) {}
  NCC_MEMBER T *ncc_place() const { return own; }
  NCC_ATOMIC(const)
};
template <typename T, thread_scope = thread_scope_system>
struct atomic {
  T own;
  atomic() = default;
  __host__ __device__ constexpr atomic(T v) : own(v) {}
  NCC_MEMBER T *ncc_place() { return &own; }
  NCC_MEMBER const T *ncc_place() const { return &own; }
  NCC_ATOMIC()
};
#undef NCC_ATOMIC
#undef NCC_FETCH
#undef NCC_ORDER
NCC_DEVICE void atomic_thread_fence(memory_order, thread_scope = thread_scope_system) { __threadfence(); }

template <thread_scope = thread_scope_system>
struct barrier {
  unsigned long long own;
  typedef unsigned long long arrival_token;
  NCC_MEMBER arrival_token arrive(int n = 1) { return atomicAdd(&own, static_cast<unsigned long long>(n)); }
  NCC_MEMBER void wait(arrival_token) const { __syncthreads(); }
  NCC_MEMBER void arrive_and_wait() { wait(arrive()); }
  NCC_MEMBER void arrive_and_drop() { arrive(); }
};
template <thread_scope scope>
NCC_DEVICE void init(barrier<scope> *one, int n) { one->own = n; }

template <int alignment>
struct aligned_size_t {
  __SIZE_TYPE__ value;
  __host__ __device__ explicit aligned_size_t(__SIZE_TYPE__ value) : value(value) {}
  __host__ __device__ operator __SIZE_TYPE__() const { return value; }
};
template <thread_scope, unsigned char stages>
struct pipeline_shared_state { unsigned long long own[stages]; };
enum class pipeline_role { producer, consumer };
template <thread_scope = thread_scope_thread>
struct pipeline {
  NCC_MEMBER void producer_acquire() {}
  NCC_MEMBER void producer_commit() { __pipeline_commit(); }
  NCC_MEMBER void consumer_wait() { __syncthreads(); }
  NCC_MEMBER void consumer_release() { __syncthreads(); }
  NCC_MEMBER bool quit() { return true; }
};
NCC_DEVICE pipeline<> make_pipeline() { return pipeline<>(); }
template <typename Group, typename State, typename... Rest>
NCC_DEVICE pipeline<thread_scope_block> make_pipeline(const Group &, State *, Rest...) {
  return pipeline<thread_scope_block>();
}
template <int prior, thread_scope scope>
NCC_DEVICE void pipeline_consumer_wait_prior(pipeline<scope> &) { __pipeline_wait_prior(prior); }
template <typename T, typename Size, typename Sync>
NCC_DEVICE void memcpy_async(T *to, const T *from, Size bytes, Sync &&) { memcpy(to, from, bytes); }
template <typename Group, typename T, typename Size, typename Sync>
NCC_DEVICE void memcpy_async(const Group &group, T *to, const T *from, Size bytes, Sync &&) {
  cooperative_groups::memcpy_async(group, to, from, static_cast<__SIZE_TYPE__>(bytes));
}
template <typename T = void>
struct maximum {
  template <typename V>
  __host__ __device__ V operator()(V x, V y) const { return x < y ? y : x; }
};
template <typename T = void>
struct minimum {
  template <typename V>
  __host__ __device__ V operator()(V x, V y) const { return y < x ? y : x; }
};
template <typename T, typename U>
__host__ __device__ constexpr T ceil_div(T x, U y) { return (x + y - 1) / y; }
}
#endif
