/* Stencils on grids of one to three dimensions: host code. */
#include "build.h"

#define JACOBI 2048
#define EDGE 128
#define BOARD 1024
#define PLATE 64

static void run_average_1d(cl_context context, cl_command_queue queue, cl_program program) {
  int width = 1 << 20;
  cl_mem line = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_float), NULL, NULL);
  cl_mem average = clCreateBuffer(context, CL_MEM_READ_WRITE, (1 << 20) * sizeof(cl_float), NULL, NULL);
  size_t global[] = {1 << 20}, local[] = {256};
  cl_kernel average_1d = clCreateKernel(program, "average_1d", NULL);
  clSetKernelArg(average_1d, 0, sizeof(width), &width);
  clSetKernelArg(average_1d, 1, sizeof(line), &line);
  clSetKernelArg(average_1d, 2, sizeof(average), &average);
  clEnqueueNDRangeKernel(queue, average_1d, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_jacobi_2d(cl_context context, cl_command_queue queue, cl_program program) {
  int side = JACOBI;
  cl_mem before = clCreateBuffer(context, CL_MEM_READ_WRITE, JACOBI * JACOBI * sizeof(cl_float), NULL, NULL);
  cl_mem after = clCreateBuffer(context, CL_MEM_READ_WRITE, JACOBI * JACOBI * sizeof(cl_float), NULL, NULL);
  size_t global[] = {JACOBI, JACOBI}, local[] = {16, 16};
  cl_kernel jacobi_2d = clCreateKernel(program, "jacobi_2d", NULL);
  clSetKernelArg(jacobi_2d, 0, sizeof(side), &side);
  clSetKernelArg(jacobi_2d, 1, sizeof(before), &before);
  clSetKernelArg(jacobi_2d, 2, sizeof(after), &after);
  clEnqueueNDRangeKernel(queue, jacobi_2d, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_laplace_3d(cl_context context, cl_command_queue queue, cl_program program) {
  int edge = EDGE;
  cl_mem volume = clCreateBuffer(context, CL_MEM_READ_WRITE, EDGE * EDGE * EDGE * sizeof(cl_float), NULL, NULL);
  cl_mem smooth = clCreateBuffer(context, CL_MEM_READ_WRITE, EDGE * EDGE * EDGE * sizeof(cl_float), NULL, NULL);
  size_t global[] = {EDGE, EDGE, EDGE}, local[] = {32, 4, 2};
  cl_kernel laplace_3d = clCreateKernel(program, "laplace_3d", NULL);
  clSetKernelArg(laplace_3d, 0, sizeof(edge), &edge);
  clSetKernelArg(laplace_3d, 1, sizeof(volume), &volume);
  clSetKernelArg(laplace_3d, 2, sizeof(smooth), &smooth);
  clEnqueueNDRangeKernel(queue, laplace_3d, 3, NULL, global, local, 0, NULL, NULL);
}

static void run_game_of_life(cl_context context, cl_command_queue queue, cl_program program) {
  int board = BOARD;
  cl_mem now = clCreateBuffer(context, CL_MEM_READ_WRITE, BOARD * BOARD * sizeof(cl_int), NULL, NULL);
  cl_mem next = clCreateBuffer(context, CL_MEM_READ_WRITE, BOARD * BOARD * sizeof(cl_int), NULL, NULL);
  size_t global[] = {BOARD, BOARD}, local[] = {16, 16};
  cl_kernel game_of_life = clCreateKernel(program, "game_of_life", NULL);
  clSetKernelArg(game_of_life, 0, sizeof(board), &board);
  clSetKernelArg(game_of_life, 1, sizeof(now), &now);
  clSetKernelArg(game_of_life, 2, sizeof(next), &next);
  clEnqueueNDRangeKernel(queue, game_of_life, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_heat_plate(cl_context context, cl_command_queue queue, cl_program program) {
  int plate = PLATE;
  float rate = 0.1f;
  cl_mem cold = clCreateBuffer(context, CL_MEM_READ_WRITE, PLATE * PLATE * sizeof(cl_float), NULL, NULL);
  cl_mem warm = clCreateBuffer(context, CL_MEM_READ_WRITE, PLATE * PLATE * sizeof(cl_float), NULL, NULL);
  size_t global[] = {PLATE, PLATE}, local[] = {8, 8};
  cl_kernel heat_plate = clCreateKernel(program, "heat_plate", NULL);
  clSetKernelArg(heat_plate, 0, sizeof(plate), &plate);
  clSetKernelArg(heat_plate, 1, sizeof(rate), &rate);
  clSetKernelArg(heat_plate, 2, sizeof(cold), &cold);
  clSetKernelArg(heat_plate, 3, sizeof(warm), &warm);
  clEnqueueNDRangeKernel(queue, heat_plate, 2, NULL, global, local, 0, NULL, NULL);
}

int main(void) {
  cl_context context;
  cl_command_queue queue;
  cl_program program = build(&context, &queue, "stencils.cl");
  run_average_1d(context, queue, program);
  run_jacobi_2d(context, queue, program);
  run_laplace_3d(context, queue, program);
  run_game_of_life(context, queue, program);
  run_heat_plate(context, queue, program);
  return clFinish(queue);
}
