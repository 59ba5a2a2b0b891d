"""Kernels in Python that Triton and Numba compile, and what writes the LLVM IR that they make of them, for a corpus.

Neither needs a GPU for that; both come from PyPI (``pip install triton numba numba-cuda``), Triton with its own LLVM.
"""
