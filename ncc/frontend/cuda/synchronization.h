/* Barriers, fences, atomics, warp votes and shuffles (CUDA C++ Programming Guide 7.5 to 7.22). */
#ifndef NCC_CUDA_SYNCHRONIZATION_H
#define NCC_CUDA_SYNCHRONIZATION_H

/* clang has __syncthreads itself. */
NCC_DEVICE int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
NCC_DEVICE int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
NCC_DEVICE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
NCC_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
NCC_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
NCC_DEVICE void __threadfence() { __nvvm_membar_gl(); }
NCC_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

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
NCC_ATOMIC_INTEGER(unsigned int)
NCC_ATOMIC_INTEGER(long long)
NCC_ATOMIC_INTEGER(unsigned long long)

#undef NCC_ATOMIC_INTEGER

NCC_DEVICE float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
NCC_DEVICE double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
NCC_DEVICE float atomicExch(float *p, float v) {
  return __builtin_bit_cast(float, atomicExch((int *)p, __builtin_bit_cast(int, v)));
}
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
  }

NCC_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 0x1f)
NCC_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned int, 0)
NCC_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned int, 0x1f)
NCC_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 0x1f)

#undef NCC_SHUFFLE
#undef NCC_SHUFFLE_OF
#undef NCC_INT
#undef NCC_UINT
#undef NCC_FLOAT

template <typename T>
NCC_DEVICE T __ldg(const T *p) {
  return *p;
}
NCC_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
NCC_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }

extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ void *malloc(__SIZE_TYPE__ bytes);
extern "C" __device__ void free(void *p);
extern "C" __device__ __attribute__((noreturn)) void __assert_fail(const char *text, const char *file,
                                                                   unsigned int line, const char *function);

#endif
