/* Function and variable specifiers (CUDA C++ Programming Guide 7.1, 7.2) as clang's attributes. */
#ifndef NCC_CUDA_ATTRIBUTES_H
#define NCC_CUDA_ATTRIBUTES_H

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)
#define __grid_constant__
#define __cluster_dims__(...)
#define __block_size__(...)
/* clang has __noinline__ as a keyword since 15; as a macro it would break the C++ library's attributes. */

#define NCC_DEVICE static __inline__ __attribute__((device, always_inline))
#define NCC_BOTH static __inline__ __attribute__((host, device, always_inline))
#define NCC_MEMBER __inline__ __attribute__((device, always_inline))

/* Of these our headers have their own: those of a toolkit, which others of its headers include, would clash. */
#define __HOST_DEFINES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __DEVICE_TYPES_H__
#define __DRIVER_TYPES_H__
#define __DRIVER_FUNCTIONS_H__
#define __BUILTIN_TYPES_H__
#define __TEXTURE_TYPES_H__
#define __SURFACE_TYPES_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__
#define CUDARTAPI
#define CUDART_CB
#define __cudart_builtin__
#define __CUDART_API_VERSION 12000

#define CUDART_VERSION 12000
#define CUDA_VERSION 12000
#define __CUDACC__ 1

#endif
