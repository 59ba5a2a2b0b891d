"""Compressors: the sum of a gradient, and the error that is added to the next one."""

import math

import pytest
import torch

from tests.rooms import CHUNK, Collectives, TrainingConfig, sum_compressed

LOSSY = ("topk", "int8")
LARGEST = 127


def _gradient(size: int) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(0))


def _sum(name: str, gradient: torch.Tensor, step: int = 0, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """What one rank makes of its gradient, and the error."""
    total = gradient.clone()
    error = sum_compressed(total, Collectives(), TrainingConfig(compression=name, seed=seed), step)
    assert error is not None
    return total, error


@pytest.mark.parametrize("size", [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7])
def test_quantized_entries_are_next_to_the_exact_ones_of_their_chunk(size):
    gradient = _gradient(size)
    total, _ = _sum("int8", gradient)
    for exact, near in zip(gradient.split(CHUNK), total.split(CHUNK), strict=True):
        step = exact.abs().max() / LARGEST
        assert (near - exact).abs().max() <= 2.0001 * step  # rounded twice
        assert near.abs().max() <= exact.abs().max() * 1.0001


def test_stochastic_rounding_is_right_on_average():
    gradient, number = _gradient(100), 1000
    mean = torch.stack([_sum("int8", gradient, step)[0] for step in range(number)]).mean(dim=0)
    step = gradient.abs().max() / LARGEST
    assert (mean - gradient).abs().max() < 5 * 0.5 * step * math.sqrt(2 / number)  # 5 standard deviations, or more


def test_rounding_repeats_and_differs_by_step_and_seed():
    gradient = _gradient(1000)
    first, _ = _sum("int8", gradient)
    assert torch.equal(first, _sum("int8", gradient)[0])
    assert not torch.equal(first, _sum("int8", gradient, step=1)[0])
    assert not torch.equal(first, _sum("int8", gradient, seed=2)[0])


@pytest.mark.parametrize("name", LOSSY)
def test_zeros_stay_zeros_and_what_is_not_finite_shows_once(name):
    assert not _sum(name, torch.zeros(10))[0].any()
    for wrong in (math.inf, -math.inf, math.nan):
        gradient = _gradient(10)
        gradient[3] = wrong
        total, error = _sum(name, gradient)
        assert not total.isfinite().all()
        assert error.isfinite().all()


@pytest.mark.parametrize("name", LOSSY)
def test_the_sum_and_its_error_are_the_gradient(name):
    gradient = _gradient(3 * CHUNK + 7)
    total, error = _sum(name, gradient)
    assert error.abs().max() > 0
    assert torch.allclose(total + error, gradient, atol=1e-6)


@pytest.mark.parametrize(("size", "number"), [(100_000, 1000), (199, 1), (1, 1)])
def test_the_largest_percent_of_entries_is_sent_but_never_none(size, number):
    gradient = _gradient(size)
    total, error = _sum("topk", gradient)
    assert (total != 0).sum() == number
    assert total.abs()[total != 0].min() >= error.abs().max()
