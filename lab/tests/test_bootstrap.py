"""Intervals of figures: what can be told of them on paper, and what is drawn together."""

import numpy as np
import pytest

from lab.tests.rooms import Bootstrap, Estimate, estimate
from ncc.errors import InputError


def means(values: np.ndarray, groups: np.ndarray, bootstrap: Bootstrap | None = None) -> Estimate:
    """The mean of (seeds, n) values."""
    terms = np.stack([values, np.ones_like(values)], axis=-1)
    (mean,) = estimate(terms, groups, lambda sums: sums[..., :1] / sums[..., 1:], bootstrap)
    return mean


def test_interval_of_a_mean_is_that_of_the_textbook() -> None:
    values = np.random.default_rng(0).normal(3, 2, size=(1, 400))
    mean = means(values, np.arange(400), Bootstrap(num_resamples=20_000))
    error = values.std() / np.sqrt(400)
    assert mean.value == pytest.approx(values.mean())
    # The ends' own spread over draws of 20,000 is about 0.02 standard errors.
    assert (mean.low - mean.value) / error == pytest.approx(-1.96, abs=0.08)
    assert (mean.high - mean.value) / error == pytest.approx(1.96, abs=0.08)


def test_narrower_levels_give_narrower_intervals() -> None:
    values = np.random.default_rng(1).normal(size=(1, 400))
    half, most = (means(values, np.arange(400), Bootstrap(level=level, num_resamples=20_000)) for level in (0.5, 0.95))
    assert (half.high - half.low) / (most.high - most.low) == pytest.approx(0.6745 / 1.96, rel=0.05)


def test_two_groups_give_three_values() -> None:
    # Drawn as (0, 0), (0, 1) or (1, 0), (1, 1): means 0, 1/2 and 1 with probabilities 1/4, 1/2 and 1/4.
    values, groups = np.array([[0.0, 0.0, 1.0, 1.0]]), np.array(["a", "a", "b", "b"])
    wide, narrow = (means(values, groups, Bootstrap(level=level)) for level in (0.95, 0.4))
    assert (wide.low, wide.value, wide.high) == (0, 0.5, 1)
    assert (narrow.low, narrow.high) == (0.5, 0.5)


def test_groups_of_unequal_size_weigh_by_their_rows() -> None:
    # Two groups again, of one and of three rows: 1/4 is the mean of both, as it is of all rows.
    values, groups = np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([7, 3, 3, 3])
    narrow = means(values, groups, Bootstrap(level=0.4))
    assert (narrow.value, narrow.low, narrow.high) == (0.25, 0.25, 0.25)


def test_rows_that_stand_together_widen_the_interval() -> None:
    # 10 groups of 30 equal rows know as much as 10 rows: the interval is as wide as theirs.
    values = np.random.default_rng(2).normal(size=10)
    together = means(np.repeat(values, 30)[None, :], np.repeat(np.arange(10), 30))
    ten = means(values[None, :], np.arange(10))
    apart = means(np.repeat(values, 30)[None, :], np.arange(300))
    assert (together.low, together.high) == pytest.approx((ten.low, ten.high))
    assert apart.high - apart.low < 0.3 * (together.high - together.low)


def test_one_group_has_no_interval() -> None:
    mean = means(np.random.default_rng(3).normal(size=(1, 20)), np.zeros(20))
    assert mean.low == pytest.approx(mean.value) == mean.high


def test_seeds_are_averaged_within_a_draw() -> None:
    # What one seed gains the other loses in the same rows: their mean is sure, though neither is.
    values = np.random.default_rng(4).normal(size=200)
    mean = means(np.stack([values, -values]), np.arange(200))
    assert mean.per_seed.tolist() == pytest.approx([values.mean(), -values.mean()])
    assert (mean.value, mean.low, mean.high) == pytest.approx((0, 0, 0), abs=1e-12)


def test_figures_need_not_be_linear() -> None:
    values = np.exp(np.random.default_rng(5).normal(size=(1, 300)))
    terms = np.stack([np.log(values), values, np.ones_like(values)], axis=-1)

    def geometric_and_arithmetic(sums: np.ndarray) -> np.ndarray:
        return np.stack([np.exp(sums[..., 0] / sums[..., 2]), sums[..., 1] / sums[..., 2]], axis=-1)

    geometric, arithmetic = estimate(terms, np.arange(300), geometric_and_arithmetic)
    assert geometric.value == pytest.approx(np.exp(np.log(values).mean()))
    assert arithmetic.value == pytest.approx(values.mean())
    error = np.log(values).std() / np.sqrt(300)
    assert np.log(geometric.high / geometric.low) == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_order_of_rows_and_names_of_groups_do_not_matter() -> None:
    rng = np.random.default_rng(6)
    values, groups = rng.normal(size=(2, 60)), rng.integers(0, 9, 60)
    order = rng.permutation(60)
    first, again = means(values, groups), means(values[:, order], np.array([f"group {i}" for i in groups[order]]))
    assert (first.value, first.low, first.high) == pytest.approx((again.value, again.low, again.high))


def test_draws_are_seeded() -> None:
    values = np.random.default_rng(7).normal(size=(1, 100))
    first, again, other = (means(values, np.arange(100), Bootstrap(seed=seed)) for seed in (1, 1, 2))
    assert (first.low, first.high) == (again.low, again.high) != (other.low, other.high)
    assert first.value == other.value


def test_impossible_bootstraps_are_refused() -> None:
    with pytest.raises(InputError, match="num_resamples: expected at least 1, found 0"):
        Bootstrap(num_resamples=0)
    for level in (0, 1, 95):
        with pytest.raises(InputError, match="level: expected a share between 0 and 1"):
            Bootstrap(level=level)
