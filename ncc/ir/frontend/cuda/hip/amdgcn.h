/* Clang's functions for AMD's processors, by what they mean in a warp of 32 lanes. */
#ifndef NCC_HIP_AMDGCN_H
#define NCC_HIP_AMDGCN_H

NCC_DEVICE unsigned int __lane_id() { return static_cast<unsigned int>(__nvvm_read_ptx_sreg_laneid()); }
NCC_DEVICE unsigned int __builtin_amdgcn_mbcnt_lo(unsigned int mask, unsigned int sum) {
  return sum + static_cast<unsigned int>(__popc(static_cast<int>(mask & ((1u << __lane_id()) - 1))));
}
NCC_DEVICE unsigned int __builtin_amdgcn_mbcnt_hi(unsigned int, unsigned int sum) { return sum; }
NCC_DEVICE int __builtin_amdgcn_readlane(int v, int lane) { return __shfl(v, lane); }
NCC_DEVICE int __builtin_amdgcn_readfirstlane(int v) { return __shfl(v, 0); }
NCC_DEVICE int __builtin_amdgcn_ds_bpermute(int index, int v) { return __shfl(v, index >> 2); }
NCC_DEVICE int __builtin_amdgcn_ds_permute(int index, int v) { return __shfl(v, index >> 2); }
NCC_DEVICE int __builtin_amdgcn_ds_swizzle(int v, int mask) { return __shfl_xor(v, mask >> 10); }
NCC_DEVICE int __builtin_amdgcn_mov_dpp(int v, int, int, int, bool) { return __shfl_up(v, 1); }
NCC_DEVICE int __builtin_amdgcn_update_dpp(int, int v, int, int, int, bool) { return __shfl_up(v, 1); }
NCC_DEVICE void __builtin_amdgcn_fence(unsigned int, const char *) { __threadfence_block(); }
NCC_DEVICE void __builtin_amdgcn_wave_barrier() { __syncwarp(); }
NCC_DEVICE void __builtin_amdgcn_s_barrier() { __syncthreads(); }
NCC_DEVICE void __builtin_amdgcn_s_waitcnt(int) {}
NCC_DEVICE void __builtin_amdgcn_s_sleep(int) {}
NCC_DEVICE bool __builtin_amdgcn_is_shared(const void *at) { return __nvvm_isspacep_shared(at); }
NCC_DEVICE bool __builtin_amdgcn_is_private(const void *at) { return __nvvm_isspacep_local(at); }
NCC_DEVICE int __builtin_amdgcn_wavefrontsize() { return warpSize; }

#endif
