/* Dense linear algebra: host code. */
#include "build.h"

#define GEMM 512
#define TILED 512
#define SMALL 32
#define SQUARE 2048
#define TURN 1024
#define ORDER 4096
#define LU 512
#define CITIES 512
#define BATCH 4096
#define RANK 256

static void run_gemm_naive(cl_context context, cl_command_queue queue, cl_program program) {
  int n = GEMM;
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, GEMM * GEMM * sizeof(cl_float), NULL, NULL);
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, GEMM * GEMM * sizeof(cl_float), NULL, NULL);
  cl_mem c = clCreateBuffer(context, CL_MEM_READ_WRITE, GEMM * GEMM * sizeof(cl_float), NULL, NULL);
  size_t global[] = {GEMM, GEMM}, local[] = {16, 16};
  cl_kernel gemm_naive = clCreateKernel(program, "gemm_naive", NULL);
  clSetKernelArg(gemm_naive, 0, sizeof(n), &n);
  clSetKernelArg(gemm_naive, 1, sizeof(a), &a);
  clSetKernelArg(gemm_naive, 2, sizeof(b), &b);
  clSetKernelArg(gemm_naive, 3, sizeof(c), &c);
  clEnqueueNDRangeKernel(queue, gemm_naive, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_gemm_tiled(cl_context context, cl_command_queue queue, cl_program program) {
  int m = TILED;
  cl_mem d = clCreateBuffer(context, CL_MEM_READ_WRITE, TILED * TILED * sizeof(cl_float), NULL, NULL);
  cl_mem e = clCreateBuffer(context, CL_MEM_READ_WRITE, TILED * TILED * sizeof(cl_float), NULL, NULL);
  cl_mem f = clCreateBuffer(context, CL_MEM_READ_WRITE, TILED * TILED * sizeof(cl_float), NULL, NULL);
  size_t global[] = {TILED, TILED}, local[] = {16, 16};
  cl_kernel gemm_tiled = clCreateKernel(program, "gemm_tiled", NULL);
  clSetKernelArg(gemm_tiled, 0, sizeof(m), &m);
  clSetKernelArg(gemm_tiled, 1, sizeof(d), &d);
  clSetKernelArg(gemm_tiled, 2, sizeof(e), &e);
  clSetKernelArg(gemm_tiled, 3, sizeof(f), &f);
  clEnqueueNDRangeKernel(queue, gemm_tiled, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_gemm_small(cl_context context, cl_command_queue queue, cl_program program) {
  int k = SMALL;
  cl_mem g = clCreateBuffer(context, CL_MEM_READ_WRITE, SMALL * SMALL * sizeof(cl_float), NULL, NULL);
  cl_mem h = clCreateBuffer(context, CL_MEM_READ_WRITE, SMALL * SMALL * sizeof(cl_float), NULL, NULL);
  cl_mem l = clCreateBuffer(context, CL_MEM_READ_WRITE, SMALL * SMALL * sizeof(cl_float), NULL, NULL);
  size_t global[] = {SMALL, SMALL}, local[] = {8, 8};
  cl_kernel gemm_small = clCreateKernel(program, "gemm_small", NULL);
  clSetKernelArg(gemm_small, 0, sizeof(k), &k);
  clSetKernelArg(gemm_small, 1, sizeof(g), &g);
  clSetKernelArg(gemm_small, 2, sizeof(h), &h);
  clSetKernelArg(gemm_small, 3, sizeof(l), &l);
  clEnqueueNDRangeKernel(queue, gemm_small, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_transpose_naive(cl_context context, cl_command_queue queue, cl_program program) {
  int size = SQUARE;
  cl_mem upright = clCreateBuffer(context, CL_MEM_READ_WRITE, SQUARE * SQUARE * sizeof(cl_float), NULL, NULL);
  cl_mem turned = clCreateBuffer(context, CL_MEM_READ_WRITE, SQUARE * SQUARE * sizeof(cl_float), NULL, NULL);
  size_t global[] = {SQUARE, SQUARE}, local[] = {16, 16};
  cl_kernel transpose_naive = clCreateKernel(program, "transpose_naive", NULL);
  clSetKernelArg(transpose_naive, 0, sizeof(size), &size);
  clSetKernelArg(transpose_naive, 1, sizeof(upright), &upright);
  clSetKernelArg(transpose_naive, 2, sizeof(turned), &turned);
  clEnqueueNDRangeKernel(queue, transpose_naive, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_transpose_tiled(cl_context context, cl_command_queue queue, cl_program program) {
  int extent = TURN;
  cl_mem plain = clCreateBuffer(context, CL_MEM_READ_WRITE, TURN * TURN * sizeof(cl_float), NULL, NULL);
  cl_mem flipped = clCreateBuffer(context, CL_MEM_READ_WRITE, TURN * TURN * sizeof(cl_float), NULL, NULL);
  size_t global[] = {TURN, TURN}, local[] = {16, 16};
  cl_kernel transpose_tiled = clCreateKernel(program, "transpose_tiled", NULL);
  clSetKernelArg(transpose_tiled, 0, sizeof(extent), &extent);
  clSetKernelArg(transpose_tiled, 1, sizeof(plain), &plain);
  clSetKernelArg(transpose_tiled, 2, sizeof(flipped), &flipped);
  clEnqueueNDRangeKernel(queue, transpose_tiled, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_matrix_vector(cl_context context, cl_command_queue queue, cl_program program) {
  int order = ORDER;
  cl_mem matrix = clCreateBuffer(context, CL_MEM_READ_WRITE, ORDER * ORDER * sizeof(cl_float), NULL, NULL);
  cl_mem vector = clCreateBuffer(context, CL_MEM_READ_WRITE, ORDER * sizeof(cl_float), NULL, NULL);
  cl_mem product = clCreateBuffer(context, CL_MEM_READ_WRITE, ORDER * sizeof(cl_float), NULL, NULL);
  size_t global[] = {ORDER}, local[] = {64};
  cl_kernel matrix_vector = clCreateKernel(program, "matrix_vector", NULL);
  clSetKernelArg(matrix_vector, 0, sizeof(order), &order);
  clSetKernelArg(matrix_vector, 1, sizeof(matrix), &matrix);
  clSetKernelArg(matrix_vector, 2, sizeof(vector), &vector);
  clSetKernelArg(matrix_vector, 3, sizeof(product), &product);
  clEnqueueNDRangeKernel(queue, matrix_vector, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_lu_update(cl_context context, cl_command_queue queue, cl_program program) {
  int dim = LU;
  int pivot = 10;
  cl_mem factors = clCreateBuffer(context, CL_MEM_READ_WRITE, LU * LU * sizeof(cl_float), NULL, NULL);
  size_t global[] = {LU, LU}, local[] = {16, 16};
  cl_kernel lu_update = clCreateKernel(program, "lu_update", NULL);
  clSetKernelArg(lu_update, 0, sizeof(dim), &dim);
  clSetKernelArg(lu_update, 1, sizeof(pivot), &pivot);
  clSetKernelArg(lu_update, 2, sizeof(factors), &factors);
  clEnqueueNDRangeKernel(queue, lu_update, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_floyd_warshall(cl_context context, cl_command_queue queue, cl_program program) {
  int cities = CITIES;
  int via = 7;
  cl_mem distance = clCreateBuffer(context, CL_MEM_READ_WRITE, CITIES * CITIES * sizeof(cl_int), NULL, NULL);
  size_t global[] = {CITIES, CITIES}, local[] = {32, 8};
  cl_kernel floyd_warshall = clCreateKernel(program, "floyd_warshall", NULL);
  clSetKernelArg(floyd_warshall, 0, sizeof(cities), &cities);
  clSetKernelArg(floyd_warshall, 1, sizeof(via), &via);
  clSetKernelArg(floyd_warshall, 2, sizeof(distance), &distance);
  clEnqueueNDRangeKernel(queue, floyd_warshall, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_cholesky_batch(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem batch = clCreateBuffer(context, CL_MEM_READ_WRITE, BATCH * 64 * sizeof(cl_float), NULL, NULL);
  cl_mem lower = clCreateBuffer(context, CL_MEM_READ_WRITE, BATCH * 64 * sizeof(cl_float), NULL, NULL);
  size_t global[] = {BATCH}, local[] = {64};
  cl_kernel cholesky_batch = clCreateKernel(program, "cholesky_batch", NULL);
  clSetKernelArg(cholesky_batch, 0, sizeof(batch), &batch);
  clSetKernelArg(cholesky_batch, 1, sizeof(lower), &lower);
  clEnqueueNDRangeKernel(queue, cholesky_batch, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_symmetric_rank_k(cl_context context, cl_command_queue queue, cl_program program) {
  int rank = RANK;
  cl_mem factor = clCreateBuffer(context, CL_MEM_READ_WRITE, RANK * RANK * sizeof(cl_float), NULL, NULL);
  cl_mem gram = clCreateBuffer(context, CL_MEM_READ_WRITE, RANK * RANK * sizeof(cl_float), NULL, NULL);
  size_t global[] = {RANK, RANK}, local[] = {16, 16};
  cl_kernel symmetric_rank_k = clCreateKernel(program, "symmetric_rank_k", NULL);
  clSetKernelArg(symmetric_rank_k, 0, sizeof(rank), &rank);
  clSetKernelArg(symmetric_rank_k, 1, sizeof(factor), &factor);
  clSetKernelArg(symmetric_rank_k, 2, sizeof(gram), &gram);
  clEnqueueNDRangeKernel(queue, symmetric_rank_k, 2, NULL, global, local, 0, NULL, NULL);
}

int main(void) {
  cl_context context;
  cl_command_queue queue;
  cl_program program = build(&context, &queue, "matrices.cl");
  run_gemm_naive(context, queue, program);
  run_gemm_tiled(context, queue, program);
  run_gemm_small(context, queue, program);
  run_transpose_naive(context, queue, program);
  run_transpose_tiled(context, queue, program);
  run_matrix_vector(context, queue, program);
  run_lu_update(context, queue, program);
  run_floyd_warshall(context, queue, program);
  run_cholesky_batch(context, queue, program);
  run_symmetric_rank_k(context, queue, program);
  return clFinish(queue);
}
