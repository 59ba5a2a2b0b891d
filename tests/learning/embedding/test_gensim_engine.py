"""gensim as the other engine: the stream that it reads, what it learns, and that it is measured as the exact one is."""

from collections import Counter

import numpy as np
import pytest

from tests.rooms import EmbeddingConfig, PairStream, WeightedPairs, skipgram_loss, train_gensim, train_skipgram

WORDS = tuple(f"w{i}" for i in range(12))

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


def _pairs() -> Pairs:
    """Two groups of words, each near the four of its own: 0 to 4 near 5 and 6, 7 to 9 near 10; 11 has no pair."""
    rng = np.random.default_rng(0)
    dense = np.zeros((12, 12), np.int64)
    dense[:5, 5:7] = rng.integers(50, 100, (5, 2))
    dense[7:10, 10] = rng.integers(50, 100, 3)
    dense += dense.T
    center, context = np.nonzero(dense)
    return center.astype(np.int32), context.astype(np.int32), dense[center, context]


def _config(**values):
    return EmbeddingConfig(**({"dim": 8, "epochs": 4, "num_pairs": 4000, "subsample": 0.0} | values))


def _cosine(vectors, a, b):
    return float(vectors[a] @ vectors[b] / np.linalg.norm(vectors[a]) / np.linalg.norm(vectors[b]))


def test_loss_and_entropy_are_those_of_the_exact_engine():
    center, context, count = _pairs()
    result = train_gensim(center, context, count, WORDS, _config(subsample=0.05))
    pairs = WeightedPairs.from_counts(center, context, count, 12, 0.05)
    assert result.loss == pytest.approx(skipgram_loss(pairs, result.vectors, result.contexts))
    exact = train_skipgram(center, context, count, WORDS, EmbeddingConfig(dim=8, epochs=1, subsample=0.05))
    assert result.entropy == pytest.approx(exact.entropy)


def test_words_with_the_same_contexts_end_up_near():
    vectors = train_gensim(*_pairs(), WORDS, _config(epochs=8, num_pairs=10_000)).vectors
    within = [_cosine(vectors, 0, i) for i in range(1, 5)] + [_cosine(vectors, 7, 8), _cosine(vectors, 7, 9)]
    across = [_cosine(vectors, i, j) for i in range(5) for j in range(7, 10)]
    assert min(within) > 0.8
    assert max(across) < min(within) - 0.3


def test_the_stream_has_as_many_pairs_as_asked_for_and_the_same_at_each_pass():
    pairs = WeightedPairs.from_counts(*_pairs(), 12)
    stream = PairStream(pairs, WORDS, 1234, seed=3)
    first = list(stream)
    assert len(first) == 1234
    assert list(stream) == first
    assert list(PairStream(pairs, WORDS, 1234, seed=4)) != first


def test_pairs_come_by_their_weight():
    center, context, count = _pairs()
    weight = count.astype(float) ** 2
    weight[[0, 3]] = 0.0
    number = 20_000
    pairs = WeightedPairs.from_counts(center, context, weight, 12)
    drawn = Counter(map(tuple, PairStream(pairs, WORDS, number, seed=3)))
    names = [(WORDS[a], WORDS[b]) for a, b in zip(center, context, strict=True)]
    assert set(drawn) <= set(names)
    assert drawn[names[0]] == drawn[names[3]] == 0
    expected = np.delete(number * weight / weight.sum(), [0, 3])
    found = np.delete([drawn[name] for name in names], [0, 3])
    statistic = ((found - expected) ** 2 / expected).sum()
    degrees = len(expected) - 1
    assert abs(statistic - degrees) < 4 * np.sqrt(2 * degrees)  # four standard deviations of chi-square
