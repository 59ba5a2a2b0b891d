"""Random programs of matrix products, in C, C++ and OpenCL C."""

from random import Random

from datasets.generators.gemm_opencl import gemm_kernel
from datasets.generators.gemm_plain import plain_product
from datasets.generators.gemm_setting import random_gemm_setting
from datasets.generators.gemm_variants import VARIANTS
from datasets.generators.program import Function, Program, assemble

__all__ = ["gemm_program"]


def gemm_program(rng: Random) -> Program:
    """Draws a program of three to eight functions."""
    extension = rng.choices((".c", ".cpp", ".cl"), (45, 35, 20))[0]
    names = [f"gemm_{index}" for index in range(rng.randint(3, 8))]
    if extension == ".cl":
        return assemble(extension, [gemm_kernel(rng, name) for name in names])
    language = "c" if extension == ".c" else "c++"
    return assemble(extension, [_function(rng, name, language) for name in names])


def _function(rng: Random, name: str, language: str) -> Function:
    setting = random_gemm_setting(rng, name, language)
    if rng.random() < 0.6:
        return plain_product(rng, setting)
    return rng.choice(VARIANTS)(rng, setting)
