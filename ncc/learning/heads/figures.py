"""Bootstrap intervals: groups of rows are resampled, and every figure is a function of sums over rows.

A figure that is a function of sums costs one matrix product for all draws.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Bools, Floats
from ncc.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """How intervals are drawn.

    Args:
        num_resamples: How often the groups are drawn, with replacement.
        level: Share of the resampled values inside the interval, above 0 and below 1.
        seed: Seed of the draws.

    Raises:
        InputError: A value is out of range.
    """

    num_resamples: int = 2000
    level: float = 0.95
    seed: int = 204

    def __post_init__(self) -> None:
        if self.num_resamples < 1:
            raise InputError(f"num_resamples: expected at least 1, found {self.num_resamples}")
        if not 0 < self.level < 1:
            raise InputError(f"level: expected a share between 0 and 1, found {self.level}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """A figure with its interval.

    Args:
        value: Mean over the seeds.
        low: Lower end of the bootstrap interval.
        high: Upper end. With few groups take both ends as an indication only.
        per_seed: The figure of each seed, (seeds,) float64.
    """

    value: float
    low: float
    high: float
    per_seed: Floats


def estimate(
    terms: Floats, groups: np.ndarray, figures: Callable[[Floats], Floats], bootstrap: Bootstrap | None = None
) -> list[Estimate]:
    """Put intervals on figures that are functions of sums over rows.

    Arrays:
        terms: What is summed, (seeds, n, k) float64.
        groups: Rows of equal value are drawn together, (n,).
    """
    bootstrap = bootstrap or Bootstrap()
    codes = np.unique(groups, return_inverse=True)[1]
    num_groups = int(codes.max()) + 1
    draws = np.random.default_rng(bootstrap.seed).multinomial(
        num_groups, np.full(num_groups, 1 / num_groups), size=bootstrap.num_resamples
    )
    sums = np.zeros((len(terms), num_groups, terms.shape[2]))
    for seed, rows in enumerate(terms):
        np.add.at(sums[seed], codes, rows)
    per_seed = figures(sums.sum(axis=1)).T
    resampled = figures(np.einsum("bg,sgk->bsk", draws, sums, optimize=True)).mean(axis=1)
    tail = (1 - bootstrap.level) / 2
    ends = np.quantile(resampled, (tail, 1 - tail), axis=0)
    return [
        Estimate(value=float(values.mean()), low=float(low), high=float(high), per_seed=values)
        for values, low, high in zip(per_seed, ends[0], ends[1], strict=True)
    ]


def calibration_error(confidence: Floats, right: Bools, bins: int, least: float = 0.0) -> float:
    """Mean distance between confidence and accuracy over bins of confidence, from the least that can be to 1."""
    place = np.minimum(((confidence - least) / (1 - least) * bins).astype(int), bins - 1)
    gap = np.bincount(place, confidence, bins) - np.bincount(place, right, bins)
    return float(np.abs(gap).sum() / len(right))


def accuracy_of_surest(right: Bools, sureness: Floats, percents: Sequence[int] = range(10, 101, 10)) -> list[float]:
    """Share that is right among the surest, so many percent of all, one at least."""
    order = np.argsort(-sureness, kind="stable")
    return [float(right[order[: max(len(order) * percent // 100, 1)]].mean()) for percent in percents]
