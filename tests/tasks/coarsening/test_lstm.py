"""The LSTM of coarsening: what it learns, on each device and on any, and that its seed decides."""

from dataclasses import replace

import numpy as np
import pytest

import ncc
from ncc.errors import AssetError, InputError
from tests.rooms import (
    DEVICES,
    FACTORS,
    CoarseningTimes,
    Embedding,
    EncoderConfig,
    HeadConfig,
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
EMBEDDING = Embedding(
    Vocabulary(tuple(f"word {i}" for i in range(8)), np.arange(8)),
    np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32),
)


def _fit(training: LSTMCoarseningTraining, rows: range, seed: int, embedding: Embedding = EMBEDDING) -> tuple:
    """A head that learned from some rows of twelve kernels, whose first word says whether to coarsen; and all words."""
    number = np.arange(12).repeat(len(DEVICES))
    rng = np.random.default_rng(1)
    words = [np.array([kernel % 2, *rng.integers(2, 8, 4 + kernel % 3)]) for kernel in range(12)]
    times = CoarseningTimes(
        kernel=np.array([f"k{kernel}" for kernel in number]),
        device=np.tile(DEVICES, 12),
        runtime=np.exp(np.where(number[:, None] % 2 == 0, -0.2, 0.2) * np.log2(FACTORS)),
    )
    words = [words[kernel] for kernel in number]
    head = fit_coarsening_lstm(times, words, embedding, training, np.random.default_rng(seed), np.array(rows))
    return head, words


@pytest.fixture(scope="module")
def fitted() -> tuple:
    return _fit(SMALL, range(16, 48), 0)


def test_networks_learn_which_kernels_gain(fitted: tuple) -> None:
    head, words = fitted
    found = np.stack([head.speedups(EMBEDDING.vectors[word]) for word in words[:16]])
    assert (found[:, 0] == 1).all()
    assert (found.argmax(axis=1) > 0).tolist() == ([True] * 4 + [False] * 4) * 2


def test_the_seed_decides() -> None:
    first, same, other = (_fit(SHORT, range(48), seed)[0].speedups(EMBEDDING.vectors) for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_all_devices_together_are_their_geometric_mean(fitted: tuple) -> None:
    head, _ = fitted
    each = np.stack([head.speedups(EMBEDDING.vectors, device) for device in DEVICES])
    assert head.speedups(EMBEDDING.vectors) == pytest.approx(np.exp(np.log(each).mean(axis=0)))
    with refuses(InputError, "none", "Fermi"):
        head.speedups(EMBEDDING.vectors, "none")


def test_an_answer_comes_from_the_head_that_is_given(fitted: tuple, tmp_path) -> None:
    with refuses(AssetError, "embedding"):
        ncc.predict_coarsening(KERNEL, head=fitted[0])
    head, _ = _fit(SHORT, range(8), 0, ncc.load_embedding())
    head.save(tmp_path)
    given, saved = (ncc.predict_coarsening(KERNEL, head=each, device="Fermi") for each in (head, tmp_path))
    assert given == saved
    assert given[0].speedups[1] == 1
    assert (given[0].features_used, given[0].warnings) == ({}, ())
