typedef struct {
  int a;
} Pair;
__kernel void structure(__global const Pair *p, __global int *b) {
  b[get_global_id(0)] = p[0].a;
}
