"""The exact skip-gram: its loss, its gradient, its floor, and that memory settings do not change it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ncc.embedding import SkipGramConfig, train_skipgram
from ncc.embedding.skipgram import _block_loss, _row_blocks, pair_weights


def _pairs(num_words: int = 30, density: float = 0.3, seed: int = 0):
    """Random counts, sorted by centre; words 7 and 8 have no pair."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, 100, (num_words, num_words)) * (rng.random((num_words, num_words)) < density)
    dense[[7, 8]] = dense[:, [7, 8]] = 0
    center, context = np.nonzero(dense)
    return center.astype(np.int32), context.astype(np.int32), dense[center, context].astype(np.int64)


def _config(**values):
    return SkipGramConfig(**({"dim": 8, "steps": 20, "subsample": 0.0} | values))


def test_the_loss_falls():
    losses = train_skipgram(*_pairs(), 30, _config(steps=40)).losses
    assert losses.shape == (40,)
    assert losses[-1] < losses[0] - 0.3
    assert (np.diff(losses[5:]) < 0.01).all()


def test_no_model_is_below_the_entropy_and_a_wide_one_reaches_it():
    pairs = _pairs()
    result = train_skipgram(*pairs, 30, _config(dim=64, steps=300, learning_rate=0.05))
    assert result.losses.min() > result.entropy - 1e-4
    assert result.losses[-1] == pytest.approx(result.entropy, abs=0.01)


def test_a_narrow_model_stays_above_the_entropy():
    result = train_skipgram(*_pairs(), 30, _config(dim=2, steps=300, learning_rate=0.05))
    assert result.losses[-1] > result.entropy + 0.1


def test_entropy_is_that_of_contexts_given_centres():
    center, context = np.array([0, 0, 1], np.int32), np.array([1, 2, 0], np.int32)
    result = train_skipgram(center, context, np.array([1, 1, 2]), 3, _config(steps=1))
    # half of the pairs have word 0 in the middle, with one bit of doubt; word 1 leaves none
    assert result.entropy == pytest.approx(0.5 * np.log(2))


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not():
    pairs = _pairs()
    first, again = (train_skipgram(*pairs, 30, _config()) for _ in range(2))
    assert np.array_equal(first.vectors, again.vectors)
    assert np.array_equal(first.losses, again.losses)
    other = train_skipgram(*pairs, 30, _config(seed=1))
    assert not np.allclose(first.vectors, other.vectors)


def test_the_seed_is_not_taken_from_torchs_state():
    pairs = _pairs()
    torch.manual_seed(1)
    first = train_skipgram(*pairs, 30, _config())
    torch.manual_seed(2)
    assert np.array_equal(first.vectors, train_skipgram(*pairs, 30, _config()).vectors)


@pytest.mark.parametrize("rows", [1, 5, 29])
def test_the_size_of_a_block_does_not_matter(rows):
    pairs = _pairs()
    whole = train_skipgram(*pairs, 30, _config())
    cut = train_skipgram(*pairs, 30, replace(_config(), rows=rows))
    assert cut.losses == pytest.approx(whole.losses, abs=1e-5)
    assert cut.vectors == pytest.approx(whole.vectors, abs=2e-3)


@pytest.mark.parametrize("rows", [4, 100])
def test_loss_and_gradient_agree_with_autograd_on_the_dense_matrix(rows):
    center, context, count = _pairs()
    weight = count / count.sum()
    mass = np.bincount(center, weights=weight, minlength=30)
    generator = torch.Generator().manual_seed(5)
    u, v = (torch.randn(30, 6, generator=generator).requires_grad_() for _ in range(2))
    dense = torch.zeros(30, 30)
    dense[center, context] = torch.from_numpy(weight).float()
    expected = -(dense * torch.log_softmax(u @ v.T, dim=1)).sum()
    expected.backward()
    by_autograd = [u.grad, v.grad]
    u.grad = v.grad = None
    blocks = _row_blocks(center, context, weight, mass, 30, rows, "cpu")
    loss = sum(_block_loss(block, u, v) for block in blocks)
    assert loss == pytest.approx(expected.item(), abs=1e-5)
    for matrix, gradient in zip((u, v), by_autograd, strict=True):
        assert torch.allclose(matrix.grad, gradient, atol=1e-6)


def test_the_first_20_losses_are_those_of_before():
    losses = train_skipgram(*_pairs(), 30, _config()).losses
    assert losses[[0, 4, 9, 19]] == pytest.approx([3.4406, 3.338, 3.2419, 3.1608], abs=2e-3)


def test_words_without_a_pair_have_no_vector():
    result = train_skipgram(*_pairs(), 30, _config())
    norm = np.linalg.norm(result.vectors, axis=1)
    assert np.flatnonzero(norm == 0).tolist() == [7, 8]
    assert result.vectors.dtype == result.contexts.dtype == np.float32
    assert result.vectors.shape == result.contexts.shape == (30, 8)


def test_multiplying_all_counts_changes_nothing():
    center, context, count = _pairs()
    once = train_skipgram(center, context, count, 30, _config())
    many = train_skipgram(center, context, count * 10**9, 30, _config())
    assert many.losses == pytest.approx(once.losses, abs=1e-6)


def test_subsampling_thins_frequent_words_by_the_square_root_on_both_sides():
    center, context = np.array([0, 0, 1, 2], np.int32), np.array([1, 0, 0, 2], np.int32)
    count = np.array([60, 20, 15, 5], np.int64)
    # shares of words 0, 1, 2: 0.8, 0.15, 0.05
    keep = np.sqrt(0.1 / np.array([0.8, 0.15, 0.1]))
    expected = count * keep[center] * keep[context]
    assert pair_weights(center, context, count, 3, 0.1) == pytest.approx(expected)
    assert pair_weights(center, context, count, 3, 0.0).tolist() == count.tolist()
    assert pair_weights(center, context, count, 3, 1.0) == pytest.approx(count)


def test_progress_is_told_every_step():
    seen = []
    result = train_skipgram(*_pairs(), 30, _config(steps=3), progress=lambda step, loss: seen.append((step, loss)))
    assert seen == [(step + 1, loss) for step, loss in enumerate(result.losses)]


def test_no_pairs_are_refused():
    nothing = np.zeros(0, np.int32)
    with pytest.raises(ValueError, match="no pairs of statements to train on"):
        train_skipgram(nothing, nothing, nothing.astype(np.int64), 3, _config())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dim": 0}, "dim, steps and rows must be 1 or more"),
        ({"steps": 0}, "dim, steps and rows must be 1 or more"),
        ({"rows": 0}, "dim, steps and rows must be 1 or more"),
        ({"learning_rate": 0}, "learning_rate must be above 0"),
        ({"subsample": -1e-9}, "subsample and weight_decay 0 or more"),
        ({"weight_decay": -1}, "subsample and weight_decay 0 or more"),
    ],
)
def test_values_out_of_range_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        _config(**wrong)


@pytest.mark.gpu  # needs a CUDA device
def test_a_gpu_gives_the_same_losses():
    pairs = _pairs()
    on_cpu, on_gpu = (train_skipgram(*pairs, 30, _config(), device=device) for device in ("cpu", "cuda"))
    assert on_gpu.losses == pytest.approx(on_cpu.losses, abs=5e-3)
