/* Particles, clusters and neighbors: host code. */
#include "build.h"

#define BODIES 4096
#define FEW 128
#define ATOMS 8192
#define POINTS 65536
#define QUERIES 16384
#define REFERENCES 1024

static void run_nbody_forces(cl_context context, cl_command_queue queue, cl_program program) {
  int bodies = BODIES;
  cl_mem body = clCreateBuffer(context, CL_MEM_READ_WRITE, BODIES * sizeof(cl_float4), NULL, NULL);
  cl_mem force = clCreateBuffer(context, CL_MEM_READ_WRITE, BODIES * sizeof(cl_float4), NULL, NULL);
  size_t global[] = {BODIES}, local[] = {64};
  cl_kernel nbody_forces = clCreateKernel(program, "nbody_forces", NULL);
  clSetKernelArg(nbody_forces, 0, sizeof(bodies), &bodies);
  clSetKernelArg(nbody_forces, 1, sizeof(body), &body);
  clSetKernelArg(nbody_forces, 2, sizeof(force), &force);
  clEnqueueNDRangeKernel(queue, nbody_forces, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_nbody_few(cl_context context, cl_command_queue queue, cl_program program) {
  int few = FEW;
  cl_mem mass = clCreateBuffer(context, CL_MEM_READ_WRITE, FEW * sizeof(cl_float), NULL, NULL);
  cl_mem place = clCreateBuffer(context, CL_MEM_READ_WRITE, FEW * sizeof(cl_float), NULL, NULL);
  cl_mem pull = clCreateBuffer(context, CL_MEM_READ_WRITE, FEW * sizeof(cl_float), NULL, NULL);
  size_t global[] = {FEW}, local[] = {32};
  cl_kernel nbody_few = clCreateKernel(program, "nbody_few", NULL);
  clSetKernelArg(nbody_few, 0, sizeof(few), &few);
  clSetKernelArg(nbody_few, 1, sizeof(mass), &mass);
  clSetKernelArg(nbody_few, 2, sizeof(place), &place);
  clSetKernelArg(nbody_few, 3, sizeof(pull), &pull);
  clEnqueueNDRangeKernel(queue, nbody_few, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_lennard_jones(cl_context context, cl_command_queue queue, cl_program program) {
  int near = 32;
  cl_mem atom = clCreateBuffer(context, CL_MEM_READ_WRITE, ATOMS * sizeof(cl_float4), NULL, NULL);
  cl_mem list = clCreateBuffer(context, CL_MEM_READ_WRITE, ATOMS * 32 * sizeof(cl_int), NULL, NULL);
  cl_mem energy = clCreateBuffer(context, CL_MEM_READ_WRITE, ATOMS * sizeof(cl_float), NULL, NULL);
  size_t global[] = {ATOMS}, local[] = {128};
  cl_kernel lennard_jones = clCreateKernel(program, "lennard_jones", NULL);
  clSetKernelArg(lennard_jones, 0, sizeof(near), &near);
  clSetKernelArg(lennard_jones, 1, sizeof(atom), &atom);
  clSetKernelArg(lennard_jones, 2, sizeof(list), &list);
  clSetKernelArg(lennard_jones, 3, sizeof(energy), &energy);
  clEnqueueNDRangeKernel(queue, lennard_jones, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_kmeans_assign(cl_context context, cl_command_queue queue, cl_program program) {
  int clusters = 16;
  int features = 8;
  cl_mem points = clCreateBuffer(context, CL_MEM_READ_WRITE, POINTS * 8 * sizeof(cl_float), NULL, NULL);
  cl_mem centers = clCreateBuffer(context, CL_MEM_READ_WRITE, 16 * 8 * sizeof(cl_float), NULL, NULL);
  cl_mem member = clCreateBuffer(context, CL_MEM_READ_WRITE, POINTS * sizeof(cl_int), NULL, NULL);
  size_t global[] = {POINTS}, local[] = {256};
  cl_kernel kmeans_assign = clCreateKernel(program, "kmeans_assign", NULL);
  clSetKernelArg(kmeans_assign, 0, sizeof(clusters), &clusters);
  clSetKernelArg(kmeans_assign, 1, sizeof(features), &features);
  clSetKernelArg(kmeans_assign, 2, sizeof(points), &points);
  clSetKernelArg(kmeans_assign, 3, sizeof(centers), &centers);
  clSetKernelArg(kmeans_assign, 4, sizeof(member), &member);
  clEnqueueNDRangeKernel(queue, kmeans_assign, 1, NULL, global, local, 0, NULL, NULL);
}

static void run_nearest_neighbor(cl_context context, cl_command_queue queue, cl_program program) {
  int references = REFERENCES;
  cl_mem query = clCreateBuffer(context, CL_MEM_READ_WRITE, QUERIES * sizeof(cl_float2), NULL, NULL);
  cl_mem reference = clCreateBuffer(context, CL_MEM_READ_WRITE, REFERENCES * sizeof(cl_float2), NULL, NULL);
  cl_mem nearest = clCreateBuffer(context, CL_MEM_READ_WRITE, QUERIES * sizeof(cl_int), NULL, NULL);
  size_t global[] = {QUERIES}, local[] = {64};
  cl_kernel nearest_neighbor = clCreateKernel(program, "nearest_neighbor", NULL);
  clSetKernelArg(nearest_neighbor, 0, sizeof(references), &references);
  clSetKernelArg(nearest_neighbor, 1, sizeof(query), &query);
  clSetKernelArg(nearest_neighbor, 2, sizeof(reference), &reference);
  clSetKernelArg(nearest_neighbor, 3, sizeof(nearest), &nearest);
  clEnqueueNDRangeKernel(queue, nearest_neighbor, 1, NULL, global, local, 0, NULL, NULL);
}

int main(void) {
  cl_context context;
  cl_command_queue queue;
  cl_program program = build(&context, &queue, "particles.cl");
  run_nbody_forces(context, queue, program);
  run_nbody_few(context, queue, program);
  run_lennard_jones(context, queue, program);
  run_kmeans_assign(context, queue, program);
  run_nearest_neighbor(context, queue, program);
  return clFinish(queue);
}
