"""How well vectors find what belongs together, by definition: one query at a time, and all draws of a pool."""

from collections.abc import Sequence
from itertools import combinations
from statistics import mean

import numpy as np
from numpy.typing import NDArray

TIE = 1e-6
"""Cosines this close are equal."""


def cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The cosine of two vectors, neither of them zeros."""
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def slow_map_at_r(vectors: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Mean average precision at R; a row of zeros scores 0 and is never found, and classes of one ask nothing."""
    scores = []
    for query, label in enumerate(labels):
        if not (wanted := int((labels == label).sum()) - 1):
            continue
        others = [other for other in range(len(labels)) if other != query and vectors[other].any()]
        hits, precision = 0, 0.0
        if vectors[query].any():
            others.sort(key=lambda other: -cosine(vectors[query], vectors[other]))
            for rank, other in enumerate(others[:wanted], start=1):
                hits += labels[other] == label
                precision += hits / rank if labels[other] == label else 0
        scores.append(precision / wanted)
    return mean(scores)


def slow_pool_scores(cosines: Sequence[float], answer: int, size: int) -> tuple[float, float]:
    """Recall at 1 and reciprocal rank of an answer, over all pools of a size that hold it and all orders of ties."""
    right = cosines[answer]
    others = [value for place, value in enumerate(cosines) if place != answer]
    first, reciprocal = [], []
    for drawn in combinations(others, size - 1):
        nearer = sum(value > right + TIE for value in drawn)
        ties = sum(abs(value - right) <= TIE for value in drawn)
        ranks = range(nearer + 1, nearer + ties + 2)
        first.append(mean(rank == 1 for rank in ranks))
        reciprocal.append(mean(1 / rank for rank in ranks))
    return mean(first), mean(reciprocal)
