/* Signals: transforms, filters, checksums: host code. */
#include "build.h"

#define SIGNAL 1048576
#define TONES 1024
#define SOUND 1048576
#define PICTURE 512
#define SIGNAL_PAIRS 524288
#define BLOCKS 16384

static void run_fft_stage(cl_context context, cl_command_queue queue, cl_program program) {
  int half_size = 512;
  cl_mem real = clCreateBuffer(context, CL_MEM_READ_WRITE, SIGNAL * sizeof(cl_float), NULL, NULL);
  cl_mem imaginary = clCreateBuffer(context, CL_MEM_READ_WRITE, SIGNAL * sizeof(cl_float), NULL, NULL);
  size_t global[] = {SIGNAL / 2}, local[] = {256};
  cl_kernel fft_stage = clCreateKernel(program, "fft_stage", NULL);
  clSetKernelArg(fft_stage, 0, sizeof(half_size), &half_size);
  clSetKernelArg(fft_stage, 1, sizeof(real), &real);
  clSetKernelArg(fft_stage, 2, sizeof(imaginary), &imaginary);
  clEnqueueNDRangeKernel(queue, fft_stage, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_dft_naive(cl_context context, cl_command_queue queue, cl_program program) {
  int tones = TONES;
  cl_mem wave = clCreateBuffer(context, CL_MEM_READ_WRITE, TONES * sizeof(cl_float), NULL, NULL);
  cl_mem spectrum = clCreateBuffer(context, CL_MEM_READ_WRITE, TONES * sizeof(cl_float2), NULL, NULL);
  size_t global[] = {TONES}, local[] = {64};
  cl_kernel dft_naive = clCreateKernel(program, "dft_naive", NULL);
  clSetKernelArg(dft_naive, 0, sizeof(tones), &tones);
  clSetKernelArg(dft_naive, 1, sizeof(wave), &wave);
  clSetKernelArg(dft_naive, 2, sizeof(spectrum), &spectrum);
  clEnqueueNDRangeKernel(queue, dft_naive, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_fir_64(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem sound = clCreateBuffer(context, CL_MEM_READ_WRITE, (SOUND + 64) * sizeof(cl_float), NULL, NULL);
  cl_mem taps = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 * sizeof(cl_float), NULL, NULL);
  cl_mem echo = clCreateBuffer(context, CL_MEM_READ_WRITE, SOUND * sizeof(cl_float), NULL, NULL);
  size_t global[] = {SOUND}, local[] = {128};
  cl_kernel fir_64 = clCreateKernel(program, "fir_64", NULL);
  clSetKernelArg(fir_64, 0, sizeof(sound), &sound);
  clSetKernelArg(fir_64, 1, sizeof(taps), &taps);
  clSetKernelArg(fir_64, 2, sizeof(echo), &echo);
  clEnqueueNDRangeKernel(queue, fir_64, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_dct_rows(cl_context context, cl_command_queue queue, cl_program program) {
  int picture = PICTURE;
  cl_mem pixels = clCreateBuffer(context, CL_MEM_READ_WRITE, PICTURE * PICTURE * sizeof(cl_float), NULL, NULL);
  cl_mem cosines = clCreateBuffer(context, CL_MEM_READ_WRITE, PICTURE * PICTURE * sizeof(cl_float), NULL, NULL);
  size_t global[] = {PICTURE, PICTURE}, local[] = {8, 8};
  cl_kernel dct_rows = clCreateKernel(program, "dct_rows", NULL);
  clSetKernelArg(dct_rows, 0, sizeof(picture), &picture);
  clSetKernelArg(dct_rows, 1, sizeof(pixels), &pixels);
  clSetKernelArg(dct_rows, 2, sizeof(cosines), &cosines);
  clEnqueueNDRangeKernel(queue, dct_rows, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_haar_level(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem fine_signal = clCreateBuffer(context, CL_MEM_READ_WRITE, SIGNAL_PAIRS * 2 * sizeof(cl_float), NULL, NULL);
  cl_mem coarse = clCreateBuffer(context, CL_MEM_READ_WRITE, SIGNAL_PAIRS * sizeof(cl_float), NULL, NULL);
  cl_mem detail = clCreateBuffer(context, CL_MEM_READ_WRITE, SIGNAL_PAIRS * sizeof(cl_float), NULL, NULL);
  size_t global[] = {SIGNAL_PAIRS}, local[] = {256};
  cl_kernel haar_level = clCreateKernel(program, "haar_level", NULL);
  clSetKernelArg(haar_level, 0, sizeof(fine_signal), &fine_signal);
  clSetKernelArg(haar_level, 1, sizeof(coarse), &coarse);
  clSetKernelArg(haar_level, 2, sizeof(detail), &detail);
  clEnqueueNDRangeKernel(queue, haar_level, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_crc_blocks(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem message = clCreateBuffer(context, CL_MEM_READ_WRITE, BLOCKS * 64 * sizeof(cl_uint), NULL, NULL);
  cl_mem checksum = clCreateBuffer(context, CL_MEM_READ_WRITE, BLOCKS * sizeof(cl_uint), NULL, NULL);
  size_t global[] = {BLOCKS}, local[] = {64};
  cl_kernel crc_blocks = clCreateKernel(program, "crc_blocks", NULL);
  clSetKernelArg(crc_blocks, 0, sizeof(message), &message);
  clSetKernelArg(crc_blocks, 1, sizeof(checksum), &checksum);
  clEnqueueNDRangeKernel(queue, crc_blocks, 1, NULL, global, local, 0, NULL, NULL);
}

int main(void) {
  cl_context context;
  cl_command_queue queue;
  cl_program program = build(&context, &queue, "signals.cl");
  run_fft_stage(context, queue, program);
  run_dft_naive(context, queue, program);
  run_fir_64(context, queue, program);
  run_dct_rows(context, queue, program);
  run_haar_level(context, queue, program);
  run_crc_blocks(context, queue, program);
  return clFinish(queue);
}
