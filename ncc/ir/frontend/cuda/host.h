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
  cudaErrorProfilerDisabled = 5,
  cudaErrorProfilerNotInitialized = 6,
  cudaErrorProfilerAlreadyStarted = 7,
  cudaErrorProfilerAlreadyStopped = 8,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorVersionTranslation = 10,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidHostPointer = 16,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidTexture = 18,
  cudaErrorInvalidTextureBinding = 19,
  cudaErrorInvalidChannelDescriptor = 20,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorAddressOfConstant = 22,
  cudaErrorTextureFetchFailed = 23,
  cudaErrorTextureNotBound = 24,
  cudaErrorSynchronizationError = 25,
  cudaErrorInvalidFilterSetting = 26,
  cudaErrorInvalidNormSetting = 27,
  cudaErrorMixedDeviceExecution = 28,
  cudaErrorNotYetImplemented = 31,
  cudaErrorMemoryValueTooLarge = 32,
  cudaErrorStubLibrary = 34,
  cudaErrorInsufficientDriver = 35,
  cudaErrorCallRequiresNewerDriver = 36,
  cudaErrorInvalidSurface = 37,
  cudaErrorDuplicateVariableName = 43,
  cudaErrorDuplicateTextureName = 44,
  cudaErrorDuplicateSurfaceName = 45,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorIncompatibleDriverContext = 49,
  cudaErrorMissingConfiguration = 52,
  cudaErrorPriorLaunchFailure = 53,
  cudaErrorLaunchMaxDepthExceeded = 65,
  cudaErrorLaunchFileScopedTex = 66,
  cudaErrorLaunchFileScopedSurf = 67,
  cudaErrorSyncDepthExceeded = 68,
  cudaErrorLaunchPendingCountExceeded = 69,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorDeviceNotLicensed = 102,
  cudaErrorSoftwareValidityNotEstablished = 103,
  cudaErrorStartupFailure = 127,
  cudaErrorInvalidKernelImage = 200,
  cudaErrorDeviceUninitialized = 201,
  cudaErrorMapBufferObjectFailed = 205,
  cudaErrorUnmapBufferObjectFailed = 206,
  cudaErrorArrayIsMapped = 207,
  cudaErrorAlreadyMapped = 208,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorAlreadyAcquired = 210,
  cudaErrorNotMapped = 211,
  cudaErrorNotMappedAsArray = 212,
  cudaErrorNotMappedAsPointer = 213,
  cudaErrorECCUncorrectable = 214,
  cudaErrorUnsupportedLimit = 215,
  cudaErrorDeviceAlreadyInUse = 216,
  cudaErrorPeerAccessUnsupported = 217,
  cudaErrorInvalidPtx = 218,
  cudaErrorInvalidGraphicsContext = 219,
  cudaErrorNvlinkUncorrectable = 220,
  cudaErrorJitCompilerNotFound = 221,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorJitCompilationDisabled = 223,
  cudaErrorUnsupportedExecAffinity = 224,
  cudaErrorUnsupportedDevSideSync = 225,
  cudaErrorContained = 226,
  cudaErrorInsufficientLoaderVersion = 227,
  cudaErrorInvalidSource = 300,
  cudaErrorFileNotFound = 301,
  cudaErrorSharedObjectSymbolNotFound = 302,
  cudaErrorSharedObjectInitFailed = 303,
  cudaErrorOperatingSystem = 304,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalState = 401,
  cudaErrorLossyQuery = 402,
  cudaErrorSymbolNotFound = 500,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchTimeout = 702,
  cudaErrorLaunchIncompatibleTexturing = 703,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorPeerAccessNotEnabled = 705,
  cudaErrorSetOnActiveProcess = 708,
  cudaErrorContextIsDestroyed = 709,
  cudaErrorAssert = 710,
  cudaErrorTooManyPeers = 711,
  cudaErrorHostMemoryAlreadyRegistered = 712,
  cudaErrorHostMemoryNotRegistered = 713,
  cudaErrorHardwareStackError = 714,
  cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716,
  cudaErrorInvalidAddressSpace = 717,
  cudaErrorInvalidPc = 718,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorTensorMemoryLeak = 721,
  cudaErrorNotPermitted = 800,
  cudaErrorNotSupported = 801,
  cudaErrorSystemNotReady = 802,
  cudaErrorSystemDriverMismatch = 803,
  cudaErrorCompatNotSupportedOnDevice = 804,
  cudaErrorMpsConnectionFailed = 805,
  cudaErrorMpsRpcFailure = 806,
  cudaErrorMpsServerNotReady = 807,
  cudaErrorMpsMaxClientsReached = 808,
  cudaErrorMpsMaxConnectionsReached = 809,
  cudaErrorMpsClientTerminated = 810,
  cudaErrorCdpNotSupported = 811,
  cudaErrorCdpVersionMismatch = 812,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureMerge = 902,
  cudaErrorStreamCaptureUnmatched = 903,
  cudaErrorStreamCaptureUnjoined = 904,
  cudaErrorStreamCaptureIsolation = 905,
  cudaErrorStreamCaptureImplicit = 906,
  cudaErrorCapturedEvent = 907,
  cudaErrorStreamCaptureWrongThread = 908,
  cudaErrorTimeout = 909,
  cudaErrorGraphExecUpdateFailure = 910,
  cudaErrorExternalDevice = 911,
  cudaErrorInvalidClusterSize = 912,
  cudaErrorFunctionNotLoaded = 913,
  cudaErrorInvalidResourceType = 914,
  cudaErrorInvalidResourceConfiguration = 915,
  cudaErrorStreamDetached = 917,
  cudaErrorGraphRecaptureFailure = 918,
  cudaErrorFabricNotReady = 919,
  cudaErrorUnknown = 999
} cudaError_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

enum cudaMemLocationType {
  cudaMemLocationTypeInvalid,
  cudaMemLocationTypeDevice,
  cudaMemLocationTypeHost,
  cudaMemLocationTypeHostNuma,
  cudaMemLocationTypeHostNumaCurrent
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};

enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
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
  cudaDevAttrMaxPitch = 11,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrTextureAlignment = 14,
  cudaDevAttrGpuOverlap = 15,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrMaxTexture1DWidth = 21,
  cudaDevAttrMaxTexture2DWidth = 22,
  cudaDevAttrMaxTexture2DHeight = 23,
  cudaDevAttrMaxTexture3DWidth = 24,
  cudaDevAttrMaxTexture3DHeight = 25,
  cudaDevAttrMaxTexture3DDepth = 26,
  cudaDevAttrMaxTexture2DLayeredWidth = 27,
  cudaDevAttrMaxTexture2DLayeredHeight = 28,
  cudaDevAttrMaxTexture2DLayeredLayers = 29,
  cudaDevAttrSurfaceAlignment = 30,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrTccDriver = 35,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrMaxTexture1DLayeredWidth = 42,
  cudaDevAttrMaxTexture1DLayeredLayers = 43,
  cudaDevAttrMaxTexture2DGatherWidth = 45,
  cudaDevAttrMaxTexture2DGatherHeight = 46,
  cudaDevAttrMaxTexture3DWidthAlt = 47,
  cudaDevAttrMaxTexture3DHeightAlt = 48,
  cudaDevAttrMaxTexture3DDepthAlt = 49,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrTexturePitchAlignment = 51,
  cudaDevAttrMaxTextureCubemapWidth = 52,
  cudaDevAttrMaxTextureCubemapLayeredWidth = 53,
  cudaDevAttrMaxTextureCubemapLayeredLayers = 54,
  cudaDevAttrMaxSurface1DWidth = 55,
  cudaDevAttrMaxSurface2DWidth = 56,
  cudaDevAttrMaxSurface2DHeight = 57,
  cudaDevAttrMaxSurface3DWidth = 58,
  cudaDevAttrMaxSurface3DHeight = 59,
  cudaDevAttrMaxSurface3DDepth = 60,
  cudaDevAttrMaxSurface1DLayeredWidth = 61,
  cudaDevAttrMaxSurface1DLayeredLayers = 62,
  cudaDevAttrMaxSurface2DLayeredWidth = 63,
  cudaDevAttrMaxSurface2DLayeredHeight = 64,
  cudaDevAttrMaxSurface2DLayeredLayers = 65,
  cudaDevAttrMaxSurfaceCubemapWidth = 66,
  cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67,
  cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68,
  cudaDevAttrMaxTexture1DLinearWidth = 69,
  cudaDevAttrMaxTexture2DLinearWidth = 70,
  cudaDevAttrMaxTexture2DLinearHeight = 71,
  cudaDevAttrMaxTexture2DLinearPitch = 72,
  cudaDevAttrMaxTexture2DMipmappedWidth = 73,
  cudaDevAttrMaxTexture2DMipmappedHeight = 74,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxTexture1DMipmappedWidth = 77,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrGlobalL1CacheSupported = 79,
  cudaDevAttrLocalL1CacheSupported = 80,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrIsMultiGpuBoard = 84,
  cudaDevAttrMultiGpuBoardGroupID = 85,
  cudaDevAttrHostNativeAtomicSupported = 86,
  cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrComputePreemptionSupported = 90,
  cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrCanFlushRemoteWrites = 98,
  cudaDevAttrHostRegisterSupported = 99,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
  cudaDevAttrDirectManagedMemAccessFromHost = 101,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMaxPersistingL2CacheSize = 108,
  cudaDevAttrMaxAccessPolicyWindowSize = 109,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrSparseCudaArraySupported = 112,
  cudaDevAttrHostRegisterReadOnlySupported = 113,
  cudaDevAttrTimelineSemaphoreInteropSupported = 114,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrGPUDirectRDMASupported = 116,
  cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117,
  cudaDevAttrGPUDirectRDMAWritesOrdering = 118,
  cudaDevAttrMemoryPoolSupportedHandleTypes = 119,
  cudaDevAttrClusterLaunch = 120,
  cudaDevAttrDeferredMappingCudaArraySupported = 121,
  cudaDevAttrIpcEventSupport = 125,
  cudaDevAttrMemSyncDomainCount = 126,
  cudaDevAttrNumaConfig = 130,
  cudaDevAttrNumaId = 131,
  cudaDevAttrMpsEnabled = 133,
  cudaDevAttrHostNumaId = 134,
  cudaDevAttrD3D12CigSupported = 135,
  cudaDevAttrVulkanCigSupported = 138,
  cudaDevAttrGpuPciDeviceId = 139,
  cudaDevAttrGpuPciSubsystemId = 140,
  cudaDevAttrHostNumaMemoryPoolsSupported = 142,
  cudaDevAttrHostNumaMultinodeIpcSupported = 143,
  cudaDevAttrHostMemoryPoolsSupported = 144,
  cudaDevAttrOnlyPartialHostNativeAtomicSupported = 147,
  cudaDevAttrAtomicReductionSupported = 148,
  cudaDevAttrLocalityDomainCount = 149,
  cudaDevAttrOversizedSharedMemoryPerBlock = 150,
  cudaDevAttrCigStreamsSupported = 151,
  cudaDevAttrLocalityDomainMultiprocessorCount = 157,
  cudaDevAttrTensorMapLargeTensorMinSize = 160
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
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaEventInterprocess = 4,
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
/* What clang makes of a launch in device code. */
extern "C" __attribute__((device)) void *cudaGetParameterBuffer(__SIZE_TYPE__ alignment, __SIZE_TYPE__ size);
extern "C" __attribute__((device)) cudaError_t cudaLaunchDevice(void *kernel, void *parameters, dim3 grid, dim3 block,
                                                                unsigned int shared_bytes, cudaStream_t stream);

#define NCC_CALL(name) \
  template <typename... T> \
  cudaError_t name(T &&...);
NCC_CALLS(NCC_CALL)
#undef NCC_CALL
#undef NCC_CALLS

#endif
