/* Images: filters and fractals: host code. */
#include "build.h"

#define SCREEN_X 1024
#define SCREEN_Y 768
#define JULIA 512
#define PHOTO 1024
#define EDGES 2048
#define FRAME_X 1920
#define FRAME_Y 1080
#define VGA_X 640
#define VGA_Y 480
#define PORTRAIT 512

static void run_mandelbrot(cl_context context, cl_command_queue queue, cl_program program) {
  int limit = 256;
  cl_mem escape = clCreateBuffer(context, CL_MEM_READ_WRITE, SCREEN_X * SCREEN_Y * sizeof(cl_int), NULL, NULL);
  size_t global[] = {SCREEN_X, SCREEN_Y}, local[] = {16, 16};
  cl_kernel mandelbrot = clCreateKernel(program, "mandelbrot", NULL);
  clSetKernelArg(mandelbrot, 0, sizeof(limit), &limit);
  clSetKernelArg(mandelbrot, 1, sizeof(escape), &escape);
  clEnqueueNDRangeKernel(queue, mandelbrot, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_julia_fixed(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem modulus = clCreateBuffer(context, CL_MEM_READ_WRITE, JULIA * JULIA * sizeof(cl_float), NULL, NULL);
  size_t global[] = {JULIA, JULIA}, local[] = {8, 8};
  cl_kernel julia_fixed = clCreateKernel(program, "julia_fixed", NULL);
  clSetKernelArg(julia_fixed, 0, sizeof(modulus), &modulus);
  clEnqueueNDRangeKernel(queue, julia_fixed, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_convolve_5x5(cl_context context, cl_command_queue queue, cl_program program) {
  int photo = PHOTO;
  cl_mem source = clCreateBuffer(context, CL_MEM_READ_WRITE, PHOTO * PHOTO * sizeof(cl_float), NULL, NULL);
  cl_mem mask = clCreateBuffer(context, CL_MEM_READ_WRITE, 25 * sizeof(cl_float), NULL, NULL);
  cl_mem filtered = clCreateBuffer(context, CL_MEM_READ_WRITE, PHOTO * PHOTO * sizeof(cl_float), NULL, NULL);
  size_t global[] = {PHOTO, PHOTO}, local[] = {16, 16};
  cl_kernel convolve_5x5 = clCreateKernel(program, "convolve_5x5", NULL);
  clSetKernelArg(convolve_5x5, 0, sizeof(photo), &photo);
  clSetKernelArg(convolve_5x5, 1, sizeof(source), &source);
  clSetKernelArg(convolve_5x5, 2, sizeof(mask), &mask);
  clSetKernelArg(convolve_5x5, 3, sizeof(filtered), &filtered);
  clEnqueueNDRangeKernel(queue, convolve_5x5, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_sobel(cl_context context, cl_command_queue queue, cl_program program) {
  int stride = EDGES;
  cl_mem scene = clCreateBuffer(context, CL_MEM_READ_WRITE, EDGES * EDGES * sizeof(cl_float), NULL, NULL);
  cl_mem edges = clCreateBuffer(context, CL_MEM_READ_WRITE, EDGES * EDGES * sizeof(cl_float), NULL, NULL);
  size_t global[] = {EDGES, EDGES}, local[] = {32, 8};
  cl_kernel sobel = clCreateKernel(program, "sobel", NULL);
  clSetKernelArg(sobel, 0, sizeof(stride), &stride);
  clSetKernelArg(sobel, 1, sizeof(scene), &scene);
  clSetKernelArg(sobel, 2, sizeof(edges), &edges);
  clEnqueueNDRangeKernel(queue, sobel, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_gray_scale(cl_context context, cl_command_queue queue, cl_program program) {
  cl_mem color = clCreateBuffer(context, CL_MEM_READ_WRITE, FRAME_X * FRAME_Y * 4 * sizeof(cl_uchar), NULL, NULL);
  cl_mem gray = clCreateBuffer(context, CL_MEM_READ_WRITE, FRAME_X * FRAME_Y * sizeof(cl_uchar), NULL, NULL);
  size_t global[] = {FRAME_X, FRAME_Y}, local[] = {16, 8};
  cl_kernel gray_scale = clCreateKernel(program, "gray_scale", NULL);
  clSetKernelArg(gray_scale, 0, sizeof(color), &color);
  clSetKernelArg(gray_scale, 1, sizeof(gray), &gray);
  clEnqueueNDRangeKernel(queue, gray_scale, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_median_3x3(cl_context context, cl_command_queue queue, cl_program program) {
  int vga_x = VGA_X;
  int vga_y = VGA_Y;
  cl_mem noisy = clCreateBuffer(context, CL_MEM_READ_WRITE, VGA_X * VGA_Y * sizeof(cl_float), NULL, NULL);
  cl_mem clean = clCreateBuffer(context, CL_MEM_READ_WRITE, VGA_X * VGA_Y * sizeof(cl_float), NULL, NULL);
  size_t global[] = {VGA_X, VGA_Y}, local[] = {32, 4};
  cl_kernel median_3x3 = clCreateKernel(program, "median_3x3", NULL);
  clSetKernelArg(median_3x3, 0, sizeof(vga_x), &vga_x);
  clSetKernelArg(median_3x3, 1, sizeof(vga_y), &vga_y);
  clSetKernelArg(median_3x3, 2, sizeof(noisy), &noisy);
  clSetKernelArg(median_3x3, 3, sizeof(clean), &clean);
  clEnqueueNDRangeKernel(queue, median_3x3, 2, NULL, global, local, 0, NULL, NULL);
}

static void run_bilateral(cl_context context, cl_command_queue queue, cl_program program) {
  int portrait = PORTRAIT;
  cl_mem rough = clCreateBuffer(context, CL_MEM_READ_WRITE, PORTRAIT * PORTRAIT * sizeof(cl_float), NULL, NULL);
  cl_mem fine = clCreateBuffer(context, CL_MEM_READ_WRITE, PORTRAIT * PORTRAIT * sizeof(cl_float), NULL, NULL);
  size_t global[] = {PORTRAIT, PORTRAIT}, local[] = {16, 16};
  cl_kernel bilateral = clCreateKernel(program, "bilateral", NULL);
  clSetKernelArg(bilateral, 0, sizeof(portrait), &portrait);
  clSetKernelArg(bilateral, 1, sizeof(rough), &rough);
  clSetKernelArg(bilateral, 2, sizeof(fine), &fine);
  clEnqueueNDRangeKernel(queue, bilateral, 2, NULL, global, local, 0, NULL, NULL);
}

int main(void) {
  cl_context context;
  cl_command_queue queue;
  cl_program program = build(&context, &queue, "images.cl");
  run_mandelbrot(context, queue, program);
  run_julia_fixed(context, queue, program);
  run_convolve_5x5(context, queue, program);
  run_sobel(context, queue, program);
  run_gray_scale(context, queue, program);
  run_median_3x3(context, queue, program);
  run_bilateral(context, queue, program);
  return clFinish(queue);
}
