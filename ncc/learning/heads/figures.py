"""Bootstrap intervals: groups of rows are drawn again, and every figure is a function of sums over rows.

A figure that is a function of sums costs one matrix product for all draws.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Bools, Floats

_DRAWS, _COVERAGE, _SEED = 2000, 0.95, 204
"""Those of all published figures."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """A figure with its interval.

    Attributes:
        value: Mean over the seeds.
        low, high: Ends of the bootstrap interval; with few groups take both as an indication only.
        per_seed: The figure of each seed, (seeds,) float64.
    """

    value: float
    low: float
    high: float
    per_seed: Floats


def estimate(terms: Floats, groups: np.ndarray, figures: Callable[[Floats], Floats]) -> list[Estimate]:
    """Put intervals on figures of sums over rows, from (seeds, n, k) float64 terms and (n,) groups drawn together."""
    codes = np.unique(groups, return_inverse=True)[1]
    num_groups = int(codes.max()) + 1
    rng = np.random.default_rng(_SEED)
    draws = rng.multinomial(num_groups, np.full(num_groups, 1 / num_groups), size=_DRAWS)
    sums = np.zeros((len(terms), num_groups, terms.shape[2]))
    for seed, rows in enumerate(terms):
        np.add.at(sums[seed], codes, rows)
    per_seed = figures(sums.sum(axis=1)).T
    resampled = figures(np.einsum("bg,sgk->bsk", draws, sums, optimize=True)).mean(axis=1)
    tail = (1 - _COVERAGE) / 2
    ends = np.quantile(resampled, (tail, 1 - tail), axis=0)
    return [
        Estimate(value=float(values.mean()), low=float(low), high=float(high), per_seed=values)
        for values, low, high in zip(per_seed, ends[0], ends[1], strict=True)
    ]


def calibration_error(confidence: Floats, right: Bools, bins: int, lowest: float = 0.0) -> float:
    """Mean distance between confidence and accuracy over bins of confidence, from the lowest that can be to 1."""
    place = np.minimum(((confidence - lowest) / (1 - lowest) * bins).astype(int), bins - 1)
    gap = np.bincount(place, confidence, bins) - np.bincount(place, right, bins)
    return float(np.abs(gap).sum() / len(right))
