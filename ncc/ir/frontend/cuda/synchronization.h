/* Barriers, fences, atomics, warp votes and shuffles (CUDA C++ Programming Guide 7.5 to 7.22). */
#ifndef NCC_CUDA_SYNCHRONIZATION_H
#define NCC_CUDA_SYNCHRONIZATION_H

/* clang has __syncthreads itself. */
NCC_DEVICE int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
NCC_DEVICE int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
NCC_DEVICE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
NCC_DEVICE void __barrier_sync_count(unsigned int barrier, unsigned int threads) { __nvvm_barrier_sync_cnt(barrier, threads); }
NCC_DEVICE void __barrier_sync(unsigned int barrier) { __nvvm_barrier_sync(barrier); }
NCC_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
NCC_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
NCC_DEVICE void __threadfence() { __nvvm_membar_gl(); }
NCC_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

NCC_DEVICE void __cluster_barrier_arrive() { __threadfence(); }
NCC_DEVICE void __cluster_barrier_arrive_relaxed() {}
NCC_DEVICE void __cluster_barrier_wait() { __syncthreads(); }
NCC_DEVICE void cudaGridDependencySynchronize() { __threadfence(); }
NCC_DEVICE void cudaTriggerProgrammaticLaunchCompletion() {}

/* Each gives the old value. The order is the one that clang gives CUDA's atomics with a toolkit. */
#define NCC_ATOMIC_INTEGER(type)                                                                          \
  NCC_DEVICE type atomicAdd(type *p, type v) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }       \
  NCC_DEVICE type atomicSub(type *p, type v) { return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST); }       \
  NCC_DEVICE type atomicMin(type *p, type v) { return __atomic_fetch_min(p, v, __ATOMIC_SEQ_CST); }       \
  NCC_DEVICE type atomicMax(type *p, type v) { return __atomic_fetch_max(p, v, __ATOMIC_SEQ_CST); }       \
  NCC_DEVICE type atomicAnd(type *p, type v) { return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST); }       \
  NCC_DEVICE type atomicOr(type *p, type v) { return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST); }         \
  NCC_DEVICE type atomicXor(type *p, type v) { return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST); }       \
  NCC_DEVICE type atomicExch(type *p, type v) { return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); }     \
  NCC_DEVICE type atomicCAS(type *p, type expected, type v) {                                             \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
    return expected;                                                                                      \
  }

NCC_ATOMIC_INTEGER(int)
NCC_ATOMIC_INTEGER(long)
NCC_ATOMIC_INTEGER(unsigned long)
NCC_ATOMIC_INTEGER(unsigned int)
NCC_ATOMIC_INTEGER(long long)
NCC_ATOMIC_INTEGER(unsigned long long)

#undef NCC_ATOMIC_INTEGER

NCC_DEVICE float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
NCC_DEVICE double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
NCC_DEVICE float atomicExch(float *p, float v) {
  return __builtin_bit_cast(float, atomicExch((int *)p, __builtin_bit_cast(int, v)));
}
NCC_DEVICE double atomicExch(double *p, double v) {
  return __builtin_bit_cast(double, atomicExch((long long *)p, __builtin_bit_cast(long long, v)));
}
NCC_DEVICE unsigned short atomicCAS(unsigned short *p, unsigned short expected, unsigned short v) {
  __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
/* Of the block's, or of all processors' threads: the same work. */
#define NCC_SCOPED(name)                                                                                   \
  template <typename T, typename... V>                                                                    \
  NCC_DEVICE T name##_block(T *p, V... v) { return name(p, static_cast<T>(v)...); }                       \
  template <typename T, typename... V>                                                                    \
  NCC_DEVICE T name##_system(T *p, V... v) { return name(p, static_cast<T>(v)...); }
NCC_SCOPED(atomicAdd)
NCC_SCOPED(atomicSub)
NCC_SCOPED(atomicMin)
NCC_SCOPED(atomicMax)
NCC_SCOPED(atomicAnd)
NCC_SCOPED(atomicOr)
NCC_SCOPED(atomicXor)
NCC_SCOPED(atomicExch)
NCC_SCOPED(atomicCAS)
#undef NCC_SCOPED
NCC_DEVICE unsigned int atomicInc(unsigned int *p, unsigned int v) { return __nvvm_atom_inc_gen_ui(p, v); }
NCC_DEVICE unsigned int atomicDec(unsigned int *p, unsigned int v) { return __nvvm_atom_dec_gen_ui(p, v); }

NCC_DEVICE int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
NCC_DEVICE int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
NCC_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
NCC_DEVICE unsigned int __activemask() {
  unsigned int mask;
  __asm__ volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}

/* The last argument of the instruction packs the segment's mask (bits 8 to 12) and the lane's bound. */
#define NCC_SHUFFLE_OF(name, builtin, argument, bound, type, as, from)                                    \
  NCC_DEVICE type name(unsigned int mask, type v, argument lane, int width = warpSize) {                  \
    return from(builtin(mask, as(v), static_cast<int>(lane), ((warpSize - width) << 8) | bound));         \
  }
#define NCC_INT(x) __builtin_bit_cast(int, x)
#define NCC_UINT(x) __builtin_bit_cast(unsigned int, x)
#define NCC_FLOAT(x) __builtin_bit_cast(float, x)
#define NCC_SHUFFLE(name, builtin, argument, bound)                                                       \
  NCC_SHUFFLE_OF(name, builtin, argument, bound, int, NCC_INT, NCC_INT)                                   \
  NCC_SHUFFLE_OF(name, builtin, argument, bound, unsigned int, NCC_INT, NCC_UINT)                         \
  NCC_SHUFFLE_OF(name, builtin, argument, bound, float, NCC_INT, NCC_FLOAT)                               \
  NCC_DEVICE double name(unsigned int mask, double v, argument lane, int width = warpSize) {              \
    const uint2 halves = __builtin_bit_cast(uint2, v);                                                    \
    const uint2 moved{name(mask, halves.x, lane, width), name(mask, halves.y, lane, width)};              \
    return __builtin_bit_cast(double, moved);                                                             \
  }                                                                                                       \
  NCC_SHUFFLE_WIDE(name, argument, long long)                                                             \
  NCC_SHUFFLE_WIDE(name, argument, unsigned long long)                                                    \
  NCC_SHUFFLE_WIDE(name, argument, long)                                                                  \
  NCC_SHUFFLE_WIDE(name, argument, unsigned long)
#define NCC_SHUFFLE_WIDE(name, argument, type)                                                            \
  NCC_DEVICE type name(unsigned int mask, type v, argument lane, int width = warpSize) {                  \
    return static_cast<type>(__builtin_bit_cast(                                                          \
        long long, name(mask, __builtin_bit_cast(double, static_cast<long long>(v)), lane, width)));      \
  }

NCC_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 0x1f)
NCC_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned int, 0)
NCC_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned int, 0x1f)
NCC_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 0x1f)

#undef NCC_SHUFFLE
#undef NCC_SHUFFLE_WIDE
#undef NCC_SHUFFLE_OF
#undef NCC_INT
#undef NCC_UINT
#undef NCC_FLOAT

/* The forms of old, for all threads of the warp. */
#define NCC_WHOLE_WARP(name, argument)                                                                    \
  template <typename T>                                                                                   \
  NCC_DEVICE T name(T v, argument lane, int width = warpSize) {                                           \
    return name##_sync(0xffffffffu, v, lane, width);                                                      \
  }
NCC_WHOLE_WARP(__shfl, int)
NCC_WHOLE_WARP(__shfl_up, unsigned int)
NCC_WHOLE_WARP(__shfl_down, unsigned int)
NCC_WHOLE_WARP(__shfl_xor, int)
#undef NCC_WHOLE_WARP
NCC_DEVICE int __all(int predicate) { return __all_sync(0xffffffffu, predicate); }
NCC_DEVICE int __any(int predicate) { return __any_sync(0xffffffffu, predicate); }
NCC_DEVICE unsigned int __ballot(int predicate) { return __ballot_sync(0xffffffffu, predicate); }
template <typename T>
NCC_DEVICE unsigned int __match_any_sync(unsigned int mask, T v) {
  return __nvvm_match_any_sync_i64(mask, static_cast<long long>(v));
}
template <typename T>
NCC_DEVICE unsigned int __match_all_sync(unsigned int mask, T v, int *is_same) {
  *is_same = __match_any_sync(mask, v) == mask;
  return *is_same ? mask : 0;
}
/* A tree of shuffles, as on processors that have no instruction for it. */
#define NCC_REDUCE(name, type, both)                                                                      \
  NCC_DEVICE type name(unsigned int mask, type v) {                                                       \
    for (int lanes = 16; lanes; lanes /= 2) {                                                             \
      const type other = __shfl_xor_sync(mask, v, lanes);                                                 \
      v = both;                                                                                           \
    }                                                                                                     \
    return v;                                                                                             \
  }
#define NCC_REDUCES(type)                                                                                 \
  NCC_REDUCE(__reduce_add_sync, type, v + other)                                                          \
  NCC_REDUCE(__reduce_min_sync, type, other < v ? other : v)                                              \
  NCC_REDUCE(__reduce_max_sync, type, v < other ? other : v)
NCC_REDUCES(int)
NCC_REDUCES(unsigned int)
NCC_REDUCE(__reduce_and_sync, unsigned int, v &other)
NCC_REDUCE(__reduce_or_sync, unsigned int, v | other)
NCC_REDUCE(__reduce_xor_sync, unsigned int, v ^ other)
#undef NCC_REDUCE
#undef NCC_REDUCES

/* Loads and stores with a hint for the cache. */
#define NCC_HINTED(suffix)                                                                                \
  template <typename T>                                                                                   \
  NCC_DEVICE T __ld##suffix(const T *p) { return *p; }
NCC_HINTED(g)
NCC_HINTED(ca)
NCC_HINTED(cg)
NCC_HINTED(cs)
NCC_HINTED(cv)
NCC_HINTED(lu)
#undef NCC_HINTED
#define NCC_HINTED(suffix)                                                                                \
  template <typename T, typename V>                                                                       \
  NCC_DEVICE void __st##suffix(T *p, V v) { *p = v; }
NCC_HINTED(wb)
NCC_HINTED(cg)
NCC_HINTED(cs)
NCC_HINTED(wt)
#undef NCC_HINTED
NCC_DEVICE void __nanosleep(unsigned int) {}
NCC_DEVICE void __trap() { __builtin_trap(); }
NCC_DEVICE unsigned int __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
NCC_DEVICE unsigned int __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
NCC_DEVICE unsigned int __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
NCC_DEVICE unsigned int __isLocal(const void *p) { return __nvvm_isspacep_local(p); }
NCC_DEVICE unsigned int __isGridConstant(const void *) { return 0; }
#define NCC_CONVERTED(space)                                                                     \
  NCC_DEVICE __SIZE_TYPE__ __cvta_generic_to_##space(const void *p) { return (__SIZE_TYPE__)p; } \
  NCC_DEVICE void *__cvta_##space##_to_generic(__SIZE_TYPE__ p) { return (void *)p; }
NCC_CONVERTED(shared)
NCC_CONVERTED(global)
NCC_CONVERTED(local)
NCC_CONVERTED(constant)
#undef NCC_CONVERTED
NCC_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
NCC_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }

extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ void *malloc(__SIZE_TYPE__ bytes);
extern "C" __device__ void *memcpy(void *to, const void *from, __SIZE_TYPE__ bytes);
extern "C" __device__ void *memmove(void *to, const void *from, __SIZE_TYPE__ bytes);
extern "C" __device__ void *memset(void *to, int value, __SIZE_TYPE__ bytes);
extern "C" __device__ int memcmp(const void *x, const void *y, __SIZE_TYPE__ bytes);
extern "C" __device__ __SIZE_TYPE__ strlen(const char *s);
extern "C" __device__ void free(void *p);
extern "C" __device__ __attribute__((noreturn)) void __assert_fail(const char *text, const char *file,
                                                                   unsigned int line, const char *function);

#endif
