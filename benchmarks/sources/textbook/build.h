/* What all programs here share: the first device, and a program built from a file beside them. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static cl_program build(cl_context* context, cl_command_queue* queue, const char* name) {
  cl_platform_id platform;
  cl_device_id device;
  char* text = calloc(1, 1 << 20);
  FILE* file = fopen(name, "r");
  if (!file || !fread(text, 1, (1 << 20) - 1, file)) exit(EXIT_FAILURE);
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  *context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  *queue = clCreateCommandQueue(*context, device, 0, NULL);
  cl_program program = clCreateProgramWithSource(*context, 1, (const char**)&text, NULL, NULL);
  clBuildProgram(program, 1, &device, "", NULL, NULL);
  return program;
}
