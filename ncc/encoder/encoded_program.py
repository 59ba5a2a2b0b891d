"""A program as the heads of classification take it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["EncodedProgram"]


class EncodedProgram(NamedTuple):
    """A program in the words of an embedding.

    Attributes:
        words: (m,) int32 word of each statement, m at least 1.
        literals: uint32 hashes of literals, as `ncc.encoder.program.Program` holds them.
        literal_start: (m + 1,) int32 offsets of the statements' literals.
    """

    words: NDArray[np.int32]
    literals: NDArray[np.uint32]
    literal_start: NDArray[np.int32]
