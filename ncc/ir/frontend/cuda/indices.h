/* Built-in variables (CUDA C++ Programming Guide 7.4): reads of the special registers. */
#ifndef NCC_CUDA_INDICES_H
#define NCC_CUDA_INDICES_H

/* Members that are read through a function, since a register has no address. */
#define NCC_INDEX(variable, register_name)                                                          \
  struct ncc_##variable##_t {                                                                       \
    __declspec(property(get = read_x)) unsigned int x;                                              \
    __declspec(property(get = read_y)) unsigned int y;                                              \
    __declspec(property(get = read_z)) unsigned int z;                                              \
    NCC_DEVICE unsigned int read_x() { return __nvvm_read_ptx_sreg_##register_name##_x(); }         \
    NCC_DEVICE unsigned int read_y() { return __nvvm_read_ptx_sreg_##register_name##_y(); }         \
    NCC_DEVICE unsigned int read_z() { return __nvvm_read_ptx_sreg_##register_name##_z(); }         \
    __device__ operator uint3() const { return uint3{read_x(), read_y(), read_z()}; }               \
    __device__ operator dim3() const { return dim3(read_x(), read_y(), read_z()); }                 \
  };                                                                                                \
  extern const __device__ ncc_##variable##_t variable;

NCC_INDEX(threadIdx, tid)
NCC_INDEX(blockIdx, ctaid)
NCC_INDEX(blockDim, ntid)
NCC_INDEX(gridDim, nctaid)

#undef NCC_INDEX

constexpr int warpSize = 32;

#endif
