/* The runtime API as host code calls it: declared, so that a .cu file with a main() compiles.
 * Host functions are only parsed; none of their code reaches the IR of the device. */
#ifndef NCC_CUDA_HOST_H
#define NCC_CUDA_HOST_H

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600,
  cudaErrorUnknown = 999
} cudaError_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };

struct cudaDeviceProp {
  char name[256];
  __SIZE_TYPE__ totalGlobalMem, sharedMemPerBlock, totalConstMem;
  int major, minor, regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int clockRate, multiProcessorCount, maxThreadsPerMultiProcessor, memoryClockRate, memoryBusWidth, l2CacheSize;
  int computeMode, concurrentKernels, canMapHostMemory, integrated, ECCEnabled, deviceOverlap;
};

enum {
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4,
  cudaEventDefault = 0,
  cudaEventDisableTiming = 2,
  cudaStreamNonBlocking = 1,
  cudaMemAttachGlobal = 1
};

extern "C" {
/* A launch, kernel<<<grid, block>>>(...), becomes a call of one of these two, by the toolkit's version. */
int cudaConfigureCall(dim3 grid, dim3 block, __SIZE_TYPE__ shared_bytes = 0, cudaStream_t stream = 0);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, __SIZE_TYPE__ shared_bytes = 0, void *stream = 0);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             __SIZE_TYPE__ shared_bytes, cudaStream_t stream);

const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

cudaError_t cudaMalloc(void **p, __SIZE_TYPE__ bytes);
cudaError_t cudaMallocHost(void **p, __SIZE_TYPE__ bytes);
cudaError_t cudaMallocManaged(void **p, __SIZE_TYPE__ bytes, unsigned int flags = cudaMemAttachGlobal);
cudaError_t cudaMallocPitch(void **p, __SIZE_TYPE__ *pitch, __SIZE_TYPE__ width, __SIZE_TYPE__ height);
cudaError_t cudaHostAlloc(void **p, __SIZE_TYPE__ bytes, unsigned int flags);
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemGetInfo(__SIZE_TYPE__ *free_bytes, __SIZE_TYPE__ *total_bytes);
cudaError_t cudaMemset(void *p, int value, __SIZE_TYPE__ bytes);
cudaError_t cudaMemsetAsync(void *p, int value, __SIZE_TYPE__ bytes, cudaStream_t stream = 0);
cudaError_t cudaMemcpy(void *to, const void *from, __SIZE_TYPE__ bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, __SIZE_TYPE__ bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = 0);
cudaError_t cudaMemcpy2D(void *to, __SIZE_TYPE__ to_pitch, const void *from, __SIZE_TYPE__ from_pitch,
                         __SIZE_TYPE__ width, __SIZE_TYPE__ height, cudaMemcpyKind kind);

cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaThreadExit(void);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop);
}

/* The C++ forms that take a typed pointer, a symbol or a kernel. */
template <typename T>
cudaError_t cudaMalloc(T **p, __SIZE_TYPE__ bytes);
template <typename T>
cudaError_t cudaMallocHost(T **p, __SIZE_TYPE__ bytes);
template <typename T>
cudaError_t cudaMallocManaged(T **p, __SIZE_TYPE__ bytes, unsigned int flags = cudaMemAttachGlobal);
template <typename T>
cudaError_t cudaMallocPitch(T **p, __SIZE_TYPE__ *pitch, __SIZE_TYPE__ width, __SIZE_TYPE__ height);
template <typename T>
cudaError_t cudaHostAlloc(T **p, __SIZE_TYPE__ bytes, unsigned int flags);
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, __SIZE_TYPE__ bytes, __SIZE_TYPE__ offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice);
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, __SIZE_TYPE__ bytes, __SIZE_TYPE__ offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
template <typename T>
cudaError_t cudaGetSymbolAddress(void **p, const T &symbol);
template <typename T>
cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config);
template <typename T>
cudaError_t cudaLaunchKernel(const T *kernel, dim3 grid, dim3 block, void **arguments,
                             __SIZE_TYPE__ shared_bytes = 0, cudaStream_t stream = 0);

#endif
