"""Groups of similar functions in an index: each holds the functions similar enough to its representative."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints
from ncc.errors import InputError, check_positive
from ncc.system.files.summaries import Summarized, Summary
from ncc.system.files.tables import data_frame
from ncc.system.files.text import pluralize
from ncc.tasks.search.index import PERCENTAGES, Index, IndexedFunction, function_lines

if TYPE_CHECKING:
    import pandas

_TILE = 4096
_MAX_PAIRS = 20_000_000
_COPY_RATE = 0.9
_THRESHOLD = 0.98
"""Threshold if no similarity is known to have that copy rate."""
_LOCAL_NAMES = ("_ZL", "_ZN12_GLOBAL__N_1", "_ZZ")
"""Prefixes of mangled names that different functions may share."""


@dataclass(frozen=True, eq=False)
class Group:
    """Similar functions: the representative first, the others by their similarity to it.

    Attributes:
        functions: Two or more functions.
        similarity: Lowest similarity to the representative.
        copy_rate: Fraction of copies among pairs with at least that similarity; None if not measured.
    """

    functions: tuple[IndexedFunction, ...]
    similarity: float
    copy_rate: float | None

    @property
    def num_statements(self) -> int:
        """Duplicate statements: those of all functions except the largest."""
        sizes = [function.num_statements for function in self.functions]
        return sum(sizes) - max(sizes)

    @property
    def title(self) -> str:
        """Its size as text."""
        return f"{len(self.functions)} functions, {self.num_statements:,} duplicate statements"


@dataclass(frozen=True, eq=False)
class Duplicates(Summarized):
    """Groups of similar functions, sorted by number of duplicate statements.

    Attributes:
        of: Index that the functions are in.
        threshold: Minimum similarity of a function to the representative of its group.
        copy_rate: Fraction of copies among pairs with at least that similarity; None if not measured.
        rows: Rows of the functions of each group, with similarities to the first.
    """

    of: Index
    threshold: float
    copy_rate: float | None
    rows: tuple[tuple[Ints, Floats32], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Group]:
        return (self[group] for group in range(len(self)))

    def __getitem__(self, group: int | slice) -> Any:
        if isinstance(group, slice):
            return [self[index] for index in range(len(self))[group]]
        rows, similarities = self.rows[group]
        pairs = zip(rows.tolist(), similarities.tolist(), strict=True)
        functions = tuple(self.of.function_at(row, min(1.0, similarity)) for row, similarity in pairs)
        lowest = min(functions, key=lambda function: function.similarity)
        return Group(functions, lowest.similarity, lowest.copy_rate)

    def __repr__(self) -> str:
        return f"Duplicates({len(self)} groups with similarity ≥ {self.threshold:.4g})"

    def summary(self) -> Summary:
        """Return each group, its representative first."""
        rate = self.copy_rate
        groups = [
            (
                f"group {index}",
                [
                    group.title,
                    # the representative is not a copy of itself
                    *function_lines([replace(group.functions[0], copy_rate=None), *group.functions[1:]]),
                ],
            )
            for index, group in enumerate(self, 1)
        ]
        return Summary(
            verdict=pluralize(len(self), "group"),
            interval=f"similarity {self.threshold:.4g} or more",
            confidence="" if rate is None else f"{rate:.0%} copies",
            subject=str(self.of.store.folder),
            details=[*groups, ("copies", PERCENTAGES if rate is not None and groups else "")],
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the fields of JSON for each group."""
        shared = {"threshold": self.threshold, "threshold_copy_rate": self.copy_rate, "pooling": self.of.pooling}
        return [
            vars(group)
            | {"functions": list(map(IndexedFunction.to_dict, group.functions)), "num_statements": group.num_statements}
            | shared
            for group in self
        ]

    def to_dataframe(self) -> "pandas.DataFrame":
        """Return a pandas table with one row per function and the index of its group."""
        groups = enumerate(self)
        return data_frame([{"group": index} | row.to_dict() for index, group in groups for row in group.functions])


def find_duplicates(
    index: Index, threshold: float | None, *, min_statements: int, max_groups: int | None
) -> Duplicates:
    """See `Index.duplicates`."""
    if threshold is not None and not 0 < threshold <= 1:
        raise InputError(f"threshold is {threshold:g}; expected a similarity above 0 and at most 1")
    check_positive(min_statements=min_statements, max_groups=max_groups)
    rows = _rows(index, min_statements)
    if threshold is None:
        threshold = (index.calibration and index.calibration.threshold(_COPY_RATE, len(rows))) or _THRESHOLD
    copy_rate = index.calibration.copy_rate(threshold, len(rows)) if index.calibration else None
    vectors = index.vectors[rows]
    bits = np.ascontiguousarray(vectors).view(np.dtype((np.void, 2 * vectors.shape[1]))).ravel()
    _, first, same = np.unique(bits, return_index=True, return_inverse=True)
    count = np.bincount(same, minlength=len(first))
    members = np.split(rows[np.argsort(same, kind="stable")], np.cumsum(count)[:-1])
    groups = []
    for cluster, similarity in _star_clusters(vectors[first], threshold, count):
        functions = np.concatenate([members[vector] for vector in cluster])
        if len(functions) > 1:
            groups.append((functions, np.repeat(similarity, count[cluster])))
    sizes = index.store.functions["num_statements"]
    groups.sort(key=lambda group: (int(sizes[group[0]].max()) - int(sizes[group[0]].sum()), int(group[0][0])))
    return Duplicates(index, threshold, copy_rate, tuple(groups[:max_groups]))


def _rows(index: Index, min_statements: int) -> Ints:
    """Rows of functions that are large enough, with each function of a header or template only once."""
    rows = np.flatnonzero(index.store.functions["num_statements"] >= min_statements)
    kept, seen = [], set[Any]()
    for row in rows.tolist():
        function = index.store.function(row)
        names: set[Any] = {(function.source or index.store.file_of(row).path, function.first_line)}
        if function.name.startswith("_Z") and not function.name.startswith(_LOCAL_NAMES):
            names.add(function.name)
        if not names & seen:
            kept.append(row)
        seen |= names
    return np.array(kept, np.int64)


def _star_clusters(vectors: NDArray[np.float16], threshold: float, weight: Ints) -> Iterator[tuple[Ints, Floats32]]:
    """Disjoint clusters of vectors, largest first: a representative and its neighbors, with their similarities."""
    count = len(vectors)
    left, right, value = [], [], []
    num_pairs = 0
    for start in range(0, count, _TILE):
        tile = vectors[start : start + _TILE].astype(np.float32)
        for other in range(start, count, _TILE):
            alike = tile @ vectors[other : other + _TILE].astype(np.float32).T
            a, b = np.nonzero(alike >= threshold)
            keep = a + start < b + other
            left.append(a[keep] + start)
            right.append(b[keep] + other)
            value.append(alike[a[keep], b[keep]])
            num_pairs += int(keep.sum())
            if num_pairs > _MAX_PAIRS:
                raise InputError(
                    f"more than {_MAX_PAIRS:,} pairs have a similarity of {threshold:g}; raise the threshold"
                )
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
