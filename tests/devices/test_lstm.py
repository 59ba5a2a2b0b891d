"""The LSTM device mapper: its loss, its batches, and what it learns."""

import numpy as np
import pytest
import torch

from ncc.devices.lstm import Forms, LSTMMethod, RatioTraining, laplace_loss
from ncc.devices.lstm_head import NUM_AUXILIARY, auxiliary_features
from ncc.devices.samples import DeviceMappingSamples
from ncc.embedding import Embedding, Vocabulary
from ncc.encoder.config import EncoderConfig, HeadConfig
from ncc.errors import InputError
from ncc.ir import read_module
from ncc.kernels.reading import kernel_words, source_words
from ncc.training import TrainingConfig

SMALL = RatioTraining(
    encoder=EncoderConfig(hidden=8, pooling=("last", "mean", "max")),
    head=HeadConfig(),
    loop=TrainingConfig(epochs=40, batch_size=16, learning_rate=1e-2),
)


def make_embedding(num_words: int = 12, dim: int = 8) -> Embedding:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((num_words, dim)).astype(np.float32)
    words = tuple(f"word {i}" for i in range(num_words))
    return Embedding(Vocabulary(words, np.arange(num_words)), vectors)


def make_samples(n: int) -> tuple[DeviceMappingSamples, list[Forms]]:
    """Kernels whose first word alone decides: word 1 is ten times as fast on the GPU, word 2 ten times as slow."""
    rng = np.random.default_rng(1)
    sign = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    log_ratio = sign * np.log(10) + rng.normal(0, 0.1, n)
    sequences: list[Forms] = [
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
    return samples, sequences


def test_loss_is_that_of_torch_up_to_the_constant() -> None:
    output = torch.tensor([[0.3, -0.5], [-1.0, 0.7]])
    target = torch.tensor([1.0, -2.0])
    expected = -torch.distributions.Laplace(output[:, 0], output[:, 1].exp()).log_prob(target).mean()
    assert laplace_loss(output, target) + np.log(2) == pytest.approx(float(expected), abs=1e-6)


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
    method = LSTMMethod(make_embedding(), words, SMALL)
    train, test = np.arange(40), np.arange(40, 60)
    method.fit(samples.without_answers(test), train, np.random.default_rng(0))
    predicted = method.predict(samples, test)
    median, low, high, probability = predicted.T
    assert ((median > 0) == samples.is_gpu[test]).mean() >= 0.9
    assert ((low < median) & (median < high)).all()
    assert ((probability > 0.5) == (median > 0)).all()
    again = LSTMMethod(make_embedding(), words, SMALL)
    again.fit(samples.without_answers(test), train, np.random.default_rng(0))
    np.testing.assert_array_equal(again.predict(samples, test), predicted)


def test_predicting_before_fitting_is_refused() -> None:
    samples, words = make_samples(4)
    with pytest.raises(InputError, match="fit the method"):
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
    assert kernel_words(module, embedding).tolist() == [0, 1, 0, 3, 1]


def test_words_of_a_source_that_does_not_compile_are_none() -> None:
    vocabulary = Vocabulary(("define", "ret", "<unknown>"), np.ones(3, np.int64))
    embedding = Embedding(vocabulary, np.eye(3, dtype=np.float32))
    assert source_words("__kernel void k(", embedding) is None
    found = source_words("__kernel void k() {}", embedding)
    assert found is not None
    assert found.tolist() == [0, 1]


def test_forms_of_a_kernel_are_drawn_and_the_first_answers() -> None:
    samples, words = make_samples(40)
    other = [(*forms, np.array([3 - forms[0][0], 3, 3])) for forms in words]  # says the opposite
    method, plain = LSTMMethod(make_embedding(), other, SMALL), LSTMMethod(make_embedding(), words, SMALL)
    found = []
    for one in (method, plain):
        one.fit(samples, np.arange(40), np.random.default_rng(0))
        found.append(np.abs(one.predict(samples, np.arange(40))[:, 0]).mean())
    assert found[0] < found[1]
