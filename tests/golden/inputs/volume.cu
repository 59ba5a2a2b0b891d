// Threads that diverge, a grid of three dimensions, and constants that no launch tells.
enum { DEPTH = 4, WIDE = DEPTH * 8 };
constexpr int tile(int n) { return n * 2; }
__global__ void volume(int nx, int ny, int nz, unsigned long long seed, const float *from, float *to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  const int at = (z * ny + y) * nx + x;
  if (x % 2) to[at] = from[at] * 2;
  else if (y > 3) for (int d = 0; d < DEPTH; d++) to[at] += sinf(from[(at + d * nx * ny) % (nx * ny * nz)]);
  if ((seed ^ at) & 1) to[at] = 0;
}
int main() {
  const int nx = WIDE * tile(2), ny = 64, nz = 16;
  float *a, *b;
  cudaMalloc(&a, nx * ny * nz * sizeof(*a));
  cudaMalloc(&b, nx * ny * nz * sizeof(*b));
  dim3 block(WIDE, DEPTH);
  dim3 grid(nx / block.x, ny / block.y, nz);
  volume<<<grid, block>>>(nx, ny, nz, 0xFFULL, a, b);
}
