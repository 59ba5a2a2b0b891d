"""Compressors: the error of a gradient, what is added to the next one, and how many bytes travel."""

import math

import pytest
import torch

from tests.rooms import CHUNK, Collectives, Quantized, TopK, TrainingConfig, make_compressor

LOSSY = ("topk", "int8", "int4")


def _gradient(size: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed))


def _compressor(name: str, **options):
    return make_compressor(TrainingConfig(compression=name, **options), Collectives())


def _message(quantized: Quantized, gradient: torch.Tensor) -> torch.Tensor:
    return quantized.encode(gradient, quantized.generator(gradient.device))


def _sum(compressor, gradient: torch.Tensor) -> torch.Tensor:
    """What one rank makes of its gradient."""
    total = gradient.clone()
    compressor.all_reduce(total)
    return total


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("size", [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7])
def test_quantized_entries_are_next_to_the_exact_ones(bits, size):
    gradient = _gradient(size)
    quantized = Quantized(Collectives(), bits, seed=1)
    message = _message(quantized, gradient)
    assert message.dtype == torch.uint8
    assert len(message) == 4 * math.ceil(size / CHUNK) + math.ceil(size * bits / 8)
    decoded = quantized.decode(message, size)
    for exact, near in zip(gradient.split(CHUNK), decoded.split(CHUNK), strict=True):
        step = exact.abs().max() / (2 ** (bits - 1) - 1)
        assert (near - exact).abs().max() <= step * 1.0001
        assert near.abs().max() <= exact.abs().max() * 1.0001


@pytest.mark.parametrize("bits", [8, 4])
def test_stochastic_rounding_is_right_on_average(bits):
    gradient, quantized, number = _gradient(100), Quantized(Collectives(), bits, seed=1), 2000
    mean = torch.zeros(100)
    for step in range(number):
        quantized.step = step
        mean += quantized.decode(_message(quantized, gradient), 100) / number
    step = gradient.abs().max() / (2 ** (bits - 1) - 1)
    assert (mean - gradient).abs().max() < 5 * 0.5 * step / math.sqrt(number)  # 5 standard deviations, or more


def test_rounding_repeats_and_differs_by_step_and_seed():
    gradient = _gradient(1000)
    left, right = (Quantized(Collectives(), 4, seed=1) for _ in range(2))
    assert torch.equal(_message(left, gradient), _message(right, gradient))
    right.step = 1
    assert not torch.equal(_message(left, gradient), _message(right, gradient))
    assert not torch.equal(_message(left, gradient), _message(Quantized(Collectives(), 4, seed=2), gradient))


@pytest.mark.parametrize("name", LOSSY)
def test_zeros_stay_zeros_and_what_is_not_finite_shows_once(name):
    assert not _sum(_compressor(name), torch.zeros(10)).any()
    for wrong in (math.inf, -math.inf, math.nan):
        gradient = _gradient(10)
        gradient[3] = wrong
        error = _compressor(name).all_reduce(gradient)
        assert not gradient.isfinite().all()
        assert error.isfinite().all()


@pytest.mark.parametrize("name", LOSSY)
def test_the_sum_and_its_error_are_the_gradient(name):
    compressor, gradient = _compressor(name, topk_fraction=0.05), _gradient(3 * CHUNK + 7)
    total = gradient.clone()
    error = compressor.all_reduce(total)
    assert error.abs().max() > 0
    assert torch.allclose(total + error, gradient, atol=1e-6)


def test_the_largest_entries_are_sent():
    topk = TopK(Collectives(), 0.3)
    gradient = torch.tensor([1.0, -9, 2, 0, 8, 3, -7, 4, 5, 6])
    assert _sum(topk, gradient).tolist() == [0, -9, 0, 0, 8, 0, -7, 0, 0, 0]


@pytest.mark.parametrize(("size", "number"), [(100_000, 1000), (199, 1), (50, 1), (1, 1)])
def test_one_percent_of_entries_is_sent_but_never_none(size, number):
    message = TopK(Collectives(), 0.01).encode(_gradient(size))
    assert message.dtype == torch.int32
    assert len(message) == 2 * number
