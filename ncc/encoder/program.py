"""A program as classifiers read it: the statements of its author's functions, in order, with their literals."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32
from ncc.encoder.literals import statement_literals
from ncc.encoder.names import is_library_function
from ncc.ir import Module


@dataclass(frozen=True, eq=False)
class Program:
    """Statements of a program, and what abstraction took from them.

    Attributes:
        texts: Distinct abstracted statements.
        text_id: (m,) int32 index of each statement into `texts`.
        opcode: (m,) uint8 numbers of `ncc.ir.OPCODES`.
        literal_start: (m + 1,) int32 offsets into `literal`.
        literal: uint32 hashes of constants and of outside names, see `ncc.encoder.literals`.
    """

    texts: tuple[str, ...]
    text_id: Ints32
    opcode: NDArray[np.uint8]
    literal_start: Ints32
    literal: NDArray[np.uint32]


class EncodedProgram(NamedTuple):
    """A program in the words of an embedding.

    Attributes:
        words: (m,) int32 word of each statement, m at least 1.
        literals: uint32 hashes of literals, as `Program` holds them.
        literal_start: (m + 1,) int32 offsets of the statements' literals.
    """

    words: Ints32
    literals: NDArray[np.uint32]
    literal_start: Ints32


def describe_program(module: Module) -> Program:
    """Takes the functions that are not the C++ library's or the compiler's; all, where there are no others.

    Headers bring functions into a module by the hundred, others with every compiler and level.
    """
    statements = np.flatnonzero(own_functions(module)[module.statement_function] >= 0).astype(np.int32)
    used, text_id = np.unique(module.text_id[statements], return_inverse=True)
    start, literal = statement_literals(module, statements)
    return Program(
        texts=tuple(module.texts[number] for number in used.tolist()),
        text_id=text_id.astype(np.int32),
        opcode=module.opcode[statements],
        literal_start=start,
        literal=literal,
    )


def own_functions(module: Module) -> Ints:
    """(num_functions,) int64 0 for the author's functions, -1 for the C++ library's; 0 for all if all are."""
    library = np.array([is_library_function(name) for name in module.function_names], bool)
    return np.where(library & (not library.all()), -1, 0)
