/* Vectors: sums, scaled sums, polynomials: host code. */
#include "build.h"

static void run_vector_add(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_float), NULL, NULL);
  cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_float), NULL, NULL);
  cl_mem c = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_float), NULL, NULL);
  size_t global[] = {1 << 20}, local[] = {256};
  cl_kernel vector_add = clCreateKernel(program, "vector_add", NULL);
  clSetKernelArg(vector_add, 0, sizeof(a), &a);
  clSetKernelArg(vector_add, 1, sizeof(b), &b);
  clSetKernelArg(vector_add, 2, sizeof(c), &c);
  clEnqueueNDRangeKernel(queue, vector_add, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_saxpy_guarded(cl_context context, cl_command_queue queue, cl_program program) {
  int n = 4000000;
  float alpha = 2.0f;
  cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, 4000000 * sizeof(cl_float), NULL, NULL);
  cl_mem y = clCreateBuffer(context, CL_MEM_READ_WRITE, 4000000 * sizeof(cl_float), NULL, NULL);
  size_t global[] = {4000256 / 256 * 256}, local[] = {256};
  cl_kernel saxpy_guarded = clCreateKernel(program, "saxpy_guarded", NULL);
  clSetKernelArg(saxpy_guarded, 0, sizeof(n), &n);
  clSetKernelArg(saxpy_guarded, 1, sizeof(alpha), &alpha);
  clSetKernelArg(saxpy_guarded, 2, sizeof(x), &x);
  clSetKernelArg(saxpy_guarded, 3, sizeof(y), &y);
  clEnqueueNDRangeKernel(queue, saxpy_guarded, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_triad(cl_context context, cl_command_queue queue, cl_program program) {
  float scalar = 3.0f;
  cl_mem p = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 24) * sizeof(cl_float), NULL, NULL);
  cl_mem q = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 24) * sizeof(cl_float), NULL, NULL);
  cl_mem r = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 24) * sizeof(cl_float), NULL, NULL);
  size_t global[] = {1 << 24}, local[] = {128};
  cl_kernel triad = clCreateKernel(program, "triad", NULL);
  clSetKernelArg(triad, 0, sizeof(scalar), &scalar);
  clSetKernelArg(triad, 1, sizeof(p), &p);
  clSetKernelArg(triad, 2, sizeof(q), &q);
  clSetKernelArg(triad, 3, sizeof(r), &r);
  clEnqueueNDRangeKernel(queue, triad, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_scale_in_place(cl_context context, cl_command_queue queue, cl_program program) {
  float factor = 0.5f;
  cl_mem v = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096 * sizeof(cl_float), NULL, NULL);
  size_t global[] = {4096}, local[] = {64};
  cl_kernel scale_in_place = clCreateKernel(program, "scale_in_place", NULL);
  clSetKernelArg(scale_in_place, 0, sizeof(factor), &factor);
  clSetKernelArg(scale_in_place, 1, sizeof(v), &v);
  clEnqueueNDRangeKernel(queue, scale_in_place, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_horner_32(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem point = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_float), NULL, NULL);
  cl_mem coefficient = clCreateBuffer(context, CL_MEM_READ_WRITE, 32 * sizeof(cl_float), NULL, NULL);
  cl_mem polynomial = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_float), NULL, NULL);
  size_t global[] = {1 << 20}, local[] = {256};
  cl_kernel horner_32 = clCreateKernel(program, "horner_32", NULL);
  clSetKernelArg(horner_32, 0, sizeof(point), &point);
  clSetKernelArg(horner_32, 1, sizeof(coefficient), &coefficient);
  clSetKernelArg(horner_32, 2, sizeof(polynomial), &polynomial);
  clEnqueueNDRangeKernel(queue, horner_32, 1, NULL, global, local, 0, NULL, NULL);
}

int main(void) {
  cl_context context;
  cl_command_queue queue;
  cl_program program = build(&context, &queue, "vectors.cl");
  run_vector_add(context, queue, program);
  run_saxpy_guarded(context, queue, program);
  run_triad(context, queue, program);
  run_scale_in_place(context, queue, program);
  run_horner_32(context, queue, program);
  return clFinish(queue);
}
