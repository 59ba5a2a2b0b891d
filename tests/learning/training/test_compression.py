"""Compressions: what is lost of a gradient, what comes later, and how many bytes travel."""

import math

import pytest
import torch

from tests.rooms import CHUNK, COMPRESSIONS, Exchange, Quantized, TopK, TrainingConfig, make_compression


def _gradient(size: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed))


def _message(quantized: Quantized, gradient: torch.Tensor) -> torch.Tensor:
    return quantized.message(gradient, quantized.generator(gradient.device))


def _sum(compression, gradient: torch.Tensor) -> torch.Tensor:
    """What one rank makes of its gradient."""
    found = gradient.clone()
    compression.sum(found)
    return found


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("size", [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7])
def test_quantised_entries_are_next_to_the_exact_ones(bits, size):
    gradient = _gradient(size)
    quantized = Quantized(Exchange(), bits, seed=1)
    message = _message(quantized, gradient)
    assert message.dtype == torch.uint8
    assert len(message) == 4 * math.ceil(size / CHUNK) + math.ceil(size * bits / 8)
    decoded = quantized.decoded(message, size)
    for exact, near in zip(gradient.split(CHUNK), decoded.split(CHUNK), strict=True):
        step = exact.abs().max() / (2 ** (bits - 1) - 1)
        assert (near - exact).abs().max() <= step * 1.0001
        assert near.abs().max() <= exact.abs().max() * 1.0001


@pytest.mark.parametrize("bits", [8, 4])
def test_stochastic_rounding_is_right_on_average(bits):
    gradient, quantized, number = _gradient(100), Quantized(Exchange(), bits, seed=1), 2000
    mean = torch.zeros(100)
    for step in range(number):
        quantized.step = step
        mean += quantized.decoded(_message(quantized, gradient), 100) / number
    step = gradient.abs().max() / (2 ** (bits - 1) - 1)
    assert (mean - gradient).abs().max() < 5 * 0.5 * step / math.sqrt(number)  # 5 standard deviations, or more


def test_rounding_repeats_and_differs_by_step_and_seed():
    gradient = _gradient(1000)
    one, other = (Quantized(Exchange(), 4, seed=1) for _ in range(2))
    assert torch.equal(_message(one, gradient), _message(other, gradient))
    other.step = 1
    assert not torch.equal(_message(one, gradient), _message(other, gradient))
    assert not torch.equal(_message(one, gradient), _message(Quantized(Exchange(), 4, seed=2), gradient))


@pytest.mark.parametrize("bits", [8, 4])
def test_zeros_stay_zeros_and_what_is_not_finite_shows(bits):
    quantized = Quantized(Exchange(), bits, seed=1)
    assert not _sum(quantized, torch.zeros(10)).any()
    for wrong in (math.inf, -math.inf, math.nan):
        gradient = _gradient(10)
        gradient[3] = wrong
        assert not _sum(quantized, gradient).isfinite().all()


def test_what_is_sent_and_what_is_kept_make_the_sum_of_gradients():
    topk, size, total, sent = TopK(Exchange(), 0.05), 507, torch.zeros(507), torch.zeros(507)
    for step in range(300):
        gradient = _gradient(size, seed=step)
        total += gradient
        sent += _sum(topk, gradient)
        assert torch.allclose(sent + topk.kept, total, atol=1e-3)
    assert (sent != 0).all()  # none waits for ever


def test_the_largest_entries_are_sent():
    topk = TopK(Exchange(), 0.3)
    gradient = torch.tensor([1.0, -9, 2, 0, 8, 3, -7, 4, 5, 6])
    assert _sum(topk, gradient).tolist() == [0, -9, 0, 0, 8, 0, -7, 0, 0, 0]
    assert topk.kept.tolist() == [1, 0, 2, 0, 0, 3, 0, 4, 5, 6]


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_sent_once_and_not_kept(wrong):
    topk = TopK(Exchange(), 0.1)
    gradient = _gradient(40)
    gradient[:20] = wrong
    assert not _sum(topk, gradient).isfinite().all()
    for step in range(1, 30):
        assert _sum(topk, _gradient(40, seed=step)).isfinite().all()


@pytest.mark.parametrize(("size", "number"), [(100_000, 1000), (199, 1), (50, 1), (1, 1)])
def test_one_percent_of_entries_is_sent_but_never_none(size, number):
    message = TopK(Exchange(), 0.01).message(_gradient(size))
    assert message.dtype == torch.int32
    assert len(message) == 2 * number


def test_all_are_sent_where_all_are_asked_for():
    gradient = _gradient(40)
    assert torch.equal(_sum(TopK(Exchange(), 1.0), gradient), gradient)


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_every_name_makes_a_compression(name):
    compression = make_compression(TrainingConfig(compression=name), Exchange())
    assert (compression is None) == (name == "none")
