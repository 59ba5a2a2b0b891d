"""NumPy array types by content; shapes are given where an array is taken or returned."""

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
    """Where each of n parts begins and ends that lie one after the other: (n + 1,) int64."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def positions(start: Ints, length: Ints) -> Ints:
    """Indices of the items of n parts, one part after the other, by the (n,) start and length of each."""
    return np.repeat(start - offsets(length)[:-1], length) + np.arange(length.sum())


class Rows:
    """A dataclass whose arrays have a row for each of the same things; what else it holds is of all of them."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def rows(self, index: NDArray[Any]) -> Self:
        """Some of the rows, by number or by a mask."""
        return self._changed([self], lambda arrays: arrays[0][index])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rows of all parts, one after the other; what else they hold is the first one's."""
        return parts[0]._changed(parts, np.concatenate)

    def _changed(self, parts: Sequence[Self], change: Callable[[list[Any]], Any]) -> Self:
        names = [name for name in self.__dataclass_fields__ if isinstance(getattr(self, name), np.ndarray)]
        return replace(self, **{name: change([getattr(part, name) for part in parts]) for name in names})
