#define THREADS 128
#define CEIL(a, b) (((a) + (b) - 1) / (b))
typedef double real;
struct Pair { float a, b; int *next; };
int halved(int v) { return v / 2; }
void run(float *data, int count, int radius = 3) {
  Pair *pairs;
  cudaMalloc(&pairs, count * sizeof(Pair));
  smooth<real, 4><<<CEIL(count, THREADS), THREADS>>>(data, pairs, count, radius, halved(count));
}
int main(int argc, char *argv[]) {
  int n = atoi(argv[1]); // the size
  int unused = 0, filled = 0;
  fscanf(file, "%d", &filled);
  real *d_x;
  cudaMalloc((void **)&d_x, n * sizeof(real));
  float *d_y;
  cudaMalloc((void **)&d_y, sizeof(float) << 10);
  run(d_y, 5000);
  fill<<<(n + 255) / 256, 256>>>(d_x, n, 1.5f, unused, filled);
}
