// Block sum through shared memory, then through warp shuffles; nothing is included.
__global__ void __launch_bounds__(256) block_sum(const float *values, float *sums, unsigned int n) {
  extern __shared__ float scratch[];
  unsigned int lane = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x * 2 + lane;
  scratch[lane] = (i < n ? values[i] : 0.0f) + (i + blockDim.x < n ? values[i + blockDim.x] : 0.0f);
  __syncthreads();
  for (unsigned int stride = blockDim.x / 2; stride >= warpSize; stride >>= 1) {
    if (lane < stride) scratch[lane] += scratch[lane + stride];
    __syncthreads();
  }
  float sum = scratch[lane];
  for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (lane == 0) atomicAdd(sums, sum);
}
