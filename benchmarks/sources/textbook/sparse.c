/* Sparse matrices and graphs: host code. */
#include "build.h"

#define SPARSE 65536
#define ELL 131072
#define NODES 65536
#define PAGES 32768

static void run_spmv_csr(cl_context context, cl_command_queue queue, cl_program program) {
  int rows = SPARSE;
  cl_mem start = clCreateBuffer(context, CL_MEM_READ_WRITE, (SPARSE + 1) * sizeof(cl_int), NULL, NULL);
  cl_mem column = clCreateBuffer(context, CL_MEM_READ_WRITE, SPARSE * 16 * sizeof(cl_int), NULL, NULL);
  cl_mem value = clCreateBuffer(context, CL_MEM_READ_WRITE, SPARSE * 16 * sizeof(cl_float), NULL, NULL);
  cl_mem dense = clCreateBuffer(context, CL_MEM_READ_WRITE, SPARSE * sizeof(cl_float), NULL, NULL);
  cl_mem result = clCreateBuffer(context, CL_MEM_READ_WRITE, SPARSE * sizeof(cl_float), NULL, NULL);
  size_t global[] = {SPARSE}, local[] = {128};
  cl_kernel spmv_csr = clCreateKernel(program, "spmv_csr", NULL);
  clSetKernelArg(spmv_csr, 0, sizeof(rows), &rows);
  clSetKernelArg(spmv_csr, 1, sizeof(start), &start);
  clSetKernelArg(spmv_csr, 2, sizeof(column), &column);
  clSetKernelArg(spmv_csr, 3, sizeof(value), &value);
  clSetKernelArg(spmv_csr, 4, sizeof(dense), &dense);
  clSetKernelArg(spmv_csr, 5, sizeof(result), &result);
  clEnqueueNDRangeKernel(queue, spmv_csr, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_spmv_ell(cl_context context, cl_command_queue queue, cl_program program) {
  int lines = ELL;
  int widest = 8;
  cl_mem index = clCreateBuffer(context, CL_MEM_READ_WRITE, ELL * 8 * sizeof(cl_int), NULL, NULL);
  cl_mem weight = clCreateBuffer(context, CL_MEM_READ_WRITE, ELL * 8 * sizeof(cl_float), NULL, NULL);
  cl_mem old = clCreateBuffer(context, CL_MEM_READ_WRITE, ELL * sizeof(cl_float), NULL, NULL);
  cl_mem fresh = clCreateBuffer(context, CL_MEM_READ_WRITE, ELL * sizeof(cl_float), NULL, NULL);
  size_t global[] = {ELL}, local[] = {256};
  cl_kernel spmv_ell = clCreateKernel(program, "spmv_ell", NULL);
  clSetKernelArg(spmv_ell, 0, sizeof(lines), &lines);
  clSetKernelArg(spmv_ell, 1, sizeof(widest), &widest);
  clSetKernelArg(spmv_ell, 2, sizeof(index), &index);
  clSetKernelArg(spmv_ell, 3, sizeof(weight), &weight);
  clSetKernelArg(spmv_ell, 4, sizeof(old), &old);
  clSetKernelArg(spmv_ell, 5, sizeof(fresh), &fresh);
  clEnqueueNDRangeKernel(queue, spmv_ell, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_bfs_level(cl_context context, cl_command_queue queue, cl_program program) {
  int nodes = NODES;
  int level = 3;
  cl_mem first = clCreateBuffer(context, CL_MEM_READ_WRITE, (NODES + 1) * sizeof(cl_int), NULL, NULL);
  cl_mem neighbor = clCreateBuffer(context, CL_MEM_READ_WRITE, NODES * 8 * sizeof(cl_int), NULL, NULL);
  cl_mem depth = clCreateBuffer(context, CL_MEM_READ_WRITE, NODES * sizeof(cl_int), NULL, NULL);
  size_t global[] = {NODES}, local[] = {256};
  cl_kernel bfs_level = clCreateKernel(program, "bfs_level", NULL);
  clSetKernelArg(bfs_level, 0, sizeof(nodes), &nodes);
  clSetKernelArg(bfs_level, 1, sizeof(level), &level);
  clSetKernelArg(bfs_level, 2, sizeof(first), &first);
  clSetKernelArg(bfs_level, 3, sizeof(neighbor), &neighbor);
  clSetKernelArg(bfs_level, 4, sizeof(depth), &depth);
  clEnqueueNDRangeKernel(queue, bfs_level, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_page_rank(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem links = clCreateBuffer(context, CL_MEM_READ_WRITE, PAGES * 16 * sizeof(cl_int), NULL, NULL);
  cl_mem degree = clCreateBuffer(context, CL_MEM_READ_WRITE, PAGES * sizeof(cl_float), NULL, NULL);
  cl_mem rank = clCreateBuffer(context, CL_MEM_READ_WRITE, PAGES * sizeof(cl_float), NULL, NULL);
  cl_mem updated = clCreateBuffer(context, CL_MEM_READ_WRITE, PAGES * sizeof(cl_float), NULL, NULL);
  size_t global[] = {PAGES}, local[] = {64};
  cl_kernel page_rank = clCreateKernel(program, "page_rank", NULL);
  clSetKernelArg(page_rank, 0, sizeof(links), &links);
  clSetKernelArg(page_rank, 1, sizeof(degree), &degree);
  clSetKernelArg(page_rank, 2, sizeof(rank), &rank);
  clSetKernelArg(page_rank, 3, sizeof(updated), &updated);
  clEnqueueNDRangeKernel(queue, page_rank, 1, NULL, global, local, 0, NULL, NULL);
}

int main(void) {
  cl_context context;
  cl_command_queue queue;
  cl_program program = build(&context, &queue, "sparse.cl");
  run_spmv_csr(context, queue, program);
  run_spmv_ell(context, queue, program);
  run_bfs_level(context, queue, program);
  run_page_rank(context, queue, program);
  return clFinish(queue);
}
