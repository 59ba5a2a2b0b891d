template <typename T, int B> __global__ void sum(const T *x, int n) {}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  int m = argc > 2 ? atoi(argv[2]) : 100;
  rows<<<(n * 32 + 255) / 256, 256>>>(x, n, m);
  sum<float, 256><<<64, 256>>>(x, n / 4);
  sum<double, 128><<<1, 128>>>(y, 10);
}
