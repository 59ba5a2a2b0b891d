"""Both engines of skip-gram: the exact one beside a dense softmax, and gensim, its stream of pairs, and its loss."""

from collections import Counter

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ncc.errors import InputError
from tests.rooms import EmbeddingConfig, PairStream, WeightedPairs, skipgram_loss, train_gensim, train_skipgram
from tests.support.refuses import refuses

WORDS = tuple(f"<%ID> = op{i % 6} i{8 << i % 5} <%ID>" for i in range(30))  # each (opcode, type) once

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
NUM_WORDS, DIM = 30, 8
DENSE = np.random.default_rng(0).integers(1, 100, (NUM_WORDS, NUM_WORDS)) * (
    np.random.default_rng(1).random((NUM_WORDS, NUM_WORDS)) < 0.3
)
DENSE[[7, 8]] = DENSE[:, [7, 8]] = 0  # two words have no pair
CENTER, CONTEXT = (ends.astype(np.int32) for ends in np.nonzero(DENSE))
COUNT = DENSE[CENTER, CONTEXT].astype(np.int64)
PAIRS: Pairs = (CENTER, CONTEXT, COUNT)


def pair_matrix(
    center: NDArray[np.int32], context: NDArray[np.int32], weight: NDArray[np.float64], num_words: int
) -> NDArray[np.float64]:
    """(num_words, num_words) share of each pair of a center and a context."""
    shares = np.zeros((num_words, num_words))
    np.add.at(shares, (center, context), weight / weight.sum())
    return shares


def dense_loss(
    shares: NDArray[np.float64], vectors: NDArray[np.float32], contexts: NDArray[np.float32]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Cross-entropy in nats a pair, and its gradient by vectors and by contexts."""
    u, v = (torch.tensor(matrix, dtype=torch.float64, requires_grad=True) for matrix in (vectors, contexts))
    loss = -(torch.from_numpy(shares) * torch.log_softmax(u @ v.T, dim=1)).sum()
    loss.backward()  # type: ignore[no-untyped-call]
    assert u.grad is not None
    assert v.grad is not None
    return loss.item(), u.grad.numpy(), v.grad.numpy()


def entropy(shares: NDArray[np.float64]) -> float:
    """What no model can be below: the entropy of contexts given their center."""
    given = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    return -float((shares * np.log(np.where(shares > 0, given, 1))).sum())


def _config(**values):
    return EmbeddingConfig(**({"dim": 8, "epochs": 5, "steps_per_epoch": 4, "subsample": 0.0} | values))


def _cosine(vectors, a, b):
    return float(vectors[a] @ vectors[b] / np.linalg.norm(vectors[a]) / np.linalg.norm(vectors[b]))


BOTH = pytest.mark.parametrize("subwords", [False, True], ids=["plain", "shared"])


@BOTH
@pytest.mark.parametrize(("rows", "columns"), [(1, 30), (5, 7), (29, 1)])
def test_the_size_of_a_block_does_not_matter(monkeypatch, rows, columns, subwords):
    config = _config(subwords=subwords)
    whole = train_skipgram(*PAIRS, WORDS, config)
    monkeypatch.setattr("ncc.learning.embedding.skipgram.ROWS", rows)
    monkeypatch.setattr("ncc.learning.embedding.skipgram.COLUMNS", columns)
    cut = train_skipgram(*PAIRS, WORDS, config)
    assert cut.losses == pytest.approx(whole.losses, abs=1e-5)
    assert cut.loss == pytest.approx(whole.loss, abs=1e-5)
    assert cut.vectors == pytest.approx(whole.vectors, abs=2e-3)


def _twins() -> tuple[Pairs, tuple[str, ...]]:
    """Words 0 and 1 have the same parts but one, word 2 none of them; 1 and 2 are rare, and seen near one word."""
    words = ("<%ID> = add nsw i32 <%ID>", "<%ID> = add nuw i32 <%ID>", "fence seq_cst", *(f"w{i}" for i in range(8)))
    rng = np.random.default_rng(1)
    dense = np.zeros((11, 11), np.int64)
    dense[0, 3:] = dense[3:, 0] = rng.integers(100, 1000, 8)
    dense[[1, 2], 3] = dense[3, [1, 2]] = 1
    center, context = np.nonzero(dense)
    pairs: Pairs = (center.astype(np.int32), context.astype(np.int32), dense[center, context])
    return pairs, words


def test_a_rare_word_ends_near_a_frequent_one_that_shares_its_parts():
    pairs, words = _twins()
    shared = train_skipgram(*pairs, words, _config(epochs=20)).vectors
    plain = train_skipgram(*pairs, words, _config(epochs=20, subwords=False)).vectors
    assert _cosine(shared, 0, 1) > _cosine(plain, 0, 1) + 0.2
    assert _cosine(shared, 0, 1) > _cosine(shared, 0, 2) + 0.2


@BOTH
def test_there_may_be_more_steps_than_words(subwords):
    most = train_skipgram(*PAIRS, WORDS, _config(steps_per_epoch=28, subwords=subwords))  # one word a step
    more = train_skipgram(*PAIRS, WORDS, _config(steps_per_epoch=1000, subwords=subwords))
    assert np.array_equal(most.vectors, more.vectors)
    assert np.array_equal(most.losses, more.losses)
    assert np.isfinite(more.vectors).all()
    assert more.loss < more.losses[0]


def test_subsampling_thins_frequent_words_by_the_square_root_on_both_sides():
    center, context = np.array([0, 0, 1, 2], np.int32), np.array([1, 0, 0, 2], np.int32)
    count = np.array([60, 20, 15, 5], np.int64)
    # shares of words 0, 1, 2: 0.8, 0.15, 0.05
    keep = np.sqrt(0.1 / np.array([0.8, 0.15, 0.1]))
    expected = count * keep[center] * keep[context]
    for subsample, weight in ((0.1, expected), (0.0, count), (1.0, count)):
        pairs = WeightedPairs.from_counts(center, context, count, 3, subsample)
        assert pairs.weight == pytest.approx(weight / weight.sum())


@pytest.mark.parametrize("train", [train_skipgram, train_gensim])
def test_no_pairs_are_refused(train):
    nothing = np.zeros(0, np.int32)
    with refuses(InputError, "pairs"):
        train(nothing, nothing, nothing.astype(np.int64), WORDS, _config())


@pytest.mark.gpu  # needs a CUDA device
@BOTH
def test_a_gpu_gives_the_same_losses(subwords):
    config = _config(subwords=subwords)
    on_cpu, on_gpu = (train_skipgram(*PAIRS, WORDS, config, device=device) for device in ("cpu", "cuda"))
    assert on_gpu.losses == pytest.approx(on_cpu.losses, abs=5e-3)
    assert on_gpu.loss == pytest.approx(on_cpu.loss, abs=5e-3)


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


@BOTH
def test_the_loss_of_a_training_is_that_of_its_vectors(subwords: bool) -> None:
    config = EmbeddingConfig(dim=DIM, epochs=3, steps_per_epoch=4, subsample=0, subwords=subwords)
    result = train_skipgram(*PAIRS, WORDS, config)
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
        result = train_skipgram(*PAIRS, WORDS, config)
        _, by_vectors, by_contexts = dense_loss(shares, result.vectors, result.contexts)
        slopes.append(np.abs(by_vectors).max() + np.abs(by_contexts).max())
    assert slopes[1] < 0.1 * slopes[0]  # 0.05 of it was seen, and less with more epochs


TWELVE = tuple(f"w{i}" for i in range(12))


def _pairs() -> Pairs:
    """Two groups of words, each near the four of its own: 0 to 4 near 5 and 6, 7 to 9 near 10; 11 has no pair."""
    rng = np.random.default_rng(0)
    dense = np.zeros((12, 12), np.int64)
    dense[:5, 5:7] = rng.integers(50, 100, (5, 2))
    dense[7:10, 10] = rng.integers(50, 100, 3)
    dense += dense.T
    center, context = np.nonzero(dense)
    return center.astype(np.int32), context.astype(np.int32), dense[center, context]


def _of_gensim(**values):
    return EmbeddingConfig(**({"dim": 8, "epochs": 4, "num_pairs": 4000, "subsample": 0.0} | values))


def test_loss_and_entropy_are_those_of_the_exact_engine():
    center, context, count = _pairs()
    result = train_gensim(center, context, count, TWELVE, _of_gensim(subsample=0.05))
    pairs = WeightedPairs.from_counts(center, context, count, 12, 0.05)
    assert result.loss == pytest.approx(skipgram_loss(pairs, result.vectors, result.contexts))
    exact = train_skipgram(center, context, count, TWELVE, EmbeddingConfig(dim=8, epochs=1, subsample=0.05))
    assert result.entropy == pytest.approx(exact.entropy)


def test_words_with_the_same_contexts_end_up_near():
    vectors = train_gensim(*_pairs(), TWELVE, _of_gensim(epochs=8, num_pairs=10_000)).vectors
    within = [_cosine(vectors, 0, i) for i in range(1, 5)] + [_cosine(vectors, 7, 8), _cosine(vectors, 7, 9)]
    across = [_cosine(vectors, i, j) for i in range(5) for j in range(7, 10)]
    assert min(within) > 0.8
    assert max(across) < min(within) - 0.3


def test_the_stream_has_as_many_pairs_as_asked_for_and_the_same_at_each_pass():
    pairs = WeightedPairs.from_counts(*_pairs(), 12)
    stream = PairStream(pairs, TWELVE, 1234, seed=3)
    first = list(stream)
    assert len(first) == 1234
    assert list(stream) == first
    assert list(PairStream(pairs, TWELVE, 1234, seed=4)) != first


def test_pairs_come_by_their_weight():
    center, context, count = _pairs()
    weight = count.astype(float) ** 2
    weight[[0, 3]] = 0.0
    number = 20_000
    pairs = WeightedPairs.from_counts(center, context, weight, 12)
    drawn = Counter(map(tuple, PairStream(pairs, TWELVE, number, seed=3)))
    names = [(TWELVE[a], TWELVE[b]) for a, b in zip(center, context, strict=True)]
    assert set(drawn) <= set(names)
    assert drawn[names[0]] == drawn[names[3]] == 0
    expected = np.delete(number * weight / weight.sum(), [0, 3])
    found = np.delete([drawn[name] for name in names], [0, 3])
    statistic = ((found - expected) ** 2 / expected).sum()
    degrees = len(expected) - 1
    assert abs(statistic - degrees) < 4 * np.sqrt(2 * degrees)  # four standard deviations of chi-square
