/* Reductions, scans and histograms: host code. */
#include "build.h"

#define ROWS 1024
#define HEIGHT 2048
#define GROUPS 256
#define MEMBERS 64

static void run_sum_groups(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem values = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 22) * sizeof(cl_float), NULL, NULL);
  cl_mem partial = clCreateBuffer(context, CL_MEM_READ_WRITE, ((1 << 22) / 256) * sizeof(cl_float), NULL, NULL);
  size_t global[] = {1 << 22}, local[] = {256};
  cl_kernel sum_groups = clCreateKernel(program, "sum_groups", NULL);
  clSetKernelArg(sum_groups, 0, sizeof(values), &values);
  clSetKernelArg(sum_groups, 1, sizeof(partial), &partial);
  clEnqueueNDRangeKernel(queue, sum_groups, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_dot_groups(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem left = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_float), NULL, NULL);
  cl_mem right = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_float), NULL, NULL);
  cl_mem dots = clCreateBuffer(context, CL_MEM_READ_WRITE, ((1 << 20) / 128) * sizeof(cl_float), NULL, NULL);
  size_t global[] = {1 << 20}, local[] = {128};
  cl_kernel dot_groups = clCreateKernel(program, "dot_groups", NULL);
  clSetKernelArg(dot_groups, 0, sizeof(left), &left);
  clSetKernelArg(dot_groups, 1, sizeof(right), &right);
  clSetKernelArg(dot_groups, 2, sizeof(dots), &dots);
  clEnqueueNDRangeKernel(queue, dot_groups, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_row_sums(cl_context context, cl_command_queue queue, cl_program program) {
  int columns = ROWS;
  cl_mem table = clCreateBuffer(context, CL_MEM_READ_WRITE, ROWS * ROWS * sizeof(cl_float), NULL, NULL);
  cl_mem sums = clCreateBuffer(context, CL_MEM_READ_WRITE, ROWS * sizeof(cl_float), NULL, NULL);
  size_t global[] = {ROWS}, local[] = {64};
  cl_kernel row_sums = clCreateKernel(program, "row_sums", NULL);
  clSetKernelArg(row_sums, 0, sizeof(columns), &columns);
  clSetKernelArg(row_sums, 1, sizeof(table), &table);
  clSetKernelArg(row_sums, 2, sizeof(sums), &sums);
  clEnqueueNDRangeKernel(queue, row_sums, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_column_sums(cl_context context, cl_command_queue queue, cl_program program) {
  int height = HEIGHT;
  cl_mem grid = clCreateBuffer(context, CL_MEM_READ_WRITE, HEIGHT * HEIGHT * sizeof(cl_float), NULL, NULL);
  cl_mem totals = clCreateBuffer(context, CL_MEM_READ_WRITE, HEIGHT * sizeof(cl_float), NULL, NULL);
  size_t global[] = {HEIGHT}, local[] = {128};
  cl_kernel column_sums = clCreateKernel(program, "column_sums", NULL);
  clSetKernelArg(column_sums, 0, sizeof(height), &height);
  clSetKernelArg(column_sums, 1, sizeof(grid), &grid);
  clSetKernelArg(column_sums, 2, sizeof(totals), &totals);
  clEnqueueNDRangeKernel(queue, column_sums, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_scan_groups(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem input = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_int), NULL, NULL);
  cl_mem prefix = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_int), NULL, NULL);
  size_t global[] = {1 << 20}, local[] = {256};
  cl_kernel scan_groups = clCreateKernel(program, "scan_groups", NULL);
  clSetKernelArg(scan_groups, 0, sizeof(input), &input);
  clSetKernelArg(scan_groups, 1, sizeof(prefix), &prefix);
  clEnqueueNDRangeKernel(queue, scan_groups, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_histogram_local(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem samples = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 22) * sizeof(cl_uint), NULL, NULL);
  cl_mem bins = clCreateBuffer(context, CL_MEM_READ_WRITE, 256 * sizeof(cl_uint), NULL, NULL);
  size_t global[] = {1 << 22}, local[] = {256};
  cl_kernel histogram_local = clCreateKernel(program, "histogram_local", NULL);
  clSetKernelArg(histogram_local, 0, sizeof(samples), &samples);
  clSetKernelArg(histogram_local, 1, sizeof(bins), &bins);
  clEnqueueNDRangeKernel(queue, histogram_local, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_group_variance(cl_context context, cl_command_queue queue, cl_program program) {
  int members = MEMBERS;
  cl_mem scores = clCreateBuffer(context, CL_MEM_READ_WRITE, GROUPS * MEMBERS * sizeof(cl_float), NULL, NULL);
  cl_mem variance = clCreateBuffer(context, CL_MEM_READ_WRITE, GROUPS * sizeof(cl_float), NULL, NULL);
  size_t global[] = {GROUPS}, local[] = {32};
  cl_kernel group_variance = clCreateKernel(program, "group_variance", NULL);
  clSetKernelArg(group_variance, 0, sizeof(members), &members);
  clSetKernelArg(group_variance, 1, sizeof(scores), &scores);
  clSetKernelArg(group_variance, 2, sizeof(variance), &variance);
  clEnqueueNDRangeKernel(queue, group_variance, 1, NULL, global, local, 0, NULL, NULL);
}

int main(void) {
  cl_context context;
  cl_command_queue queue;
  cl_program program = build(&context, &queue, "reductions.cl");
  run_sum_groups(context, queue, program);
  run_dot_groups(context, queue, program);
  run_row_sums(context, queue, program);
  run_column_sums(context, queue, program);
  run_scan_groups(context, queue, program);
  run_histogram_local(context, queue, program);
  run_group_variance(context, queue, program);
  return clFinish(queue);
}
