"""How well vectors find what belongs together: MAP@R of classes, and the rank of the right answer in a pool.

References: Lu et al. 2021 (CodeXGLUE: MAP@R on POJ-104); Musgrave, Belongie, Lim 2020, section 3.2 (MAP@R).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from scipy.special import gammaln

from ncc.arrays import Bools, Floats, Floats32, Ints
from ncc.errors import InputError

Matrix = Any
"""Vectors as rows, (n, dim): a NumPy array or a sparse matrix of SciPy's."""

_BLOCK_BYTES = 64 << 20
_TIE = 1e-6
"""Cosines this close are taken for equal: their order would be that of rounding."""


def map_at_r(vectors: Matrix, labels: NDArray[Any], *, block_bytes: int = _BLOCK_BYTES) -> float:
    """Return the mean average precision at R: every row queries all others, by cosine; R is its class's size minus 1.

    A row of zeros among the vectors, (n, dim), stands for what has no vector: as a query it scores 0, and it is never
    found. Classes of one are only there to be found by mistake.

    >>> map_at_r(np.array([[1, 0], [1, 0.1], [0, 1]]), np.array(["a", "a", "b"]))
    1.0
    """
    return float(np.nanmean(average_precisions(vectors, labels, block_bytes=block_bytes)[:, 0]))


def average_precisions(vectors: Matrix, labels: NDArray[Any], *, block_bytes: int = _BLOCK_BYTES) -> Floats:
    """Return the average precision at R of each query, and whether the nearest row is of its class: (n, 2)."""
    if vectors.shape[0] != len(labels):
        raise InputError(f"{vectors.shape[0]} vectors and {len(labels)} labels; expected as many")
    _, label, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if not len(sizes) or sizes.max() < 2:
        raise InputError("expected a class of two or more, found none")
    rows, there = unit_rows(vectors)
    depth = sizes[label] - 1
    # where vectors tie, which is first must not depend on the order of the classes
    order = np.random.default_rng(0).permutation(len(label))
    shuffled, hidden, label_of = rows[order], ~there[order], label[order]
    place = np.argsort(order)
    found = np.full((len(label), 2), np.nan)

    def score(queries: Ints, cosines: Floats32) -> None:
        cosines[:, hidden] = -np.inf
        cosines[np.arange(len(queries)), place[queries]] = -np.inf
        most = int(depth[queries].max(initial=1))
        best = np.argpartition(-cosines, most - 1, axis=1)[:, :most]
        ranked = np.argsort(-np.take_along_axis(cosines, best, 1), axis=1, kind="stable")
        best = np.take_along_axis(best, ranked, 1)
        hit = (label_of[best] == label[queries, None]) & np.isfinite(np.take_along_axis(cosines, best, 1))
        precision = np.cumsum(hit, axis=1) / np.arange(1, most + 1)
        hit &= np.arange(most) < depth[queries, None]
        found[queries, 0] = (precision * hit).sum(axis=1) / depth[queries]
        found[queries, 1] = hit[:, 0]

    asked = np.flatnonzero(depth > 0)
    found[asked] = 0
    _in_blocks(rows, shuffled, asked[there[asked]], score, block_bytes)
    return found


def unit_rows(vectors: Matrix) -> tuple[Matrix, Bools]:
    """Rows scaled to length 1, float32, with zero rows unchanged, and a mask of the other rows."""
    if issparse(vectors):
        rows = csr_matrix(vectors, dtype=np.float32, copy=True)
        norm = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1))).ravel()
        rows.data /= np.repeat(np.where(norm > 0, norm, 1), np.diff(rows.indptr))
        return rows, norm > 0
    norm = np.linalg.norm(vectors, axis=1)
    return (vectors / np.where(norm > 0, norm, 1)[:, None]).astype(np.float32), norm > 0


def expanded(vectors: Matrix, neighbors: int = 10, power: float = 3.0) -> Matrix:
    """Vectors moved towards their neighbors: re-ranking that looks at everything that is compared.

    Reference: Radenović, Tolias, Chum 2019, section 3.3 (alpha query expansion), here of queries and of what is found.
    """
    rows, there = unit_rows(vectors)
    weights: list[Any] = [None] * rows.shape[0]

    def weigh(queries: Ints, cosines: Floats32) -> None:
        kept = min(neighbors + 1, cosines.shape[1])
        best = np.argpartition(-cosines, kept - 1, axis=1)[:, :kept]  # a row's nearest is itself
        share = np.maximum(np.take_along_axis(cosines, best, 1), 0) ** power
        for query, columns, values in zip(queries.tolist(), best, share, strict=True):
            weights[query] = (columns, values)

    _in_blocks(rows, rows, np.flatnonzero(there), weigh)
    empty = (np.zeros(0, np.int64), np.zeros(0, np.float32))
    pairs = [pair or empty for pair in weights]
    start = np.cumsum([0, *(len(columns) for columns, _ in pairs)])
    columns, values = (np.concatenate([pair[number] for pair in pairs]) for number in range(2))
    return csr_matrix((values, columns, start), shape=(len(pairs), len(pairs))) @ rows


def pool_scores(pool: Matrix, queries: Matrix, answer: Ints, sizes: tuple[int | None, ...]) -> Floats:
    """Return how well queries, (m, dim), find their one answer among a pool, (n, dim), and smaller ones drawn from it.

    Figures are expectations, exact over all draws of the other candidates and over the order of ties: recall at 1 and
    reciprocal rank, (m, sizes, 2); NaN if the pool is smaller than a size; None is the whole pool. A query of
    zeros finds nothing.
    """
    pool, here = unit_rows(pool)
    queries, there = unit_rows(queries)
    num = pool.shape[0]
    # by the number of candidates that are nearer than the answer, for each size, summed up from 0
    curves = [_expected(num, size or num) for size in sizes]
    sums = [np.concatenate([np.zeros((1, 2)), np.cumsum(curve, axis=0)]) for curve in curves]
    found = np.zeros((queries.shape[0], len(sizes), 2))
    found[:, [(size or num) > num for size in sizes]] = np.nan

    def score(rows: Ints, cosines: Floats32) -> None:
        cosines[:, ~here] = -np.inf
        right = cosines[np.arange(len(rows)), answer[rows]][:, None]
        nearer = (cosines > right + _TIE).sum(axis=1)
        ties = (cosines >= right - _TIE).sum(axis=1) - nearer  # the answer is one of them
        for column, total in enumerate(sums):
            if (sizes[column] or num) <= num:
                found[rows, column] = (total[nearer + ties] - total[nearer]) / ties[:, None]

    _in_blocks(queries, pool, np.flatnonzero(there & here[answer]), score)
    return found


def _expected(num: int, size: int) -> Floats:
    """Recall at 1 and reciprocal rank in a pool of `size` drawn from `num`, by how many of all are nearer: (num, 2)."""
    if size > num:
        return np.zeros((num, 2))
    nearer = np.arange(num)
    others = num - 1 - nearer

    def ways(items: Ints, drawn: int) -> Floats:
        with np.errstate(all="ignore"):
            return np.where(items >= drawn, gammaln(items + 1) - gammaln(np.maximum(items - drawn, 0) + 1), -np.inf)

    first = np.exp(ways(others, size - 1) - ways(np.array(num - 1), size - 1))
    none = np.exp(ways(others, size) - ways(np.array(num), size))
    # E 1/(1 + X) of the hypergeometric X, from C(g, x) / (x + 1) = C(g + 1, x + 1) / (g + 1)
    return np.stack([first, num / (size * (nearer + 1)) * (1 - none)], axis=1)


def _in_blocks(
    queries: Matrix,
    pool: Matrix,
    chosen: Ints,
    work: Callable[[Ints, Floats32], None],
    block_bytes: int = _BLOCK_BYTES,
) -> None:
    """Calls `work` with some of the chosen queries and their cosines to the pool, (block, n) float32, its own."""
    block = max(1, block_bytes // (4 * max(1, pool.shape[0])))
    other = pool.T
    for begin in range(0, len(chosen), block):
        rows = chosen[begin : begin + block]
        product = queries[rows] @ other
        work(rows, product.toarray() if issparse(product) else product)
