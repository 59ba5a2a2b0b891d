/* Sorting and searching: host code. */
#include "build.h"

#define KEYS 1048576
#define SHORT 2048
#define CARDS 4096
#define NEEDLES 262144
#define HAY 65536

static void run_bitonic_step(cl_context context, cl_command_queue queue, cl_program program) {
  int span = 1024;
  int run = 4096;
  cl_mem keys = clCreateBuffer(context, CL_MEM_READ_WRITE, KEYS * sizeof(cl_uint), NULL, NULL);
  size_t global[] = {KEYS}, local[] = {256};
  cl_kernel bitonic_step = clCreateKernel(program, "bitonic_step", NULL);
  clSetKernelArg(bitonic_step, 0, sizeof(span), &span);
  clSetKernelArg(bitonic_step, 1, sizeof(run), &run);
  clSetKernelArg(bitonic_step, 2, sizeof(keys), &keys);
  clEnqueueNDRangeKernel(queue, bitonic_step, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_odd_even_phase(cl_context context, cl_command_queue queue, cl_program program) {
  int phase = 1;
  cl_mem items = clCreateBuffer(context, CL_MEM_READ_WRITE, SHORT * sizeof(cl_int), NULL, NULL);
  size_t global[] = {SHORT / 2}, local[] = {64};
  cl_kernel odd_even_phase = clCreateKernel(program, "odd_even_phase", NULL);
  clSetKernelArg(odd_even_phase, 0, sizeof(phase), &phase);
  clSetKernelArg(odd_even_phase, 1, sizeof(items), &items);
  clEnqueueNDRangeKernel(queue, odd_even_phase, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_rank_sort(cl_context context, cl_command_queue queue, cl_program program) {
  int cards = CARDS;
  cl_mem unsorted = clCreateBuffer(context, CL_MEM_READ_WRITE, CARDS * sizeof(cl_int), NULL, NULL);
  cl_mem sorted = clCreateBuffer(context, CL_MEM_READ_WRITE, CARDS * sizeof(cl_int), NULL, NULL);
  size_t global[] = {CARDS}, local[] = {64};
  cl_kernel rank_sort = clCreateKernel(program, "rank_sort", NULL);
  clSetKernelArg(rank_sort, 0, sizeof(cards), &cards);
  clSetKernelArg(rank_sort, 1, sizeof(unsorted), &unsorted);
  clSetKernelArg(rank_sort, 2, sizeof(sorted), &sorted);
  clEnqueueNDRangeKernel(queue, rank_sort, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_binary_search(cl_context context, cl_command_queue queue, cl_program program) {
  int hay = HAY;
  cl_mem haystack = clCreateBuffer(context, CL_MEM_READ_WRITE, HAY * sizeof(cl_int), NULL, NULL);
  cl_mem needle = clCreateBuffer(context, CL_MEM_READ_WRITE, NEEDLES * sizeof(cl_int), NULL, NULL);
  cl_mem found = clCreateBuffer(context, CL_MEM_READ_WRITE, NEEDLES * sizeof(cl_int), NULL, NULL);
  size_t global[] = {NEEDLES}, local[] = {256};
  cl_kernel binary_search = clCreateKernel(program, "binary_search", NULL);
  clSetKernelArg(binary_search, 0, sizeof(hay), &hay);
  clSetKernelArg(binary_search, 1, sizeof(haystack), &haystack);
  clSetKernelArg(binary_search, 2, sizeof(needle), &needle);
  clSetKernelArg(binary_search, 3, sizeof(found), &found);
  clEnqueueNDRangeKernel(queue, binary_search, 1, NULL, global, local, 0, NULL, NULL);
}

int main(void) {
  cl_context context;
  cl_command_queue queue;
  cl_program program = build(&context, &queue, "sorting.cl");
  run_bitonic_step(context, queue, program);
  run_odd_even_phase(context, queue, program);
  run_rank_sort(context, queue, program);
  run_binary_search(context, queue, program);
  return clFinish(queue);
}
