"""The exact skip-gram: its loss, its gradient, its floor, what words share, and that memory settings change nothing."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ncc.errors import InputError
from tests.rooms import (
    EmbeddingConfig,
    Tiling,
    WeightedPairs,
    add_gradients,
    skipgram_loss,
    train_skipgram,
)

WORDS = tuple(f"<%ID> = op{i % 6} i{8 << i % 5} <%ID>" for i in range(30))  # each (opcode, type) once

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


def _pairs(num_words: int = 30, density: float = 0.3, seed: int = 0) -> Pairs:
    """Random counts, sorted by centre; words 7 and 8 have no pair."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, 100, (num_words, num_words)) * (rng.random((num_words, num_words)) < density)
    dense[[7, 8]] = dense[:, [7, 8]] = 0
    center, context = np.nonzero(dense)
    return center.astype(np.int32), context.astype(np.int32), dense[center, context].astype(np.int64)


def _config(**values):
    return EmbeddingConfig(**({"dim": 8, "epochs": 5, "steps_per_epoch": 4, "subsample": 0.0} | values))


def _plain(**values):
    """Every word by itself, as the paper does."""
    return _config(**({"subwords": False} | values))


def _cosine(vectors, a, b):
    return float(vectors[a] @ vectors[b] / np.linalg.norm(vectors[a]) / np.linalg.norm(vectors[b]))


BOTH = pytest.mark.parametrize("subwords", [False, True], ids=["plain", "shared"])


@BOTH
def test_the_loss_falls(subwords):
    result = train_skipgram(*_pairs(), WORDS, _config(epochs=10, subwords=subwords))
    assert result.losses.shape == (10,)
    assert result.losses[-1] < result.losses[0] - 0.2
    assert (np.diff(result.losses) < 0.01).all()
    assert result.loss < result.losses[-1] + 0.01


def test_no_model_is_below_the_entropy_and_a_wide_one_reaches_it():
    result = train_skipgram(*_pairs(), WORDS, _plain(dim=64, epochs=75, learning_rate=0.05))
    assert result.losses.min() > result.entropy - 1e-4
    assert result.entropy - 1e-4 < result.loss < result.losses[-1] + 1e-3
    assert result.loss == pytest.approx(result.entropy, abs=0.01)


def test_a_narrow_model_stays_above_the_entropy():
    result = train_skipgram(*_pairs(), WORDS, _plain(dim=2, epochs=75, learning_rate=0.05))
    assert result.loss > result.entropy + 0.1


def test_entropy_is_that_of_contexts_given_centres():
    center, context = np.array([0, 0, 1], np.int32), np.array([1, 2, 0], np.int32)
    result = train_skipgram(center, context, np.array([1, 1, 2]), WORDS[:3], _config(epochs=1))
    # half of the pairs have word 0 in the middle, with one bit of doubt; word 1 leaves none
    assert result.entropy == pytest.approx(0.5 * np.log(2))


@BOTH
def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(subwords):
    pairs, config = _pairs(), _config(subwords=subwords)
    first, again = (train_skipgram(*pairs, WORDS, config) for _ in range(2))
    assert np.array_equal(first.vectors, again.vectors)
    assert np.array_equal(first.contexts, again.contexts)
    assert np.array_equal(first.losses, again.losses)
    assert first.loss == again.loss
    other = train_skipgram(*pairs, WORDS, replace(config, seed=1))
    assert not np.allclose(first.vectors, other.vectors)


def test_the_seed_is_not_taken_from_torchs_or_numpys_state():
    pairs = _pairs()
    torch.manual_seed(1)
    np.random.seed(1)
    first = train_skipgram(*pairs, WORDS, _config())
    torch.manual_seed(2)
    np.random.seed(2)
    assert np.array_equal(first.vectors, train_skipgram(*pairs, WORDS, _config()).vectors)


@BOTH
@pytest.mark.parametrize(("rows", "columns"), [(1, 30), (5, 7), (29, 1)])
def test_the_size_of_a_block_does_not_matter(rows, columns, subwords):
    pairs, config = _pairs(), _config(subwords=subwords)
    whole = train_skipgram(*pairs, WORDS, config)
    cut = train_skipgram(*pairs, WORDS, config, rows=rows, columns=columns)
    assert cut.losses == pytest.approx(whole.losses, abs=1e-5)
    assert cut.loss == pytest.approx(whole.loss, abs=1e-5)
    assert cut.vectors == pytest.approx(whole.vectors, abs=2e-3)


@pytest.mark.parametrize("columns", [1, 7, 29, 1000])
@pytest.mark.parametrize("rows", [4, 100])
def test_loss_and_gradient_agree_with_autograd_on_the_dense_matrix(rows, columns):
    center, context, count = _pairs()
    weight = count / count.sum()
    generator = torch.Generator().manual_seed(5)
    u, v = (torch.randn(30, 6, generator=generator, dtype=torch.float64).requires_grad_() for _ in range(2))
    dense = torch.zeros(30, 30, dtype=torch.float64)
    dense[center, context] = torch.from_numpy(weight)
    expected = -(dense * torch.log_softmax(u @ v.T, dim=1)).sum()
    expected.backward()
    pairs = WeightedPairs(center, context, weight, 30)
    vectors, contexts = (matrix.detach().float() for matrix in (u, v))
    gradient, context_gradient = torch.zeros(30, 6), torch.zeros(30, 6)
    loss = 0.0
    for start in range(0, len(pairs.centers), rows):
        block = pairs.tile(pairs.centers[start : start + rows], "cpu")
        loss += float(add_gradients(block, vectors, contexts, gradient, context_gradient, Tiling(columns=columns)))
    assert loss == pytest.approx(expected.item(), abs=1e-5)
    assert u.grad is not None and v.grad is not None
    assert torch.allclose(gradient.double(), u.grad, atol=1e-6)
    assert torch.allclose(context_gradient.double(), v.grad, atol=1e-6)


def test_gradients_of_some_centres_leave_the_others_alone():
    center, context, count = _pairs()
    pairs = WeightedPairs(center, context, count / count.sum(), 30)
    u, v = torch.randn(2, 30, 6, generator=torch.Generator().manual_seed(5))
    gradient, context_gradient = torch.zeros(30, 6), torch.full((30, 6), 0.5)
    add_gradients(pairs.tile(np.array([3, 20]), "cpu"), u, v, gradient, context_gradient, Tiling())
    assert torch.nonzero(gradient.abs().sum(dim=1)).flatten().tolist() == [3, 20]
    again = torch.zeros(30, 6)
    add_gradients(pairs.tile(np.array([3, 20]), "cpu"), u, v, torch.zeros(30, 6), again, Tiling())
    assert torch.allclose(context_gradient, again + 0.5, atol=1e-6)


def test_large_logits_do_not_overflow():
    center, context, count = _pairs()
    u, v = 100 * np.random.default_rng(3).normal(0, 2, (2, 30, 6)).astype(np.float32)
    assert np.isfinite(skipgram_loss(center, context, count.astype(float), u, v))
    pairs = WeightedPairs(center, context, count / count.sum(), 30)
    first, second = torch.zeros(2, 30, 6)
    block = pairs.tile(pairs.centers, "cpu")
    add_gradients(block, torch.from_numpy(u), torch.from_numpy(v), first, second, Tiling())
    assert torch.isfinite(first + second).all()


GOLDEN = {
    False: ([3.4514, 3.3850, 3.3431, 3.3184, 3.3075], 3.3033),
    True: ([3.4262, 3.3363, 3.2820, 3.2524, 3.2392], 3.2343),
}


@BOTH
def test_the_first_20_steps_are_those_of_before(subwords):
    result = train_skipgram(*_pairs(), WORDS, _config(subwords=subwords))  # 5 epochs of 4 steps
    losses, loss = GOLDEN[subwords]
    assert result.losses == pytest.approx(losses, abs=2e-4)
    assert result.loss == pytest.approx(loss, abs=2e-4)


@BOTH
def test_words_without_a_pair_have_no_vector(subwords):
    result = train_skipgram(*_pairs(), WORDS, _config(subwords=subwords))
    norm = np.linalg.norm(result.vectors, axis=1)
    assert np.flatnonzero(norm == 0).tolist() == [7, 8]
    assert result.vectors.dtype == result.contexts.dtype == np.float32
    assert result.losses.dtype == np.float64
    assert result.vectors.shape == result.contexts.shape == (30, 8)


@BOTH
def test_multiplying_all_counts_changes_nothing(subwords):
    center, context, count = _pairs()
    config = _config(subwords=subwords)
    once = train_skipgram(center, context, count, WORDS, config)
    many = train_skipgram(center, context, count * 10**9, WORDS, config)
    assert many.losses == pytest.approx(once.losses, abs=1e-6)


def test_without_shared_parts_the_words_texts_do_not_matter():
    first = train_skipgram(*_pairs(), WORDS, _plain())
    again = train_skipgram(*_pairs(), [str(i) for i in range(30)], _plain())
    assert np.array_equal(first.vectors, again.vectors)


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


def test_words_that_share_parts_start_alike():
    pairs, words = _twins()
    start = {"epochs": 1, "learning_rate": 1e-6, "dim": 64}
    shared = train_skipgram(*pairs, words, _config(**start)).vectors
    plain = train_skipgram(*pairs, words, _plain(**start)).vectors
    assert _cosine(shared, 0, 1) > 0.7
    assert abs(_cosine(shared, 0, 2)) < 0.5
    assert abs(_cosine(plain, 0, 1)) < 0.5


def test_words_with_the_very_same_parts_start_all_but_the_same():
    pairs, words = _twins()
    permuted = ("<%ID> = add i32 <%ID>, nsw", "<%ID> = add nsw i32 <%ID>", *words[2:])
    vectors = train_skipgram(*pairs, permuted, _config(epochs=1, learning_rate=1e-6, dim=64)).vectors
    assert _cosine(vectors, 0, 1) > 0.97


def test_a_rare_word_ends_near_a_frequent_one_that_shares_its_parts():
    pairs, words = _twins()
    shared = train_skipgram(*pairs, words, _config(epochs=20)).vectors
    plain = train_skipgram(*pairs, words, _plain(epochs=20)).vectors
    assert _cosine(shared, 0, 1) > _cosine(plain, 0, 1) + 0.2
    assert _cosine(shared, 0, 1) > _cosine(shared, 0, 2) + 0.2


def test_the_more_a_words_own_vector_decays_the_more_is_said_by_its_parts():
    pairs, words = _twins()
    near = [
        _cosine(train_skipgram(*pairs, words, _config(epochs=20, word_decay=decay)).vectors, 0, 1)
        for decay in (0.0, 20.0)
    ]
    assert near[1] > near[0]


def test_the_decay_does_nothing_without_shared_parts():
    first, again = (train_skipgram(*_pairs(), WORDS, _plain(word_decay=decay)) for decay in (0.0, 50.0))
    assert np.array_equal(first.vectors, again.vectors)


@BOTH
def test_there_may_be_more_steps_than_words(subwords):
    pairs = _pairs()
    most = train_skipgram(*pairs, WORDS, _config(steps_per_epoch=28, subwords=subwords))  # one word a step
    more = train_skipgram(*pairs, WORDS, _config(steps_per_epoch=1000, subwords=subwords))
    assert np.array_equal(most.vectors, more.vectors)
    assert np.array_equal(most.losses, more.losses)
    assert np.isfinite(more.vectors).all()
    assert more.loss < more.losses[0]


def test_a_corpus_of_one_pair_is_learned():
    word = np.array([0], np.int32)
    result = train_skipgram(word, word, np.array([5]), ["ret void"], _config())
    assert result.losses == pytest.approx(0, abs=1e-6)
    assert result.entropy == 0


@pytest.mark.parametrize("num_words", [30, 3])  # fewer words than steps
def test_the_learning_rate_decays_to_a_tenth(monkeypatch, num_words):
    rates = []
    step = torch.optim.AdamW.step

    def spy(self, *args, **options):
        rates.append({group["lr"] for group in self.param_groups})
        return step(self, *args, **options)

    monkeypatch.setattr(torch.optim.AdamW, "step", spy)
    center = np.arange(num_words, dtype=np.int32)
    train_skipgram(center, center[::-1].copy(), center + 1, WORDS[:num_words], _config(learning_rate=0.1))
    assert len(rates) == 5 * min(4, num_words)
    assert all(len(groups) == 1 for groups in rates)
    falling = [rate for groups in rates for rate in groups]
    assert (np.diff(falling) < 0).all()
    assert falling[0] == pytest.approx(0.1)
    assert falling[-1] == pytest.approx(0.01)


def test_subsampling_thins_frequent_words_by_the_square_root_on_both_sides():
    center, context = np.array([0, 0, 1, 2], np.int32), np.array([1, 0, 0, 2], np.int32)
    count = np.array([60, 20, 15, 5], np.int64)
    # shares of words 0, 1, 2: 0.8, 0.15, 0.05
    keep = np.sqrt(0.1 / np.array([0.8, 0.15, 0.1]))
    expected = count * keep[center] * keep[context]
    for subsample, weight in ((0.1, expected), (0.0, count), (1.0, count)):
        pairs = WeightedPairs.from_counts(center, context, count, 3, subsample)
        assert pairs.weight == pytest.approx(weight / weight.sum())


def test_progress_is_told_every_epoch():
    seen = []
    result = train_skipgram(*_pairs(), WORDS, _config(), progress=lambda epoch, loss: seen.append((epoch, loss)))
    assert seen == [(epoch + 1, loss) for epoch, loss in enumerate(result.losses)]


def test_no_pairs_are_refused():
    nothing = np.zeros(0, np.int32)
    with pytest.raises(InputError, match="no pairs of statements to train on"):
        train_skipgram(nothing, nothing, nothing.astype(np.int64), WORDS, _config())


@pytest.mark.parametrize(
    "name",
    [
        "context_width",
        "min_count",
        "dim",
        "epochs",
        "steps_per_epoch",
        "num_pairs",
        "learning_rate",
        "subsample",
        "word_decay",
    ],
)
def test_values_out_of_range_are_refused(name):
    value = -1 if name in {"subsample", "word_decay"} else 0
    with pytest.raises(InputError, match=f"{name} is {value}"):
        _config(**{name: value})


@BOTH
def test_products_in_bfloat16_with_sums_in_float32_come_to_the_same_loss(subwords, monkeypatch):
    pairs, config = _pairs(), _config(subwords=subwords)
    exact = train_skipgram(*pairs, WORDS, config)
    rounded = []

    def product(_, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """As a GPU multiplies."""
        rounded.append(left.bfloat16().float() @ right.bfloat16().float())
        return rounded[-1]

    monkeypatch.setattr(Tiling, "product", product)
    found = train_skipgram(*pairs, WORDS, config)
    assert rounded
    assert 0 < abs(found.loss - exact.loss) < 2e-3 * (exact.loss - exact.entropy + 1)


@pytest.mark.gpu  # needs a CUDA device
@BOTH
def test_a_gpu_gives_the_same_losses(subwords):
    pairs, config = _pairs(), _config(subwords=subwords)
    on_cpu, on_gpu = (train_skipgram(*pairs, WORDS, config, device=device) for device in ("cpu", "cuda"))
    assert on_gpu.losses == pytest.approx(on_cpu.losses, abs=5e-3)
    assert on_gpu.loss == pytest.approx(on_cpu.loss, abs=5e-3)
