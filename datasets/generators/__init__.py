"""Synthetic programs for a corpus: matrix products, stencils and Eigen expressions, random but valid.

They are the generated part of inst2vec's corpus (Ben-Nun et al. 2018, section 5): code of high-performance computing
whose loops, data layouts, types and expressions are drawn at random from templates. ``python -m datasets.generators``
writes them to a folder, for a recipe to read.
"""

import random
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from datasets.generators.eigen import eigen_program
from datasets.generators.gemm import gemm_program
from datasets.generators.program import Generator
from datasets.generators.stencil import stencil_program
from ncc.errors import InputError

__all__ = ["GENERATORS", "SEED", "Generator", "generate"]

GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {"gemm": gemm_program, "stencil": stencil_program, "eigen": eigen_program}
)


SEED = 204
"""Of the programs that the recipes were measured on."""


def generate(name: str, number: int, *, seed: int = SEED) -> Iterator[tuple[str, str]]:
    """Writes random programs: the same for the same seed, each independent of how many are asked for.

    Args:
        name: One of `GENERATORS`: "gemm" and "stencil" in C, C++ and OpenCL C, "eigen" in C++.
        number: How many programs.
        seed: Another seed gives other programs.

    Returns:
        File name and source text of each program.

    Raises:
        InputError: There is no generator of this name.

    >>> [name for name, text in generate("eigen", 2)]
    ['eigen-00000.cpp', 'eigen-00001.cpp']
    """
    generator = GENERATORS.get(name)
    if generator is None:
        raise InputError(f"no generator {name!r} of synthetic programs; expected one of {', '.join(GENERATORS)}")
    return (_named(name, index, generator, seed) for index in range(number))


def _named(name: str, index: int, generator: Generator, seed: int) -> tuple[str, str]:
    program = generator(random.Random(f"{name}-{seed}-{index}"))
    return f"{name}-{index:05d}{program.extension}", program.text
