"""The loss of skip-gram beside that of a dense softmax, and where training ends beside autograd's gradient."""

import numpy as np
import pytest

from tests.oracles.skipgram import dense_loss, entropy, pair_matrix
from tests.rooms import EmbeddingConfig, WeightedPairs, skipgram_loss, train_skipgram

NUM_WORDS, DIM = 30, 8
WORDS = tuple(f"<%ID> = op{i % 6} i{8 << i % 5} <%ID>" for i in range(NUM_WORDS))
DENSE = np.random.default_rng(0).integers(1, 100, (NUM_WORDS, NUM_WORDS)) * (
    np.random.default_rng(1).random((NUM_WORDS, NUM_WORDS)) < 0.3
)
CENTER, CONTEXT = (ends.astype(np.int32) for ends in np.nonzero(DENSE))
COUNT = DENSE[CENTER, CONTEXT].astype(np.int64)


@pytest.mark.parametrize("columns", [1, 11, 1000])
@pytest.mark.parametrize("rows", [4, 100])
@pytest.mark.parametrize("power", [1, 0.5])
@pytest.mark.parametrize("scale", [2, 200])  # exponentials overflow, if not of differences
def test_the_loss_is_that_of_a_softmax_over_all_words(
    monkeypatch: pytest.MonkeyPatch, rows: int, columns: int, power: float, scale: float
) -> None:
    monkeypatch.setattr("ncc.learning.embedding.skipgram.ROWS", rows)
    monkeypatch.setattr("ncc.learning.embedding.skipgram.COLUMNS", columns)
    weight = np.power(COUNT, power, dtype=np.float64)
    vectors, contexts = np.random.default_rng(3).normal(0, scale, (2, NUM_WORDS, DIM)).astype(np.float32)
    expected, _, _ = dense_loss(pair_matrix(CENTER, CONTEXT, weight, NUM_WORDS), vectors, contexts)
    pairs = WeightedPairs.from_counts(CENTER, CONTEXT, weight, NUM_WORDS)
    found = skipgram_loss(pairs, vectors, contexts)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-5)  # of sums in float32


@pytest.mark.parametrize("subwords", [False, True])
def test_the_loss_of_a_training_is_that_of_its_vectors(subwords: bool) -> None:
    config = EmbeddingConfig(dim=DIM, epochs=3, steps_per_epoch=4, subsample=0, subwords=subwords)
    result = train_skipgram(CENTER, CONTEXT, COUNT, WORDS, config)
    shares = pair_matrix(CENTER, CONTEXT, COUNT.astype(float), NUM_WORDS)
    assert result.loss == pytest.approx(dense_loss(shares, result.vectors, result.contexts)[0], abs=1e-5)
    assert result.entropy == pytest.approx(entropy(shares))


def test_training_ends_where_autograd_finds_no_slope() -> None:
    """Were one of its gradients wrong, it would end, or go round, somewhere else."""
    shares = pair_matrix(CENTER, CONTEXT, COUNT.astype(float), NUM_WORDS)
    slopes = []
    for epochs in (1, 400):
        config = EmbeddingConfig(
            dim=4, epochs=epochs, steps_per_epoch=1, subsample=0, subwords=False, learning_rate=0.05
        )
        result = train_skipgram(CENTER, CONTEXT, COUNT, WORDS, config)
        _, by_vectors, by_contexts = dense_loss(shares, result.vectors, result.contexts)
        slopes.append(np.abs(by_vectors).max() + np.abs(by_contexts).max())
    assert slopes[1] < 0.1 * slopes[0]  # 0.05 of it was seen, and less with more epochs
