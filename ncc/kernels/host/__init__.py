"""Launches in host code, CUDA's and OpenCL's, read without running it."""
