"""The LSTM device mapper: its loss, its batches, and what it learns."""

import numpy as np
import pytest
import torch

from ncc.devices.lstm import (
    KernelWords,
    LSTMMethod,
    RatioTraining,
    _RatioData,
    kernel_words,
    laplace_loss,
)
from ncc.devices.mixture import NUM_AUXILIARY, auxiliary_features
from ncc.devices.samples import DeviceMappingSamples
from ncc.embedding import Embedding, Vocabulary
from ncc.ir import read_module
from ncc.training import TrainingConfig


def make_embedding(num_words: int = 12, dim: int = 8) -> Embedding:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((num_words, dim)).astype(np.float32)
    words = tuple(f"word {i}" for i in range(num_words))
    return Embedding(Vocabulary(words, np.arange(num_words)), vectors)


def make_samples(n: int) -> tuple[DeviceMappingSamples, KernelWords]:
    """Kernels whose first word alone decides: word 1 is ten times as fast on the GPU, word 2 ten times as slow."""
    rng = np.random.default_rng(1)
    sign = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    log_ratio = sign * np.log(10) + rng.normal(0, 0.1, n)
    sequences = [
        (np.concatenate([[1 if s > 0 else 2], rng.integers(3, 12, 5 + i % 4)]).astype(np.int64),)
        for i, s in enumerate(sign)
    ]
    text = np.array([f"kernel {i}" for i in range(n)])
    samples = DeviceMappingSamples(
        platform="amd",
        benchmark=text,
        dataset=text,
        application=text,
        suite=text,
        source=text.astype(object),
        counts=np.zeros((n, 8)),
        transfer_bytes=rng.uniform(1e3, 1e6, n),
        wgsize=rng.choice([64.0, 128.0, 256.0], n),
        runtime_cpu_ms=np.exp(log_ratio),
        runtime_gpu_ms=np.ones(n),
        log_ratio=log_ratio,
        is_gpu=log_ratio > 0,
    )
    return samples, KernelWords(tuple(sequences))


def test_loss_is_that_of_torch_up_to_the_constant() -> None:
    output = torch.tensor([[0.3, -0.5], [-1.0, 0.7]])
    target = torch.tensor([1.0, -2.0])
    expected = -torch.distributions.Laplace(output[:, 0], output[:, 1].exp()).log_prob(target).mean()
    assert laplace_loss(output, target) + np.log(2) == pytest.approx(float(expected), abs=1e-6)


def test_an_epoch_has_every_row_once_and_like_kernels_share_a_sequence() -> None:
    same, other = np.array([1, 2, 3]), np.array([4])
    words = KernelWords(((same,), (other,), (same.copy(),), (np.array([9]),)))
    log_ratio = np.array([0.0, 1.0, 2.0, 3.0])
    auxiliary = np.zeros((4, NUM_AUXILIARY), np.float32)
    data = _RatioData(words, auxiliary, log_ratio, np.array([0, 1, 2]))
    assert len(data) == 2
    rng = np.random.default_rng(0)
    targets = []
    for kernels in data.batches(1, rng):
        (padded, lengths, _, owner), target = data.batch(kernels, rng)
        assert len(padded) == len(lengths) == 1
        assert owner.tolist() == [0] * len(target)
        targets += target.tolist()
    assert sorted(targets) == [0.0, 1.0, 2.0]


def test_auxiliary_features_are_standardised_and_bounded() -> None:
    values = np.array([[0.0, 1.0], [1e9, 256.0], [1e4, 64.0]])
    logs = np.log1p(values)
    features = auxiliary_features(values, logs.mean(axis=0), logs.std(axis=0))
    assert features.shape == (3, NUM_AUXILIARY)
    half = NUM_AUXILIARY // 2
    for column in (0, half):
        assert features[:, column].mean() == pytest.approx(0, abs=1e-6)
        assert features[:, column].std() == pytest.approx(1, abs=1e-6)
    bumps = np.delete(features, [0, half], axis=1)
    assert bumps.min() >= 0
    assert bumps.max() <= 1


def test_learns_what_the_first_word_decides() -> None:
    torch.set_num_threads(1)
    samples, words = make_samples(60)
    loop = TrainingConfig(epochs=40, batch_size=16, learning_rate=1e-2)
    method = LSTMMethod(make_embedding(), words, RatioTraining(hidden=8, dropout=0.0, loop=loop))
    train, test = np.arange(40), np.arange(40, 60)
    method.fit(samples.without_answers(test), train, np.random.default_rng(0))
    predicted = method.predict(samples, test)
    median, low, high, probability = predicted.T
    assert ((median > 0) == samples.is_gpu[test]).mean() >= 0.9
    assert ((low < median) & (median < high)).all()
    assert ((probability > 0.5) == (median > 0)).all()
    again = LSTMMethod(make_embedding(), words, RatioTraining(hidden=8, dropout=0.0, loop=loop))
    again.fit(samples.without_answers(test), train, np.random.default_rng(0))
    np.testing.assert_array_equal(again.predict(samples, test), predicted)


def test_predicting_before_fitting_is_refused() -> None:
    samples, words = make_samples(4)
    with pytest.raises(ValueError, match="fit the method"):
        LSTMMethod(make_embedding(), words).predict(samples, np.arange(2))


def test_kernel_words_follow_calls_and_leave_the_rest() -> None:
    module = read_module(b"""
define void @helper() {
  ret void
}
define void @unrelated() {
  unreachable
}
define spir_kernel void @k() {
  call void @helper()
  ret void
}
""")
    vocabulary = Vocabulary(("define", "ret", "unreachable", "call", "<unknown>"), np.ones(5, np.int64))
    embedding = Embedding(vocabulary, np.eye(5, dtype=np.float32))
    assert kernel_words(module, 2, embedding).tolist() == [0, 1, 0, 3, 1]


def test_no_batch_is_left_with_one_kernel() -> None:
    words = KernelWords(tuple((np.array([i, i]),) for i in range(9)))
    data = _RatioData(words, np.zeros((9, NUM_AUXILIARY), np.float32), np.zeros(9), np.arange(9))
    batches = data.batches(4, np.random.default_rng(0))
    assert sorted(len(batch) for batch in batches) == [4, 5]
    assert sorted(np.concatenate(batches).tolist()) == list(range(9))
