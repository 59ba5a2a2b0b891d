"""Calibration: the shares that follow from counts, and the files that ship."""

from pathlib import Path

import numpy as np
import pytest

import ncc
from tests.rooms import Calibration, shipped_calibration

GRID = np.linspace(-1, 1, 101)


@pytest.fixture
def calibration() -> Calibration:
    """Of the same functions, most are similar by 0.8 or more; of different ones a hundred-thousandth is."""
    same, other = 1 / (1 + np.exp(40 * (GRID - 0.9))), np.exp(-6.4 * (GRID + 1))
    columns = [tuple(column.tolist()) for column in (GRID, same, other)]
    return Calibration(
        pooler_id="x-1", similarity=columns[0], true_positive_rate=columns[1], false_positive_rate=columns[2]
    )


def test_the_share_follows_by_bayes_rule(calibration):
    row = 90
    true, false = 0.1 * calibration.true_positive_rate[row], 999 * calibration.false_positive_rate[row]
    assert calibration.copy_rate(float(GRID[row]), 1000) == pytest.approx(true / (true + false), abs=6e-4)


def test_the_share_rises_with_similarity_and_falls_with_size(calibration):
    for size in (10, 1000, 100_000):
        shares = [calibration.copy_rate(value, size) for value in GRID]
        assert shares == sorted(shares)
        assert 0 <= shares[0] <= shares[-1] <= 1
    at = [calibration.copy_rate(0.9, size) for size in (10, 400, 1000, 100_000)]
    assert at[0] == at[1] > at[2] > at[3]
    threshold = calibration.threshold(0.5, 400)
    assert threshold is not None
    assert calibration.copy_rate(threshold, 400) >= 0.5 > calibration.copy_rate(threshold - 0.05, 400)
    assert calibration.threshold(1.1, 100) is None


def test_those_that_ship_are_in_range():
    paths = sorted((Path(ncc.__file__).parent / "assets" / "search").glob("*.json"))
    assert paths
    for path in paths:
        shipped = shipped_calibration(path.stem)
        assert shipped is not None
        assert shipped.pooler_id == path.stem
        assert (np.diff(shipped.similarity) > 0).all()
        for rates in (shipped.true_positive_rate, shipped.false_positive_rate):
            assert len(rates) == len(shipped.similarity)
            assert 0 <= min(rates) <= max(rates) <= 1
    assert shipped_calibration("x-2") is None
    assert shipped_calibration("../search/mean") is None
