"""Hashes of pairs, by which patterns and n-grams of code are numbered."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))
_SHIFTS = (np.uint64(29), np.uint64(32))


def mixed(first: NDArray[np.uint64], second: NDArray[np.uint64] | np.uint64) -> NDArray[np.uint64]:
    """Two numbers as one, their bits well mixed; overflow is meant. Files that ship depend on it."""
    with np.errstate(over="ignore"):
        found: NDArray[Any] = first * _FACTORS[0] ^ (second + _FACTORS[0])
        found ^= found >> _SHIFTS[0]
        found *= _FACTORS[1]
        found ^= found >> _SHIFTS[1]
    return found
