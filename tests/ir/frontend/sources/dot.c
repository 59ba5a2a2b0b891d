#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SCALE
#define SCALE 1
#endif

double dot(const double *x, const double *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sqrt(sum) * SCALE;
}

int main(int argc, char **argv) {
  double *x = malloc(sizeof(double) * 8);
  memset(x, 0, sizeof(double) * 8);
  printf("%s %f\n", argv[argc - 1], dot(x, x, 8));
  free(x);
  return 0;
}
