/* Groups of threads (CUDA C++ Programming Guide, "Cooperative Groups"): blocks, grids, tiles of warps. */
#ifndef NCC_CUDA_COOPERATIVE_GROUPS_H
#define NCC_CUDA_COOPERATIVE_GROUPS_H
#include "prelude.h"

namespace cooperative_groups {
struct thread_block {
  NCC_MEMBER void sync() const { __syncthreads(); }
  NCC_MEMBER static unsigned int thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  NCC_MEMBER static unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
  NCC_MEMBER static unsigned int num_threads() { return size(); }
  NCC_MEMBER static dim3 group_index() { return blockIdx; }
  NCC_MEMBER static dim3 thread_index() { return threadIdx; }
  NCC_MEMBER static dim3 group_dim() { return blockDim; }
  NCC_MEMBER static dim3 dim_threads() { return blockDim; }
};
struct grid_group {
  NCC_MEMBER void sync() const { __threadfence(); __syncthreads(); }
  NCC_MEMBER bool is_valid() const { return true; }
  NCC_MEMBER static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  NCC_MEMBER static unsigned long long num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
  NCC_MEMBER static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  NCC_MEMBER static unsigned long long size() { return num_blocks() * thread_block::size(); }
  NCC_MEMBER static unsigned long long num_threads() { return size(); }
  NCC_MEMBER static dim3 group_dim() { return gridDim; }
};
typedef grid_group multi_grid_group;
/* Blocks that reach into each other's shared memory; how many there are is said at the launch. */
extern "C" __device__ unsigned int ncc_cluster_blocks(void);
struct cluster_group {
  NCC_MEMBER static void barrier_arrive() { __threadfence(); }
  NCC_MEMBER static void barrier_wait() { __syncthreads(); }
  NCC_MEMBER static void sync() { barrier_arrive(), barrier_wait(); }
  NCC_MEMBER static unsigned int num_blocks() { return ncc_cluster_blocks(); }
  NCC_MEMBER static unsigned int block_rank() { return grid_group::block_rank() % num_blocks(); }
  NCC_MEMBER static unsigned int thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  NCC_MEMBER static unsigned int num_threads() { return num_blocks() * thread_block::size(); }
  NCC_MEMBER static unsigned int size() { return num_threads(); }
  NCC_MEMBER static dim3 block_index() { return dim3(block_rank()); }
  NCC_MEMBER static dim3 dim_blocks() { return dim3(num_blocks()); }
  template <typename T>
  NCC_MEMBER static T *map_shared_rank(T *p, int rank) { return p + rank; }
};

#define NCC_GROUP_OF_WARP                                                                          \
  NCC_MEMBER void sync() const { __syncwarp(); }                                                   \
  NCC_MEMBER unsigned int num_threads() const { return size(); }                                   \
  template <typename T>                                                                            \
  NCC_MEMBER T shfl(T v, int lane) const { return __shfl_sync(0xffffffffu, v, lane, size()); }     \
  template <typename T>                                                                            \
  NCC_MEMBER T shfl_up(T v, unsigned int n) const { return __shfl_up_sync(0xffffffffu, v, n, size()); } \
  template <typename T>                                                                            \
  NCC_MEMBER T shfl_down(T v, unsigned int n) const { return __shfl_down_sync(0xffffffffu, v, n, size()); } \
  template <typename T>                                                                            \
  NCC_MEMBER T shfl_xor(T v, int n) const { return __shfl_xor_sync(0xffffffffu, v, n, size()); } \
  NCC_MEMBER int any(int v) const { return __any_sync(0xffffffffu, v); }                           \
  NCC_MEMBER int all(int v) const { return __all_sync(0xffffffffu, v); }                           \
  NCC_MEMBER unsigned int ballot(int v) const { return __ballot_sync(0xffffffffu, v); }            \
  template <typename T>                                                                            \
  NCC_MEMBER unsigned int match_any(T v) const { return __match_any_sync(0xffffffffu, v); }
template <unsigned int lanes, typename Parent = void>
struct thread_block_tile {
  thread_block_tile() = default;
  template <typename Other>
  NCC_MEMBER thread_block_tile(const thread_block_tile<lanes, Other> &) {}
  NCC_MEMBER static constexpr unsigned int size() { return lanes; }
  NCC_MEMBER static unsigned int thread_rank() { return thread_block::thread_rank() % lanes; }
  NCC_MEMBER static unsigned int meta_group_rank() { return thread_block::thread_rank() / lanes; }
  NCC_MEMBER static unsigned int meta_group_size() { return (thread_block::size() + lanes - 1) / lanes; }
  NCC_GROUP_OF_WARP
};
struct coalesced_group {
  NCC_MEMBER unsigned int size() const { return __popc(__activemask()); }
  NCC_MEMBER unsigned int thread_rank() const { return thread_block::thread_rank() % 32; }
  NCC_MEMBER unsigned int meta_group_rank() const { return thread_block::thread_rank() / 32; }
  NCC_MEMBER unsigned int meta_group_size() const { return (thread_block::size() + 31) / 32; }
  NCC_GROUP_OF_WARP
};
typedef coalesced_group thread_group;
#undef NCC_GROUP_OF_WARP

NCC_DEVICE thread_block this_thread_block() { return thread_block(); }
NCC_DEVICE cluster_group this_cluster() { return cluster_group(); }
NCC_DEVICE grid_group this_grid() { return grid_group(); }
NCC_DEVICE grid_group this_multi_grid() { return grid_group(); }
NCC_DEVICE coalesced_group coalesced_threads() { return coalesced_group(); }
template <unsigned int lanes, typename Group>
NCC_DEVICE thread_block_tile<lanes> tiled_partition(const Group &) { return thread_block_tile<lanes>(); }
template <typename Group>
NCC_DEVICE coalesced_group tiled_partition(const Group &, unsigned int) { return coalesced_group(); }
template <typename Group>
NCC_DEVICE void sync(const Group &group) { group.sync(); }
template <typename Group>
NCC_DEVICE void wait(const Group &group) { group.sync(); }
template <typename Group, typename T, typename S>
NCC_DEVICE void memcpy_async(const Group &group, T *to, const T *from, S bytes) {
  for (unsigned int i = group.thread_rank(); i < bytes / sizeof(T); i += group.size()) to[i] = from[i];
}

#define NCC_OPERATION(name, result)                                                                \
  template <typename T = void>                                                                     \
  struct name {                                                                                    \
    template <typename V>                                                                          \
    NCC_MEMBER V operator()(V x, V y) const { return result; }                                     \
  };
NCC_OPERATION(plus, x + y)
NCC_OPERATION(less, y < x ? y : x)
NCC_OPERATION(greater, x < y ? y : x)
NCC_OPERATION(bit_and, x &y)
NCC_OPERATION(bit_or, x | y)
NCC_OPERATION(bit_xor, x ^ y)
#undef NCC_OPERATION
template <typename Group, typename T, typename Operation>
NCC_DEVICE T reduce(const Group &group, T v, Operation operation) {
  for (unsigned int lanes = group.size() / 2; lanes; lanes /= 2) v = operation(v, group.shfl_xor(v, lanes));
  return v;
}
template <typename Group, typename T, typename Operation = plus<T>>
NCC_DEVICE T inclusive_scan(const Group &group, T v, Operation operation = Operation()) {
  for (unsigned int lanes = 1; lanes < group.size(); lanes *= 2) {
    const T other = group.shfl_up(v, lanes);
    if (group.thread_rank() >= lanes) v = operation(other, v);
  }
  return v;
}
template <typename Group, typename T, typename Operation = plus<T>>
NCC_DEVICE T exclusive_scan(const Group &group, T v, Operation operation = Operation()) {
  const T found = group.shfl_up(inclusive_scan(group, v, operation), 1);
  return group.thread_rank() ? found : T();
}
}
#endif
