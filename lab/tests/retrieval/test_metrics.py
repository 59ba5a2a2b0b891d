"""MAP@R against its definition, and expectations over smaller pools against draws."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from lab.tests.rooms import average_precisions, expanded, map_at_r, metrics, pool_scores
from ncc.errors import InputError


def _as_defined(vectors, labels):
    length = np.linalg.norm(vectors, axis=1)
    scores = []
    for query, label in enumerate(labels):
        wanted = (labels == label).sum() - 1
        others = [other for other in range(len(labels)) if other != query and length[other]]
        others.sort(key=lambda other: -(vectors[query] @ vectors[other]) / (length[query] * length[other] or 1))
        hits = precision = 0.0
        for rank, other in enumerate(others[:wanted], 1):
            if labels[other] == label and length[query]:
                hits += 1
                precision += hits / rank
        scores.append(precision / wanted)
    return np.mean(scores)


@pytest.mark.parametrize("block", [1 << 10, 1 << 26])
def test_mean_average_precision_is_as_defined(monkeypatch, block):
    monkeypatch.setattr(metrics, "_BLOCK_BYTES", block)
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 7, 120)
    vectors = rng.normal(size=(120, 7)) + 1.5 * np.eye(7)[labels]
    vectors[rng.random(120) < 0.1] = 0
    expected = _as_defined(vectors, labels)
    assert map_at_r(vectors, labels) == pytest.approx(expected, abs=1e-6)
    assert map_at_r(csr_matrix(vectors), labels) == pytest.approx(expected, abs=1e-6)


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
    with pytest.raises(InputError, match="expected"):
        map_at_r(np.ones((rows, 2)), np.array(labels))


def test_neighbours_pull_vectors_together():
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(4), 20)
    vectors = np.abs(rng.normal(size=(80, 12))) + 1.2 * np.eye(12)[labels]
    vectors[5] = 0
    moved = expanded(vectors, neighbours=5)
    assert map_at_r(moved, labels) > map_at_r(vectors, labels) + 0.05
    assert not moved[5].any()
    assert np.allclose(expanded(csr_matrix(vectors), neighbours=5).toarray(), moved, atol=1e-5)


def test_pools_of_any_size_are_scored_as_if_all_were_drawn():
    rng = np.random.default_rng(3)
    pool = rng.normal(size=(30, 4))
    queries = pool[:8] + 0.8 * rng.normal(size=(8, 4))
    pool[20] = pool[2]  # a tie
    found = pool_scores(pool, queries, np.arange(8), (5, None, 31))
    assert np.isnan(found[:, 2]).all()
    cosine = (queries @ pool.T) / np.linalg.norm(queries, axis=1)[:, None] / np.linalg.norm(pool, axis=1)
    for query in (0, 2, 5):
        ranks = []
        for _ in range(4000):
            others = rng.choice(np.delete(np.arange(30), query), 4, replace=False)
            right, rest = cosine[query, query], cosine[query, others]
            ties = (abs(rest - right) < 1e-9).sum()
            ranks.append(1 + (rest > right + 1e-9).sum() + rng.integers(ties + 1))
        drawn = [np.mean(np.array(ranks) == 1), np.mean(1 / np.array(ranks))]
        assert found[query, 0] == pytest.approx(drawn, abs=0.03)
    assert found[3, 1, 1] == pytest.approx(1 / (1 + (cosine[3] > cosine[3, 3] + 1e-9).sum()))
    assert (pool_scores(pool, 0 * queries, np.arange(8), (None,)) == 0).all()
