"""MAP@R against its definition, and expectations over smaller pools against draws."""

from collections.abc import Sequence
from itertools import combinations
from statistics import mean

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from lab.tests.rooms import average_precisions, expanded, map_at_r, pool_scores
from ncc.errors import InputError
from tests.support.refuses import refuses

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


@pytest.mark.parametrize("block", [1 << 10, 1 << 26])
def test_mean_average_precision_is_that_of_slow_code(block):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 7, 120)
    vectors = rng.normal(size=(120, 7)) + 1.5 * np.eye(7)[labels]
    vectors[rng.random(120) < 0.1] = 0
    expected = slow_map_at_r(vectors, labels)
    assert map_at_r(vectors, labels, block_bytes=block) == pytest.approx(expected, abs=1e-6)
    assert map_at_r(csr_matrix(vectors), labels, block_bytes=block) == pytest.approx(expected, abs=1e-6)


def test_what_does_not_compile_counts_as_a_miss():
    labels = np.array(["a"] * 3 + ["b"] * 2)
    vectors = np.eye(2)[[0, 0, 0, 1, 1]]
    assert map_at_r(vectors, labels) == 1
    vectors[2] = 0  # asks in vain, and is missing in the other two's answers
    assert map_at_r(vectors, labels) == pytest.approx((0.5 + 0.5 + 0 + 1 + 1) / 5)
    assert map_at_r(np.zeros((5, 2)), labels) == 0


def test_classes_of_one_are_found_by_mistake_only():
    vectors, labels = np.array([[1, 0], [1, 1], [1, -0.1]]), np.array([0, 0, 1])
    found = average_precisions(vectors, labels)
    assert np.isnan(found[2]).all()
    assert map_at_r(vectors, labels) == 0.5  # the second's nearest is right


@pytest.mark.parametrize(("rows", "labels"), [(3, [0, 0]), (2, [0, 1]), (0, [])])
def test_what_can_not_be_scored_is_refused(rows, labels):
    with refuses(InputError, "expected"):
        map_at_r(np.ones((rows, 2)), np.array(labels))


def test_neighbours_pull_vectors_together():
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(4), 20)
    vectors = np.abs(rng.normal(size=(80, 12))) + 1.2 * np.eye(12)[labels]
    vectors[5] = 0
    moved = expanded(vectors, neighbors=5)
    assert map_at_r(moved, labels) > map_at_r(vectors, labels) + 0.05
    assert not moved[5].any()
    assert np.allclose(expanded(csr_matrix(vectors), neighbors=5).toarray(), moved, atol=1e-5)


@pytest.mark.parametrize("size", [1, 2, 5, 11, 12])
def test_pools_of_any_size_are_scored_as_if_all_were_drawn(size):
    rng = np.random.default_rng(3)
    pool = rng.normal(size=(12, 4))
    queries = pool[:8] + 0.8 * rng.normal(size=(8, 4))
    pool[10] = pool[2]  # a tie
    found = pool_scores(pool, queries, np.arange(8), (size, None, 13))
    expected = [slow_pool_scores([cosine(query, one) for one in pool], row, size) for row, query in enumerate(queries)]
    assert found[:, 0] == pytest.approx(np.array(expected))
    assert np.isnan(found[:, 2]).all()
    assert (pool_scores(pool, 0 * queries, np.arange(8), (None,)) == 0).all()
