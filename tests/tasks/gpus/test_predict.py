"""Predicted launches: what an answer holds, how it goes with sizes, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import ncc
from tests.support.verbs import run_here

_SAMPLE = Path(__file__).parents[3] / "datasets" / "gpu" / "diffusion.cu"
_BOUNDS = Path(__file__).parent / "bounds.cu"


@pytest.fixture(scope="module")
def step():
    (answer,) = ncc.predict_gpu(_SAMPLE, kernel="step", grid=[256, 256], block=[16, 16])
    return answer


def test_more_work_takes_longer():
    times = [
        ncc.predict_gpu(_SAMPLE, kernel="roots", grid=[65536], block=[256], arguments={"times": times})[0]
        for times in (10, 1000, 100000)
    ]
    assert [answer.bound for answer in times[1:]] == ["compute", "compute"]
    assert times[0].time_ms * 3 < times[1].time_ms < times[2].time_ms / 3
    assert times[2].interval_ms[0] >= times[2].lower_bounds_ms["compute"] * (1 - 1e-9) > 1


def test_another_card_is_extrapolated(step):
    (other,) = ncc.predict_gpu(_SAMPLE, kernel="step", grid=[256, 256], block=[16, 16], gpu="h100")
    assert other.gpu == "H100"
    assert other.extrapolated
    assert other.time_ms < step.time_ms
    assert np.divide(*other.interval_ms[::-1]) > np.divide(*step.interval_ms[::-1])


def _predict(kernel, grid, block=(256,), **arguments):
    (answer,) = ncc.predict_gpu(_BOUNDS, kernel=kernel, grid=grid, block=block, arguments=arguments)
    return answer


def test_a_stream_takes_no_less_than_the_bandwidth_allows():
    answer = _predict("triad", [2**20], n=2**28)
    least = 3 * 8 * 2**28
    assert answer.traffic_bytes >= least
    assert answer.lower_bounds_ms["bandwidth"] == pytest.approx(least / 760e9 * 1e3, rel=0.01)
    assert answer.time_ms >= answer.interval_ms[0] >= answer.lower_bounds_ms["bandwidth"] * (1 - 1e-9)
    assert answer.interval_ms[1] > answer.time_ms


def test_what_the_sizes_tell_limits_the_time_alone():
    answer, known = _predict("triad", [2**20]), _predict("triad", [2**20], n=2**28)
    assert answer.lower_bounds_ms["bandwidth"] == 0
    assert answer.assumed_lower_bounds_ms == known.lower_bounds_ms == known.assumed_lower_bounds_ms
    assert answer.interval_ms[0] < known.interval_ms[0] < answer.interval_ms[1]
    assert answer.time_ms >= known.lower_bounds_ms["bandwidth"] * (1 - 1e-9)
    assert answer.traffic_bytes >= 3 * 8 * 2**28


def test_addresses_that_threads_share_count_once():
    again = _predict("again", [2**18], n=2**26)
    assert again.lower_bounds_ms["bandwidth"] == pytest.approx((4 * 2**26 - 5 * 2**20) / 760e9 * 1e3)  # the stores
    product = _predict("product", [256, 256], (16, 16), n=4096)
    assert product.lower_bounds_ms["bandwidth"] == pytest.approx((12 * 2**24 - 5 * 2**20) / 760e9 * 1e3)
    assert product.lower_bounds_ms["compute"] == pytest.approx(2 * 4096**3 / 29.8e12 * 1e3)


def test_one_thread_takes_no_less_than_its_chain_of_operations():
    answer = _predict("alone", [16384], n=2**22)
    assert answer.lower_bounds_ms["chain"] == pytest.approx(4 * 2**22 / 1.71e9 * 1e3, rel=1e-3)
    assert (answer.bound, answer.raised_to, answer.familiar) == ("chain", "chain", False)
    assert answer.interval_ms[0] == pytest.approx(answer.lower_bounds_ms["chain"])


def test_nothing_is_bound_by_what_a_launch_takes():
    answer = _predict("nothing", [1])
    assert answer.bound == "launch overhead"
    assert answer.interval_ms[0] >= answer.lower_bounds_ms["launch overhead"] > 0.001


@pytest.mark.parametrize(
    ("given", "noun"),
    [
        (["--arg", "n=5", "--arg", "n=6"], "--arg n"),
        (["--program-args", '4096 "x'], "quotation"),
        (["--arg", "n=nan"], "'n' is nan"),
    ],
)
def test_what_is_mistyped_is_refused(given, noun):
    finished = run_here("predict-gpu", _SAMPLE, "--grid", "4", "--block", "64", *given)
    assert finished.code != 0
    assert noun in " ".join(finished.err.split())
