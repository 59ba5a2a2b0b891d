#include <library.h>
struct Policy {
  enum { SIZE = Library::SIZE, TWICE = 2 * SIZE };
  struct Inner { enum { LAST = Library::LAST }; };
};
__global__ void good(int *p) { p[0] = 1; }
__attribute__((global)) __attribute__((launch_bounds(int((1) ? int(sizeof(char)) : int(sizeof((int)))))))
void bad(int *p) { p[0] = nothing; }
int main(int n, char **) {
  if (n == 1) n = 2;
  else if (n == 2) library::call();
  else if (library::is_three(n)) n = 4;
  else good<<<1, library::size()>>>(0);
  if (n == 5) library::call();
  else n = 6;
  return n;
}
