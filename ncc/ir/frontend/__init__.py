"""Source to LLVM IR: C, C++, OpenCL C and CUDA device code, by a clang run as a subprocess.

The first step; its result goes to `ncc.ir.reader`.
"""
