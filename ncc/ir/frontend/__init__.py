"""Source to LLVM IR, the first step: C, C++, OpenCL C and CUDA device code, by a clang run as a subprocess."""
