/* The runtime API as host code calls it: declared, so that a .cu file with a main() compiles.
 * Host functions are only parsed; none of their code reaches the IR of the device. */
#ifndef NCC_CUDA_HOST_H
#define NCC_CUDA_HOST_H

typedef struct CUstream_st *cudaStream_t;
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef void (*cudaHostFn_t)(void *data);

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorCudartUnloading = 4,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidTexture = 18,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidKernelImage = 200,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorECCUncorrectable = 214,
  cudaErrorInvalidPtx = 218,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorSymbolNotFound = 500,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchTimeout = 702,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorPeerAccessNotEnabled = 705,
  cudaErrorAssert = 710,
  cudaErrorHostMemoryAlreadyRegistered = 712,
  cudaErrorHostMemoryNotRegistered = 713,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorNotPermitted = 800,
  cudaErrorNotSupported = 801,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorUnknown = 999
} cudaError_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };

typedef enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore,
  cudaLaunchAttributeAccessPolicyWindow,
  cudaLaunchAttributeCooperative,
  cudaLaunchAttributeSynchronizationPolicy,
  cudaLaunchAttributeClusterDimension,
  cudaLaunchAttributeClusterSchedulingPolicyPreference,
  cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaLaunchAttributeProgrammaticEvent,
  cudaLaunchAttributePriority
} cudaLaunchAttributeID;
typedef union cudaLaunchAttributeValue {
  struct { unsigned int x, y, z; } clusterDim;
  int cooperative, programmaticStreamSerializationAllowed, priority;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute_st {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
  dim3 gridDim, blockDim;
  __SIZE_TYPE__ dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned int numAttrs;
} cudaLaunchConfig_t;
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrClusterLaunch = 120
};
struct cudaFuncAttributes {
  __SIZE_TYPE__ sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 13
};

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
cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags);
template <typename T>
cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config);
template <typename T>
cudaError_t cudaLaunchKernel(const T *kernel, dim3 grid, dim3 block, void **arguments,
                             __SIZE_TYPE__ shared_bytes = 0, cudaStream_t stream = 0);

/* The other calls, with whatever arguments. */
#define NCC_CALLS(CALL) \
  CALL(cudaStreamQuery) CALL(cudaStreamCreateWithPriority) CALL(cudaStreamGetPriority) CALL(cudaStreamGetFlags) \
  CALL(cudaStreamAddCallback) CALL(cudaStreamAttachMemAsync) CALL(cudaStreamBeginCapture) \
  CALL(cudaStreamEndCapture) CALL(cudaStreamIsCapturing) CALL(cudaStreamGetCaptureInfo) \
  CALL(cudaStreamCopyAttributes) CALL(cudaStreamGetAttribute) CALL(cudaStreamSetAttribute) \
  CALL(cudaStreamUpdateCaptureDependencies) CALL(cudaThreadExchangeStreamCaptureMode) CALL(cudaEventQuery) \
  CALL(cudaEventRecordWithFlags) CALL(cudaLaunchHostFunc) CALL(cudaLaunchCooperativeKernel) \
  CALL(cudaLaunchKernelExC) CALL(cudaLaunchKernelEx) CALL(cudaDriverGetVersion) CALL(cudaRuntimeGetVersion) \
  CALL(cudaChooseDevice) CALL(cudaDeviceGetAttribute) CALL(cudaDeviceGetByPCIBusId) CALL(cudaDeviceGetPCIBusId) \
  CALL(cudaDeviceGetCacheConfig) CALL(cudaDeviceGetLimit) CALL(cudaDeviceSetLimit) \
  CALL(cudaDeviceGetSharedMemConfig) CALL(cudaDeviceSetSharedMemConfig) CALL(cudaDeviceGetStreamPriorityRange) \
  CALL(cudaDeviceGetP2PAttribute) CALL(cudaDeviceCanAccessPeer) CALL(cudaDeviceEnablePeerAccess) \
  CALL(cudaDeviceDisablePeerAccess) CALL(cudaDeviceGetDefaultMemPool) CALL(cudaDeviceGetMemPool) \
  CALL(cudaDeviceSetMemPool) CALL(cudaDeviceGraphMemTrim) CALL(cudaGetDeviceFlags) CALL(cudaSetDeviceFlags) \
  CALL(cudaSetValidDevices) CALL(cudaInitDevice) CALL(cudaProfilerStart) CALL(cudaProfilerStop) \
  CALL(cudaProfilerInitialize) CALL(cudaFuncGetAttributes) CALL(cudaFuncSetAttribute) \
  CALL(cudaFuncSetSharedMemConfig) CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor) \
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) CALL(cudaOccupancyMaxPotentialBlockSize) \
  CALL(cudaOccupancyMaxPotentialBlockSizeWithFlags) CALL(cudaOccupancyMaxPotentialBlockSizeVariableSMem) \
  CALL(cudaOccupancyAvailableDynamicSMemPerBlock) CALL(cudaOccupancyMaxActiveClusters) \
  CALL(cudaOccupancyMaxPotentialClusterSize) CALL(cudaMallocAsync) CALL(cudaFreeAsync) \
  CALL(cudaMallocFromPoolAsync) CALL(cudaMemPoolCreate) CALL(cudaMemPoolDestroy) CALL(cudaMemPoolGetAttribute) \
  CALL(cudaMemPoolSetAttribute) CALL(cudaMemPoolSetAccess) CALL(cudaMemPoolTrimTo) CALL(cudaMalloc3D) \
  CALL(cudaMallocArray) CALL(cudaMalloc3DArray) CALL(cudaMallocMipmappedArray) CALL(cudaFreeArray) \
  CALL(cudaFreeMipmappedArray) CALL(cudaArrayGetInfo) CALL(cudaGetMipmappedArrayLevel) \
  CALL(cudaHostGetDevicePointer) CALL(cudaHostGetFlags) CALL(cudaHostRegister) CALL(cudaHostUnregister) \
  CALL(cudaPointerGetAttributes) CALL(cudaMemAdvise) CALL(cudaMemPrefetchAsync) CALL(cudaMemRangeGetAttribute) \
  CALL(cudaMemset2D) CALL(cudaMemset2DAsync) CALL(cudaMemset3D) CALL(cudaMemset3DAsync) CALL(cudaMemcpy2DAsync) \
  CALL(cudaMemcpy2DToArray) CALL(cudaMemcpy2DToArrayAsync) CALL(cudaMemcpy2DFromArray) \
  CALL(cudaMemcpy2DFromArrayAsync) CALL(cudaMemcpy2DArrayToArray) CALL(cudaMemcpy3D) CALL(cudaMemcpy3DAsync) \
  CALL(cudaMemcpy3DPeer) CALL(cudaMemcpyPeer) CALL(cudaMemcpyPeerAsync) CALL(cudaMemcpyToArray) \
  CALL(cudaMemcpyToArrayAsync) CALL(cudaMemcpyFromArray) CALL(cudaMemcpyFromArrayAsync) \
  CALL(cudaMemcpyArrayToArray) CALL(cudaMemcpyToSymbolAsync) CALL(cudaMemcpyFromSymbolAsync) \
  CALL(cudaGetSymbolSize) CALL(cudaCreateTextureObject) CALL(cudaDestroyTextureObject) \
  CALL(cudaGetTextureObjectResourceDesc) CALL(cudaCreateSurfaceObject) CALL(cudaDestroySurfaceObject) \
  CALL(cudaBindTexture) CALL(cudaBindTexture2D) CALL(cudaBindTextureToArray) \
  CALL(cudaBindTextureToMipmappedArray) CALL(cudaUnbindTexture) CALL(cudaGetTextureAlignmentOffset) \
  CALL(cudaGetTextureReference) CALL(cudaBindSurfaceToArray) CALL(cudaGetSurfaceReference) \
  CALL(cudaGetChannelDesc) CALL(cudaIpcGetEventHandle) CALL(cudaIpcOpenEventHandle) CALL(cudaIpcGetMemHandle) \
  CALL(cudaIpcOpenMemHandle) CALL(cudaIpcCloseMemHandle) CALL(cudaGraphicsMapResources) \
  CALL(cudaGraphicsUnmapResources) CALL(cudaGraphicsResourceGetMappedPointer) \
  CALL(cudaGraphicsSubResourceGetMappedArray) CALL(cudaGraphicsResourceSetMapFlags) \
  CALL(cudaGraphicsUnregisterResource) CALL(cudaGraphicsGLRegisterBuffer) CALL(cudaGraphicsGLRegisterImage) \
  CALL(cudaGLSetGLDevice) CALL(cudaGLRegisterBufferObject) CALL(cudaGLUnregisterBufferObject) \
  CALL(cudaGLMapBufferObject) CALL(cudaGLUnmapBufferObject) CALL(cudaGraphCreate) CALL(cudaGraphDestroy) \
  CALL(cudaGraphInstantiate) CALL(cudaGraphInstantiateWithFlags) CALL(cudaGraphLaunch) CALL(cudaGraphUpload) \
  CALL(cudaGraphExecDestroy) CALL(cudaGraphExecUpdate) CALL(cudaGraphExecKernelNodeSetParams) \
  CALL(cudaGraphAddKernelNode) CALL(cudaGraphAddMemcpyNode) CALL(cudaGraphAddMemcpyNode1D) \
  CALL(cudaGraphAddMemsetNode) CALL(cudaGraphAddHostNode) CALL(cudaGraphAddEmptyNode) \
  CALL(cudaGraphAddChildGraphNode) CALL(cudaGraphAddDependencies) CALL(cudaGraphClone) CALL(cudaGraphGetNodes) \
  CALL(cudaGraphGetRootNodes) CALL(cudaGraphGetEdges) CALL(cudaGraphKernelNodeSetParams) \
  CALL(cudaGraphKernelNodeGetParams) CALL(cudaSetupArgument) CALL(cudaLaunch) CALL(cudaThreadGetLimit) \
  CALL(cudaThreadSetLimit) CALL(cudaThreadSetCacheConfig) CALL(cudaThreadGetCacheConfig) \
  CALL(cudaCtxResetPersistingL2Cache) CALL(cudaGetDriverEntryPoint) CALL(cudaGetExportTable) \
  CALL(cudaGetFuncBySymbol)
#define NCC_CALL(name) \
  template <typename... T> \
  cudaError_t name(T &&...);
NCC_CALLS(NCC_CALL)
#undef NCC_CALL
#undef NCC_CALLS

#endif
