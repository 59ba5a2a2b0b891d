/* Vectors, atomics, variable arguments, inline assembly and computed gotos. */
typedef float float4 __attribute__((vector_size(16)));
typedef int int4 __attribute__((vector_size(16)));

float4 shuffle(float4 a, float4 b, int lane) {
  float4 c = __builtin_shufflevector(a, b, 0, 5, 2, 7);
  c[lane] = a[0] * b[3];
  return c;
}

int4 compare(float4 a, float4 b) { return a < b; }

int fetch(int *counter, int expected) {
  int old = __atomic_fetch_add(counter, 2, __ATOMIC_SEQ_CST);
  __atomic_compare_exchange_n(counter, &expected, 5, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(counter, old, __ATOMIC_RELEASE);
  return __atomic_load_n(counter, __ATOMIC_ACQUIRE) + expected;
}

int add_all(int count, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, count);
  int sum = 0;
  while (count--) sum += __builtin_va_arg(list, int);
  __builtin_va_end(list);
  return sum;
}

int with_arguments(void) { return add_all(3, 1, 2, 3); }

unsigned long timestamp(void) {
  unsigned lo, hi;
  __asm__ volatile("rdtsc ; \"(" : "=a"(lo), "=d"(hi) : : "memory");
  return (unsigned long)hi << 32 | lo;
}

int interpret(const unsigned char *code, int x) {
  static void *const labels[] = {&&inc, &&dbl, &&end};
  goto *labels[*code++];
inc:
  x++;
  goto *labels[*code++];
dbl:
  x *= 2;
  goto *labels[*code++];
end:
  return x;
}

void copy(char *restrict to, const char *restrict from, unsigned long n) { __builtin_memcpy(to, from, n); }
