/* Textures and surfaces (CUDA C++ Programming Guide, "Texture Functions"): a fetch is a call that reads memory, since
 * clang does not lower them without NVIDIA's library. */
#ifndef NCC_CUDA_TEXTURES_H
#define NCC_CUDA_TEXTURES_H

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat };
enum { cudaTextureType1D = 1, cudaTextureType2D, cudaTextureType3D, cudaTextureType1DLayered = 0xF1 };
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
struct cudaExtent {
  __SIZE_TYPE__ width, height, depth;
};
struct cudaPos {
  __SIZE_TYPE__ x, y, z;
};
struct cudaPitchedPtr {
  void *ptr;
  __SIZE_TYPE__ pitch, xsize, ysize;
};
struct cudaResourceDesc {
  cudaResourceType resType;
  struct {
    struct { cudaArray_t array; } array;
    struct { void *devPtr; cudaChannelFormatDesc desc; __SIZE_TYPE__ sizeInBytes; } linear;
    struct { void *devPtr; cudaChannelFormatDesc desc; __SIZE_TYPE__ width, height, pitchInBytes; } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB, normalizedCoords;
  float borderColor[4];
};
struct cudaMemcpy3DParms {
  cudaArray_t srcArray, dstArray;
  cudaPos srcPos, dstPos;
  cudaPitchedPtr srcPtr, dstPtr;
  cudaExtent extent;
  int kind;
};
cudaExtent make_cudaExtent(__SIZE_TYPE__ width, __SIZE_TYPE__ height, __SIZE_TYPE__ depth);
cudaPos make_cudaPos(__SIZE_TYPE__ x, __SIZE_TYPE__ y, __SIZE_TYPE__ z);
cudaPitchedPtr make_cudaPitchedPtr(void *p, __SIZE_TYPE__ pitch, __SIZE_TYPE__ width, __SIZE_TYPE__ height);
template <typename T>
cudaChannelFormatDesc cudaCreateChannelDesc();
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind);

template <typename T, int dimensions = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct texture {
  cudaTextureObject_t object;
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
  texture() = default;
  texture(int normalized, cudaTextureFilterMode filter, cudaTextureAddressMode address);
};
template <typename T, int dimensions = cudaTextureType1D>
struct surface {
  cudaSurfaceObject_t object;
};

/* What a mode makes of an element: itself, or floats. */
template <typename T, cudaTextureReadMode mode>
struct ncc_read { typedef T type; };
template <> struct ncc_read<unsigned char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct ncc_read<unsigned short, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct ncc_read<uchar4, cudaReadModeNormalizedFloat> { typedef float4 type; };

extern "C" __device__ void __nv_tex_fetch(unsigned long long texture, float x, float y, float z, void *result);
extern "C" __device__ void __nv_tex_element(unsigned long long texture, int x, void *result);
extern "C" __device__ void __nv_surf_read(unsigned long long surface, int x, int y, int z, void *result);
extern "C" __device__ void __nv_surf_write(unsigned long long surface, int x, int y, int z, const void *value);

#define NCC_FETCH(name, parameters, x, y, z)                                                       \
  template <typename T>                                                                            \
  NCC_DEVICE T name(cudaTextureObject_t t, NCC_LIST parameters) {                                  \
    T result;                                                                                      \
    __nv_tex_fetch(t, x, y, z, &result);                                                           \
    return result;                                                                                 \
  }                                                                                                \
  template <typename T>                                                                            \
  NCC_DEVICE void name(T *result, cudaTextureObject_t t, NCC_LIST parameters) {                    \
    __nv_tex_fetch(t, x, y, z, result);                                                            \
  }                                                                                                \
  template <typename T, int n, cudaTextureReadMode mode>                                           \
  NCC_DEVICE typename ncc_read<T, mode>::type name(const texture<T, n, mode> &t, NCC_LIST parameters) { \
    typename ncc_read<T, mode>::type result;                                                       \
    __nv_tex_fetch(t.object, x, y, z, &result);                                                    \
    return result;                                                                                 \
  }
#define NCC_LIST(...) __VA_ARGS__
NCC_FETCH(tex1D, (float x), x, 0, 0)
NCC_FETCH(tex2D, (float x, float y), x, y, 0)
NCC_FETCH(tex3D, (float x, float y, float z), x, y, z)
NCC_FETCH(tex1DLayered, (float x, int layer), x, layer, 0)
NCC_FETCH(tex2DLayered, (float x, float y, int layer), x, y, layer)
NCC_FETCH(texCubemap, (float x, float y, float z), x, y, z)
NCC_FETCH(tex1DLod, (float x, float), x, 0, 0)
NCC_FETCH(tex2DLod, (float x, float y, float), x, y, 0)
NCC_FETCH(tex3DLod, (float x, float y, float z, float), x, y, z)
#undef NCC_FETCH
template <typename T>
NCC_DEVICE T tex1Dfetch(cudaTextureObject_t t, int x) {
  T result;
  __nv_tex_element(t, x, &result);
  return result;
}
template <typename T, int n, cudaTextureReadMode mode>
NCC_DEVICE typename ncc_read<T, mode>::type tex1Dfetch(const texture<T, n, mode> &t, int x) {
  typename ncc_read<T, mode>::type result;
  __nv_tex_element(t.object, x, &result);
  return result;
}
#define NCC_SURFACE(n, parameters, y, z)                                                           \
  template <typename T>                                                                            \
  NCC_DEVICE T surf##n##read(cudaSurfaceObject_t s, NCC_LIST parameters, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) { \
    T result;                                                                                      \
    __nv_surf_read(s, x, y, z, &result);                                                           \
    return result;                                                                                 \
  }                                                                                                \
  template <typename T>                                                                            \
  NCC_DEVICE void surf##n##read(T *result, cudaSurfaceObject_t s, NCC_LIST parameters,             \
                                cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {                  \
    __nv_surf_read(s, x, y, z, result);                                                            \
  }                                                                                                \
  template <typename T>                                                                            \
  NCC_DEVICE void surf##n##write(T v, cudaSurfaceObject_t s, NCC_LIST parameters,                  \
                                 cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {                 \
    __nv_surf_write(s, x, y, z, &v);                                                               \
  }                                                                                                \
  template <typename T, typename E, int m>                                                         \
  NCC_DEVICE void surf##n##write(T v, const surface<E, m> &s, NCC_LIST parameters,                 \
                                 cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {                 \
    __nv_surf_write(s.object, x, y, z, &v);                                                        \
  }
NCC_SURFACE(1D, (int x), 0, 0)
NCC_SURFACE(2D, (int x, int y), y, 0)
NCC_SURFACE(3D, (int x, int y, int z), y, z)
#undef NCC_SURFACE
#undef NCC_LIST
#endif
