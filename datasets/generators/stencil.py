"""Random programs of stencils in one to four dimensions, in C, C++ and OpenCL C."""

from random import Random

from datasets.generators.program import Function, Program, assemble
from datasets.generators.stencil_host import random_stencil
from datasets.generators.stencil_opencl import stencil_kernel

__all__ = ["stencil_program"]


def stencil_program(rng: Random) -> Program:
    """Draws a program of three to eight functions, each named after its dimensionality."""
    extension = rng.choices((".c", ".cpp", ".cl"), (45, 35, 20))[0]
    return assemble(extension, [_function(rng, index, extension) for index in range(rng.randint(3, 8))])


def _function(rng: Random, index: int, extension: str) -> Function:
    dims = rng.choice((1, 1, 2, 2, 2, 3, 3, 3, 4))
    name = f"stencil{dims}d_{index}"
    if extension == ".cl":
        return stencil_kernel(rng, name, dims)
    return random_stencil(rng, name, dims, "c" if extension == ".c" else "c++")
