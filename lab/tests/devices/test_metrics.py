"""Scores of device mapping, by hand, against scikit-learn, and on the published tables."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.metrics import f1_score

from lab.tests.rooms import Bootstrap, static_choice_is_gpu
from lab.tests.rooms import devices_measure as measure
from ncc.errors import InputError
from tests.rooms import DeviceMappingSamples

# CPU times 8, 1, 1, 1 and GPU times 1, 2, 4, 1.25: the GPU is faster in the first row only.
LOG_RATIO = np.log([8.0, 1 / 2, 1 / 4, 1 / 1.25])
FEW = Bootstrap(num_resamples=200)
Published = Callable[[str], DeviceMappingSamples]


def choices(*rows: str) -> np.ndarray:
    return np.array([[letter == "G" for letter in row] for row in rows])


def test_by_hand() -> None:
    metrics = measure(LOG_RATIO, choices("GGCC"), np.arange(4), FEW)
    assert metrics.accuracy.value == 0.75
    # GPU: 1 right of 2 chosen, none missed; CPU: 2 right of 2 chosen, 1 missed
    assert metrics.macro_f1.value == pytest.approx((2 / 3 + 4 / 5) / 2)
    # the static choice is the CPU, so the rows' speedups are 8, 1/2, 1, 1
    assert metrics.geomean_speedup.value == pytest.approx(4 ** (1 / 4))
    assert metrics.mean_speedup.value == pytest.approx(10.5 / 4)
    assert metrics.share_of_oracle.value == pytest.approx((1 / 2) ** (1 / 4))


def test_speedup_over_the_gpu_where_it_is_the_majority() -> None:
    metrics = measure(-LOG_RATIO, choices("CCGG"), np.arange(4), FEW)
    assert metrics.geomean_speedup.value == pytest.approx(4 ** (1 / 4))
    assert metrics.mean_speedup.value == pytest.approx(10.5 / 4)


def test_oracle_and_its_opposite() -> None:
    right = measure(LOG_RATIO, choices("GCCC"), np.arange(4), FEW)
    assert (right.accuracy.value, right.macro_f1.value, right.share_of_oracle.value) == (1, 1, 1)
    wrong = measure(LOG_RATIO, choices("CGGG"), np.arange(4), FEW)
    assert (wrong.accuracy.value, wrong.macro_f1.value) == (0, 0)
    assert wrong.share_of_oracle.value == pytest.approx((1 / (8 * 2 * 4 * 1.25)) ** (1 / 4))


def test_f1_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    log_ratio, chosen = rng.normal(size=200), rng.random((1, 200)) < 0.3
    ours = measure(log_ratio, chosen, np.arange(200), FEW).macro_f1.value
    assert ours == pytest.approx(f1_score(log_ratio > 0, chosen[0], average="macro"))


def test_seeds_are_averaged() -> None:
    metrics = measure(LOG_RATIO, choices("GGCC", "GCCC", "CCCC"), np.arange(4), FEW)
    assert metrics.accuracy.per_seed.tolist() == [0.75, 1, 0.75]
    assert metrics.accuracy.value == pytest.approx(2.5 / 3)


def test_interval_is_drawn_from_groups() -> None:
    rng = np.random.default_rng(3)
    log_ratio = rng.normal(size=300)
    groups = np.repeat(np.arange(10), 30)
    chosen = (log_ratio > 0)[None, :] ^ (groups < 5)  # all right in one half of the groups
    by_group, by_row = (measure(log_ratio, chosen, unit).accuracy for unit in (groups, np.arange(300)))
    assert by_group.value == by_row.value == 0.5
    # The standard error of a share of one half is 0.158 over 10 groups and 0.029 over 300 rows.
    assert by_group.high - by_group.low == pytest.approx(2 * 1.96 * 0.158, rel=0.15)
    assert by_row.high - by_row.low == pytest.approx(2 * 1.96 * 0.029, rel=0.15)


def test_coverage_counts_rows_inside_their_intervals() -> None:
    measured = np.array([0.0, 1.0, 2.0, 3.0])
    below, around, above = measured - 2, measured, measured + 2
    right = np.stack([below, above], axis=-1)
    ends = np.stack([around, above], axis=-1)  # at the low end: inside
    half = np.where(np.arange(4)[:, None] < 2, right, right + 5)
    chosen = np.zeros((3, 4), bool)
    coverage = measure(measured, chosen, np.arange(4), FEW, np.stack([right, ends, half])).coverage
    assert coverage is not None
    assert coverage.per_seed.tolist() == [1, 1, 0.5]
    assert coverage.value == pytest.approx(2.5 / 3)
    assert coverage.low < coverage.value <= coverage.high <= 1


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(seeds, 4\)"):
        measure(LOG_RATIO, choices("GGC"), np.arange(4))
    with pytest.raises(InputError, match=r"none empty"):
        measure(LOG_RATIO, np.zeros((0, 4), dtype=bool), np.arange(4))
    with pytest.raises(InputError, match="finite log ratios"):
        measure(np.where(LOG_RATIO > 0, np.nan, LOG_RATIO), choices("GGCC"), np.arange(4))
    with pytest.raises(InputError, match=r"shape \(seeds, 4\)"):
        measure(LOG_RATIO, choices("GGCC"), np.arange(4), intervals=np.zeros((1, 3, 2)))


def test_static_choice() -> None:
    assert static_choice_is_gpu(np.array([True, True, False]))
    assert not static_choice_is_gpu(np.array([True, False]))


def test_published_oracle_and_constants(published: Published) -> None:
    amd, nvidia = published("amd"), published("nvidia")
    assert not static_choice_is_gpu(amd.is_gpu)
    assert static_choice_is_gpu(nvidia.is_gpu)
    for samples, arithmetic, geometric in ((amd, 3.64, 1.67), (nvidia, 1.53, 1.34)):
        oracle = measure(samples.log_ratio, samples.is_gpu[None, :], samples.benchmark, FEW)
        assert round(oracle.mean_speedup.value, 2) == arithmetic
        assert round(oracle.geomean_speedup.value, 2) == geometric
    always_gpu = measure(amd.log_ratio, np.ones((1, 680), dtype=bool), amd.benchmark, FEW)
    assert round(always_gpu.accuracy.value, 3) == 0.412
    assert round(always_gpu.mean_speedup.value, 2) == 3.26
    assert round(always_gpu.geomean_speedup.value, 2) == 0.71
    assert round(float(np.exp(amd.log_ratio).max())) == 154
