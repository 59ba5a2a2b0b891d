/* Scalar and vector types (OpenCL C 6.3.1, 6.3.2) and the types of atomics, events and queues (6.3.3). */
#ifndef NCC_OPENCL_TYPES_H
#define NCC_OPENCL_TYPES_H

/* Versions before 1.2 ask for these by name; kernels in the wild often forget to. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;

#define NCC_VECTOR(type, width) typedef type type##width __attribute__((ext_vector_type(width)))
#define NCC_VECTORS(type) \
  NCC_VECTOR(type, 2);    \
  NCC_VECTOR(type, 3);    \
  NCC_VECTOR(type, 4);    \
  NCC_VECTOR(type, 8);    \
  NCC_VECTOR(type, 16)

NCC_VECTORS(char);
NCC_VECTORS(uchar);
NCC_VECTORS(short);
NCC_VECTORS(ushort);
NCC_VECTORS(int);
NCC_VECTORS(uint);
NCC_VECTORS(long);
NCC_VECTORS(ulong);
NCC_VECTORS(float);
#ifdef cl_khr_fp64
NCC_VECTORS(double);
#endif
#ifdef cl_khr_fp16
NCC_VECTORS(half);
#endif

#undef NCC_VECTORS
#undef NCC_VECTOR

typedef uint cl_mem_fence_flags;

/* clang looks these names up when it declares the atomic functions, in every version of the language. */
typedef enum memory_scope {
  memory_scope_work_item = __OPENCL_MEMORY_SCOPE_WORK_ITEM,
  memory_scope_work_group = __OPENCL_MEMORY_SCOPE_WORK_GROUP,
  memory_scope_device = __OPENCL_MEMORY_SCOPE_DEVICE,
  memory_scope_all_svm_devices = __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES,
  memory_scope_all_devices = memory_scope_all_svm_devices,
  memory_scope_sub_group = __OPENCL_MEMORY_SCOPE_SUB_GROUP
} memory_scope;

typedef enum memory_order {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
} memory_order;

typedef uint kernel_enqueue_flags_t;
typedef uint clk_profiling_info;

#if __OPENCL_C_VERSION__ >= 200
/* 6.15.18: an opaque description of an index space; device enqueue takes it by value. */
typedef struct ndrange_t {
  uint workDimension;
  size_t globalWorkOffset[3];
  size_t globalWorkSize[3];
  size_t localWorkSize[3];
} ndrange_t;
#endif

#endif
