int main() {
  const size_t n = 1 << 12;
  cl::Buffer data(context, CL_MEM_READ_WRITE, n * sizeof(double));
  cl::Kernel scale(program, "scale");
  scale.setArg(0, data);
  scale.setArg(1, 0xFF);
  queue.enqueueNDRangeKernel(scale, cl::NullRange, cl::NDRange(n), cl::NDRange(128));
  queue.enqueueNDRangeKernel(scale, cl::NullRange, cl::NDRange(n, 2), cl::NullRange);
}
