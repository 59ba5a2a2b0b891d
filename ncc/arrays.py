"""NumPy array types by content; docstrings of functions and fields give the shapes."""

from collections.abc import Callable, Sequence
from dataclasses import Field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Bools = NDArray[np.bool_]
Split = tuple[Ints, Ints]
"""Row indices of training and of test rows."""


def offsets(lengths: Sequence[int] | NDArray[Any]) -> Ints:
    """Offsets of n concatenated parts, (n + 1,) int64."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def positions(start: Ints, length: Ints) -> Ints:
    """Indices of all items of n parts, part by part, from the (n,) start and length of each."""
    return np.repeat(start - offsets(length)[:-1], length) + np.arange(length.sum())


class Rows:
    """A dataclass whose arrays have one row per item; its other fields describe all items together."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def rows(self, index: NDArray[Any]) -> Self:
        """Select rows by index or by a mask."""
        return self._changed([self], lambda arrays: arrays[0][index])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Concatenate the rows of all parts; other fields are taken from the first part."""
        return parts[0]._changed(parts, np.concatenate)

    def _changed(self, parts: Sequence[Self], change: Callable[[list[Any]], Any]) -> Self:
        names = [name for name in self.__dataclass_fields__ if isinstance(getattr(self, name), np.ndarray)]
        return replace(self, **{name: change([getattr(part, name) for part in parts]) for name in names})
