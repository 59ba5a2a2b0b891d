"""Groups of similar functions in an index: each holds the functions similar enough to the one in its middle."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints
from ncc.errors import InputError
from ncc.system.files.pages import SHOWN_ROWS, html_table
from ncc.tasks.search.index import Found, Index, dataframe

if TYPE_CHECKING:
    import pandas

_BLOCK = 4096
_MOST_PAIRS = 20_000_000
_SURE = 0.9
_THRESHOLD = 0.98
"""Where no calibration says which similarity is sure."""
_OWN_PLACE = ("_ZL", "_ZN12_GLOBAL__N_1", "_ZZ")
"""Beginnings of mangled names that may be those of different functions."""


@dataclass(frozen=True, eq=False)
class Group:
    """Similar functions: the one in the middle first, the others by their similarity to it.

    Attributes:
        functions: Two or more.
        similarity: Least one to the function in the middle.
        share: Share of pairs at that similarity or above which are the same code; None where not measured.
    """

    functions: tuple[Found, ...]
    similarity: float
    share: float | None

    def __len__(self) -> int:
        return len(self.functions)

    def __getitem__(self, number: int) -> Found:
        return self.functions[number]

    def __iter__(self) -> Iterator[Found]:
        return iter(self.functions)

    @property
    def num_statements(self) -> int:
        """Duplicate statements: those of all functions but the biggest."""
        sizes = [function.num_statements for function in self]
        return sum(sizes) - max(sizes)


@dataclass(frozen=True, eq=False)
class Duplicates:
    """Groups of similar functions, biggest first: by their duplicate statements, all but those of one function each.

    Attributes:
        of: Where they are.
        threshold: Least similarity of a function to the one in the middle of its group.
        share: Share of pairs at the threshold or above which are the same code; None where not measured.
        rows: For each group, the rows of its functions and their similarities to the first.
    """

    of: Index
    threshold: float
    share: float | None
    rows: tuple[tuple[Ints, Floats32], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Group]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(len(self))[number]]
        rows, alike = self.rows[number]
        pairs = zip(rows.tolist(), alike.tolist(), strict=True)
        functions = tuple(self.of.at(row, min(1.0, similarity)) for row, similarity in pairs)
        least = min(functions, key=lambda function: function.similarity)
        return Group(functions, least.similarity, least.share)

    def __repr__(self) -> str:
        return f"Duplicates({self.headline})"

    @property
    def headline(self) -> str:
        """How many groups there are, and from which similarity on."""
        return f"{len(self)} group{'s' * (len(self) != 1)} with similarity ≥ {self.threshold:.4g}"

    def to_dataframe(self) -> "pandas.DataFrame":
        """A pandas table: a row a function, with the number of its group from 0."""
        return dataframe([{"group": number} | one.to_dict() for number, group in enumerate(self) for one in group])

    def _repr_html_(self) -> str:
        rows = [
            (number, f"{one.similarity:.3f}", one.demangled, one.place)
            for number, group in enumerate(islice(self, SHOWN_ROWS))
            for one in group
        ]
        return html_table(repr(self), ("group", "similarity", "function", "place"), rows)


def find_duplicates(index: Index, threshold: float | None, *, min_statements: int, most: int | None) -> Duplicates:
    """See `Index.duplicates`."""
    if threshold is not None and not 0 < threshold <= 1:
        raise InputError(f"threshold is {threshold:g}; expected a similarity above 0, 1 at most")
    if min_statements < 1 or (most is not None and most < 1):
        raise InputError(f"min_statements is {min_statements} and most {most}; expected 1 or more")
    rows = _rows(index, min_statements)
    if threshold is None:
        sure = index.calibration.threshold(_SURE, len(rows)) if index.calibration else None
        threshold = sure or _THRESHOLD
    share = index.calibration.share(threshold, len(rows)) if index.calibration else None
    vectors = index.vectors[rows]
    bits = np.ascontiguousarray(vectors).view(np.dtype((np.void, 2 * vectors.shape[1]))).ravel()
    _, first, same = np.unique(bits, return_index=True, return_inverse=True)
    count = np.bincount(same, minlength=len(first))
    members = np.split(rows[np.argsort(same, kind="stable")], np.cumsum(count)[:-1])
    groups = []
    for stars, alike in _stars(vectors[first], threshold, count):
        numbers = np.concatenate([members[star] for star in stars])
        if len(numbers) > 1:
            groups.append((numbers, np.repeat(alike, count[stars])))
    sizes = index.store.functions["num_statements"].to_numpy()
    groups.sort(key=lambda group: (int(sizes[group[0]].max()) - int(sizes[group[0]].sum()), int(group[0][0])))
    return Duplicates(index, threshold, share, tuple(groups[:most]))


def _rows(index: Index, min_statements: int) -> Ints:
    """Rows of the functions that are big enough, each function of a header or template once."""
    table = index.store.functions
    rows = np.flatnonzero(table["num_statements"].to_numpy() >= min_statements)
    seen: set[Any] = set()
    kept = []
    chosen = table.take(rows)
    columns = (chosen[name].to_pylist() for name in ("file", "name", "source", "first_line"))
    for row, file, name, source, line in zip(rows.tolist(), *columns, strict=True):
        names = {(source or file, line)}
        if name.startswith("_Z") and not name.startswith(_OWN_PLACE):
            names.add(name)
        if not names & seen:
            kept.append(row)
        seen |= names
    return np.array(kept, np.int64)


def _stars(vectors: NDArray[np.float16], threshold: float, weight: Ints) -> Iterator[tuple[Ints, Floats32]]:
    """Each vector in one star: a middle, and those near it that no bigger star took, with how alike they are to it."""
    count = len(vectors)
    left, right, value = [], [], []
    num_pairs = 0
    for start in range(0, count, _BLOCK):
        block = vectors[start : start + _BLOCK].astype(np.float32)
        for other in range(start, count, _BLOCK):
            alike = block @ vectors[other : other + _BLOCK].astype(np.float32).T
            a, b = np.nonzero(alike >= threshold)
            keep = a + start < b + other
            left.append(a[keep] + start)
            right.append(b[keep] + other)
            value.append(alike[a[keep], b[keep]])
            num_pairs += int(keep.sum())
            if num_pairs > _MOST_PAIRS:
                raise InputError(f"more than {_MOST_PAIRS:,} pairs are alike by {threshold:g}; name a higher threshold")
    ends = [np.concatenate([*left, *right]), np.concatenate([*right, *left])] if left else [np.zeros(0, int)] * 2
    values = np.concatenate([*value, *value]) if value else np.zeros(0, np.float32)
    order = np.lexsort((ends[1], -values, ends[0]))
    near, values = ends[1][order], values[order]
    starts = np.searchsorted(ends[0][order], np.arange(count + 1))
    degree = np.bincount(ends[0], weight[ends[1]] if len(ends[1]) else None, minlength=count) + weight
    free = np.ones(count, bool)
    for middle in np.argsort(-degree, kind="stable").tolist():
        if free[middle]:
            around = slice(*starts[middle : middle + 2].tolist())
            taken = free[near[around]]
            others = near[around][taken]
            free[others] = free[middle] = False
            yield np.append(middle, others), np.append(np.float32(1), values[around][taken])
