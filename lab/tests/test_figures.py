"""Figures and their intervals: by hand, beside scikit-learn, and what can be told of them on paper."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from lab.tests.rooms import Estimate, calibration_error, estimate, geomean, macro_f1, mean, mean_where, show


def mean_of(values: np.ndarray, groups: np.ndarray, draws: int = 2000) -> Estimate:
    return estimate([{"value": row} for row in np.atleast_2d(values)], {"m": mean("value")}, groups, draws=draws)["m"]


def test_interval_of_a_mean_is_that_of_the_textbook() -> None:
    values = np.random.default_rng(0).normal(3, 2, size=400)
    found = mean_of(values, np.arange(400), draws=20_000)
    error = values.std() / np.sqrt(400)
    assert found.value == pytest.approx(values.mean())
    # the ends' own spread over draws of 20,000 is about 0.02 standard errors
    assert (found.low - found.value) / error == pytest.approx(-1.96, abs=0.08)
    assert (found.high - found.value) / error == pytest.approx(1.96, abs=0.08)


def test_two_groups_give_three_values() -> None:
    # drawn as (0, 0), (0, 1) or (1, 0), (1, 1): means 0, 1/2 and 1 with probabilities 1/4, 1/2 and 1/4
    found = mean_of(np.array([0.0, 0.0, 1.0, 1.0]), np.array(["a", "a", "b", "b"]))
    assert (found.low, found.value, found.high) == (0, 0.5, 1)


def test_rows_that_stand_together_widen_the_interval() -> None:
    # 10 groups of 30 equal rows know as much as 10 rows: the interval is as wide as theirs
    values = np.random.default_rng(2).normal(size=10)
    together = mean_of(np.repeat(values, 30), np.repeat(np.arange(10), 30))
    ten, apart = mean_of(values, np.arange(10)), mean_of(np.repeat(values, 30), np.arange(300))
    assert (together.low, together.high) == pytest.approx((ten.low, ten.high))
    assert apart.high - apart.low < 0.3 * (together.high - together.low)


def test_seeds_are_averaged_and_one_group_has_no_interval() -> None:
    found = mean_of(np.array([[1.0, 2.0], [3.0, 4.0]]), np.zeros(2))
    assert found.per_seed.tolist() == [1.5, 3.5]
    assert found.low == found.value == found.high == 2.5


def test_figures_by_hand_and_beside_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    true, chosen = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    columns = {
        "true": true,
        "chosen": chosen,
        "right": true == chosen,
        "is_odd": np.arange(300) % 2 == 1,
        "log": np.log(np.where(np.arange(300) < 150, 4.0, 1.0)),
        "confidence": np.where(np.arange(300) < 150, 0.95, 0.05),
    }
    figures = {
        "f1": macro_f1("true", "chosen"),
        "odd": mean_where("right", "is_odd"),
        "geomean": geomean("log"),
        "ece": calibration_error("confidence", "right"),
        "absent": mean("absent"),
    }
    found = estimate([columns], figures, np.arange(300), draws=20)
    assert found["f1"].value == pytest.approx(f1_score(true, chosen, average="macro"))
    assert found["odd"].value == pytest.approx((true == chosen)[1::2].mean())
    assert found["geomean"].value == pytest.approx(2)
    halves = [abs(0.95 - (true == chosen)[:150].mean()), abs(0.05 - (true == chosen)[150:].mean())]
    assert found["ece"].value == pytest.approx(np.mean(halves))
    assert np.isnan(found["absent"].value)


@pytest.mark.parametrize(
    ("arguments", "unit", "places", "text"),
    [
        ((0.5,), "%", 1, "50.0%"),
        ((1.234, 1.1, 1.3), "×", 2, "1.23× (1.10–1.30)"),
        ((None,), "", 1, "–"),
        ((float("nan"), 1.0, 2.0), "", 1, "–"),
        ((12345.6,), "", 0, "12,346"),
    ],
)
def test_figures_are_shown_with_their_intervals(arguments, unit, places, text) -> None:
    assert show(*arguments, unit=unit, places=places) == text
