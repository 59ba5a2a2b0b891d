#include <complex.h>
#include <errno.h>
#include <linux/types.h>
#include <omp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int descriptor(void) {
#pragma omp parallel for
  for (int i = 0; i < omp_get_max_threads(); ++i) usleep(1);
  return socket(AF_INET, SOCK_STREAM, 0);
}
