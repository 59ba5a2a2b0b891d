"""Compressions: what is lost of a gradient, what comes later, and how many bytes travel."""

import math
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from ncc.training import COMPRESSIONS, TrainingConfig
from ncc.training.compression import CHUNK, Quantized, TopK, make_compression
from ncc.training.exchange import Exchange

RANKS = runpy.run_path(str(Path(__file__).parent / "strategy_ranks.py"))


def _gradient(size: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed))


def _bucket(*parameters: nn.Parameter, number: int = 0) -> SimpleNamespace:
    return SimpleNamespace(index=lambda: number, parameters=lambda: list(parameters))


def _decoded(compression, message: torch.Tensor, size: int) -> torch.Tensor:
    gradient = torch.zeros(size)
    compression.add_decoded(gradient, message)
    return gradient


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("size", [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7])
def test_quantised_entries_are_next_to_the_exact_ones(bits, size):
    gradient = _gradient(size)
    quantized = Quantized(Exchange(), bits, seed=1)
    message = quantized.message(gradient, _bucket())
    assert message.dtype == torch.uint8
    assert len(message) == 4 * math.ceil(size / CHUNK) + math.ceil(size * bits / 8)
    decoded = _decoded(quantized, message, size)
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
        mean += _decoded(quantized, quantized.message(gradient, _bucket()), 100) / number
    step = gradient.abs().max() / (2 ** (bits - 1) - 1)
    assert (mean - gradient).abs().max() < 5 * 0.5 * step / math.sqrt(number)  # 5 standard deviations, or more


def test_rounding_repeats_and_differs_by_step_and_bucket():
    gradient = _gradient(1000)
    one, other = (Quantized(Exchange(), 4, seed=1) for _ in range(2))
    assert torch.equal(one.message(gradient, _bucket()), other.message(gradient, _bucket()))
    assert not torch.equal(one.message(gradient, _bucket()), one.message(gradient, _bucket(number=1)))
    other.step = 1
    assert not torch.equal(one.message(gradient, _bucket()), other.message(gradient, _bucket()))
    assert not torch.equal(
        one.message(gradient, _bucket()), Quantized(Exchange(), 4, seed=2).message(gradient, _bucket())
    )


@pytest.mark.parametrize("bits", [8, 4])
def test_zeros_stay_zeros_and_what_is_not_finite_shows(bits):
    quantized = Quantized(Exchange(), bits, seed=1)
    assert not _decoded(quantized, quantized.message(torch.zeros(10), _bucket()), 10).any()
    for wrong in (math.inf, -math.inf, math.nan):
        gradient = _gradient(10)
        gradient[3] = wrong
        assert not _decoded(quantized, quantized.message(gradient, _bucket()), 10).isfinite().all()


def test_what_is_sent_and_what_is_kept_make_the_sum_of_gradients():
    parameters = [nn.Parameter(torch.zeros(size)) for size in ((30, 10), (200,), (7,))]
    topk, size, total, sent = TopK(Exchange(), 0.05), 507, torch.zeros(507), torch.zeros(507)
    for step in range(300):
        gradient = _gradient(size, seed=step)
        total += gradient
        sent += _decoded(topk, topk.message(gradient, _bucket(*parameters)), size)
        assert torch.allclose(sent + topk.kept(parameters), total, atol=1e-3)
    assert (sent != 0).all()  # none waits for ever


def test_the_largest_entries_are_sent():
    topk, parameter = TopK(Exchange(), 0.3), nn.Parameter(torch.zeros(10))
    gradient = torch.tensor([1.0, -9, 2, 0, 8, 3, -7, 4, 5, 6])
    sent = _decoded(topk, topk.message(gradient, _bucket(parameter)), 10)
    assert sent.tolist() == [0, -9, 0, 0, 8, 0, -7, 0, 0, 0]
    assert topk.kept([parameter]).tolist() == [1, 0, 2, 0, 0, 3, 0, 4, 5, 6]


def test_what_is_kept_follows_its_parameter_when_buckets_are_cut_anew():
    topk, a, b = TopK(Exchange(), 0.2), nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(3))
    topk.message(torch.tensor([1.0, 2, 3, 4, 9]), _bucket(a, b))
    assert topk.kept([b, a]).tolist() == [3, 4, 0, 1, 2]
    topk.message(torch.zeros(3), _bucket(b))
    assert topk.kept([b]).tolist() == [3, 0, 0]
    assert topk.kept([a]).tolist() == [1, 2]


@pytest.mark.parametrize(("size", "number"), [(100_000, 1000), (199, 1), (50, 1), (1, 1)])
def test_one_percent_of_entries_is_sent_but_never_none(size, number):
    topk, parameter = TopK(Exchange(), 0.01), nn.Parameter(torch.zeros(size))
    message = topk.message(_gradient(size), _bucket(parameter))
    assert message.dtype == torch.int32
    assert len(message) == 2 * number


def test_all_are_sent_where_all_are_asked_for():
    topk, parameter, gradient = TopK(Exchange(), 1.0), nn.Parameter(torch.zeros(40)), _gradient(40)
    assert torch.equal(_decoded(topk, topk.message(gradient, _bucket(parameter)), 40), gradient)


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_every_name_makes_a_compression(name):
    compression = make_compression(TrainingConfig(compression=name), Exchange())
    assert (compression is None) == (name == "none")
