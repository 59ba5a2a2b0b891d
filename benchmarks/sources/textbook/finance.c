/* Options and random numbers: host code. */
#include "build.h"

#define OPTIONS 1048576
#define WALKERS 16384
#define CONTRACTS 1024
#define NUMBERS 2048

static void run_black_scholes(cl_context context, cl_command_queue queue, cl_program program) {
  float riskless = 0.02f;
  float volatility = 0.3f;
  cl_mem price = clCreateBuffer(context, CL_MEM_READ_WRITE, OPTIONS * sizeof(cl_float), NULL, NULL);
  cl_mem strike = clCreateBuffer(context, CL_MEM_READ_WRITE, OPTIONS * sizeof(cl_float), NULL, NULL);
  cl_mem years = clCreateBuffer(context, CL_MEM_READ_WRITE, OPTIONS * sizeof(cl_float), NULL, NULL);
  cl_mem call = clCreateBuffer(context, CL_MEM_READ_WRITE, OPTIONS * sizeof(cl_float), NULL, NULL);
  cl_mem put = clCreateBuffer(context, CL_MEM_READ_WRITE, OPTIONS * sizeof(cl_float), NULL, NULL);
  size_t global[] = {OPTIONS}, local[] = {128};
  cl_kernel black_scholes = clCreateKernel(program, "black_scholes", NULL);
  clSetKernelArg(black_scholes, 0, sizeof(riskless), &riskless);
  clSetKernelArg(black_scholes, 1, sizeof(volatility), &volatility);
  clSetKernelArg(black_scholes, 2, sizeof(price), &price);
  clSetKernelArg(black_scholes, 3, sizeof(strike), &strike);
  clSetKernelArg(black_scholes, 4, sizeof(years), &years);
  clSetKernelArg(black_scholes, 5, sizeof(call), &call);
  clSetKernelArg(black_scholes, 6, sizeof(put), &put);
  clEnqueueNDRangeKernel(queue, black_scholes, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_monte_carlo_pi(cl_context context, cl_command_queue queue, cl_program program) {
  int trials = 1024;
  cl_mem seeds = clCreateBuffer(context, CL_MEM_READ_WRITE, WALKERS * sizeof(cl_uint), NULL, NULL);
  cl_mem hits = clCreateBuffer(context, CL_MEM_READ_WRITE, WALKERS * sizeof(cl_uint), NULL, NULL);
  size_t global[] = {WALKERS}, local[] = {64};
  cl_kernel monte_carlo_pi = clCreateKernel(program, "monte_carlo_pi", NULL);
  clSetKernelArg(monte_carlo_pi, 0, sizeof(trials), &trials);
  clSetKernelArg(monte_carlo_pi, 1, sizeof(seeds), &seeds);
  clSetKernelArg(monte_carlo_pi, 2, sizeof(hits), &hits);
  clEnqueueNDRangeKernel(queue, monte_carlo_pi, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_binomial_option(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem spot = clCreateBuffer(context, CL_MEM_READ_WRITE, CONTRACTS * sizeof(cl_float), NULL, NULL);
  cl_mem fair = clCreateBuffer(context, CL_MEM_READ_WRITE, CONTRACTS * sizeof(cl_float), NULL, NULL);
  size_t global[] = {CONTRACTS}, local[] = {32};
  cl_kernel binomial_option = clCreateKernel(program, "binomial_option", NULL);
  clSetKernelArg(binomial_option, 0, sizeof(spot), &spot);
  clSetKernelArg(binomial_option, 1, sizeof(fair), &fair);
  clEnqueueNDRangeKernel(queue, binomial_option, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_xorshift_fill(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem state = clCreateBuffer(context, CL_MEM_READ_WRITE, NUMBERS * sizeof(cl_uint), NULL, NULL);
  cl_mem noise = clCreateBuffer(context, CL_MEM_READ_WRITE, NUMBERS * sizeof(cl_float), NULL, NULL);
  size_t global[] = {NUMBERS}, local[] = {64};
  cl_kernel xorshift_fill = clCreateKernel(program, "xorshift_fill", NULL);
  clSetKernelArg(xorshift_fill, 0, sizeof(state), &state);
  clSetKernelArg(xorshift_fill, 1, sizeof(noise), &noise);
  clEnqueueNDRangeKernel(queue, xorshift_fill, 1, NULL, global, local, 0, NULL, NULL);
}

int main(void) {
  cl_context context;
  cl_command_queue queue;
  cl_program program = build(&context, &queue, "finance.cl");
  run_black_scholes(context, queue, program);
  run_monte_carlo_pi(context, queue, program);
  run_binomial_option(context, queue, program);
  run_xorshift_fill(context, queue, program);
  return clFinish(queue);
}
