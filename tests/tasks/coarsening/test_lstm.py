"""The LSTM of coarsening: what it learns, on each device and on any, and that its seed decides."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import ncc
from ncc.errors import AssetError, InputError
from tests.rooms import (
    DEVICES,
    FACTORS,
    CoarseningSamples,
    Embedding,
    EncoderConfig,
    HeadConfig,
    LSTMCoarseningHead,
    LSTMCoarseningTraining,
    TrainingConfig,
    Vocabulary,
    fit_coarsening_lstm,
)
from tests.support.refuses import refuses

SMALL = LSTMCoarseningTraining(
    members=2,
    encoder=EncoderConfig(hidden=6, layers=1, pooling=("mean", "max")),
    head=HeadConfig(dense=8),
    loop=TrainingConfig(epochs=60, batch_size=16, learning_rate=2e-2),
)
SHORT = replace(SMALL, members=1, loop=replace(SMALL.loop, epochs=1))
KERNEL = b"""define spir_kernel void @k(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p, align 4
  store float %x, ptr addrspace(1) %p, align 4
  ret void
}
"""


def _embedding() -> Embedding:
    words = tuple(f"word {i}" for i in range(8))
    vectors = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    return Embedding(Vocabulary(words, np.arange(8)), vectors)


def _samples(num_kernels: int = 12) -> tuple[CoarseningSamples, list[np.ndarray]]:
    """Kernels whose first word says whether to coarsen at all."""
    kernel = np.repeat([f"k{i}" for i in range(num_kernels)], len(DEVICES))
    gains = np.arange(num_kernels).repeat(len(DEVICES)) % 2 == 0
    rng = np.random.default_rng(1)
    words = [np.array([number % 2, *rng.integers(2, 8, 4 + number % 3)]) for number in range(num_kernels)]
    samples = CoarseningSamples(
        kernel=kernel,
        device=np.tile(DEVICES, num_kernels),
        source=kernel.astype(object),
        components=np.zeros((len(kernel), 6, 7)),
        runtime=np.exp(np.where(gains[:, None], -0.2, 0.2) * np.log2(FACTORS)),
    )
    return samples, [words[row // len(DEVICES)] for row in range(len(kernel))]


@pytest.fixture(scope="module")
def lstm() -> LSTMCoarseningHead:
    samples, words = _samples()
    hidden = samples.without_answers(np.arange(16))
    rng, rows = np.random.default_rng(0), np.arange(16, len(samples))
    return fit_coarsening_lstm(hidden, words, _embedding(), SMALL, rng, rows)


def test_networks_learn_which_kernels_gain(lstm: LSTMCoarseningHead) -> None:
    samples, words = _samples()
    found = np.stack([lstm.speedups(_embedding().vectors[word]) for word in words[:16]])
    assert (found[:, 0] == 1).all()
    assert (found.argmax(axis=1) > 0).tolist() == (samples.best[:16] > 0).tolist()


def test_the_seed_decides() -> None:
    samples, words = _samples()
    fit = partial(fit_coarsening_lstm, samples, words, _embedding(), SHORT)
    heads = [fit(np.random.default_rng(seed), np.arange(len(samples))) for seed in (1, 1, 2)]
    first, same, other = (head.speedups(_embedding().vectors) for head in heads)
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_all_devices_together_are_their_geometric_mean(lstm: LSTMCoarseningHead) -> None:
    sequence = _embedding().vectors
    each = np.stack([lstm.speedups(sequence, device) for device in DEVICES])
    assert lstm.speedups(sequence) == pytest.approx(np.exp(np.log(each).mean(axis=0)))
    with refuses(InputError, "none", "Fermi"):
        lstm.speedups(sequence, "none")


def test_an_answer_comes_from_the_head_that_is_given(lstm: LSTMCoarseningHead, tmp_path) -> None:
    with refuses(AssetError, "embedding"):
        ncc.predict_coarsening(KERNEL, head=lstm)
    samples, words = _samples(2)
    embedding = ncc.load_embedding()
    head = fit_coarsening_lstm(samples, words, embedding, SHORT, np.random.default_rng(0), np.arange(8))
    ncc.save_coarsening_head(head, tmp_path)
    given, saved = (ncc.predict_coarsening(KERNEL, head=each, device="Fermi") for each in (head, tmp_path))
    assert given == saved
    assert (given[0].kernel, given[0].device, given[0].num_statements) == ("k", "Fermi", 4)
    assert given[0].speedups[1] == 1
    assert (given[0].features_used, given[0].is_constant, given[0].warnings) == ({}, False, ())


@pytest.mark.full
def test_the_command_trains_it(published: CoarseningSamples, tmp_path) -> None:
    head = ncc.train_coarsening(tmp_path, model="lstm")
    assert head.card["num_samples"] == len(published)
    assert head.card["geomean_speedup"] > 0.9
