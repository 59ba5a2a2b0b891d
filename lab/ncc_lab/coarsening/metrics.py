"""Scores of thread coarsening: speedups over no coarsening, share of the oracle, accuracy of the exact factor.

A factor that was not measured for a kernel on a device counts as the largest factor that was: the convention of the
published programs, and what a compiler that can't coarsen any further would do. It favours nobody who stays inside what
was measured, and it flatters the constant 32, measured for 5 kernels of 17; how often it was needed is told.
"""

from dataclasses import dataclass

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc.learning.heads.figures import Bootstrap, Estimate, estimate
from ncc.tasks.coarsening.samples import FACTORS, clamp_to_measured

_FIGURES = ("mean_speedup", "geomean_speedup", "share_of_oracle", "accuracy")


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseningMetrics:
    """What a set of chosen factors is worth.

    Args:
        mean_speedup: Arithmetic mean of (time without coarsening / time at the chosen factor).
        geomean_speedup: Geometric mean of the same.
        share_of_oracle: Geometric mean of (time at the best factor / time at the chosen factor).
        accuracy: Share of rows given exactly their best factor.
        share_unmeasured: Share of rows given a factor that was not measured, mean over the seeds.
    """

    mean_speedup: Estimate
    geomean_speedup: Estimate
    share_of_oracle: Estimate
    accuracy: Estimate
    share_unmeasured: float


def measure(
    runtime: Floats,
    chosen: Ints,
    groups: np.ndarray,
    bootstrap: Bootstrap | None = None,
) -> CoarseningMetrics:
    """Score chosen factors against measured runtimes.

    Args:
        runtime: Measured runtimes at `FACTORS`, (n, 6) float64, NaN where not measured.
        chosen: Indices of the chosen factors, one row per seed, (seeds, n) int64.
        groups: What the bootstrap draws: rows of equal value stay together, (n,).
        bootstrap: How intervals are drawn; None for the defaults.

    Returns:
        The scores.

    Raises:
        InputError: Shapes disagree, there is no row or no seed, an index is none of a factor, or a row was not measured
            without coarsening.
    """
    num = len(runtime)
    if runtime.shape != (num, len(FACTORS)) or chosen.ndim != 2 or chosen.shape[1] != num or len(groups) != num:
        raise InputError(f"found runtimes {runtime.shape}, choices {chosen.shape} and {len(groups)} groups")
    if not chosen.size or chosen.min() < 0 or chosen.max() >= len(FACTORS):
        raise InputError(f"expected one choice or more, all from 0 to {len(FACTORS) - 1}; found {chosen.shape} of them")
    if not np.isfinite(runtime[:, 0]).all():
        raise InputError("expected runtimes at factor 1 for all rows; found NaN (were answers hidden?)")
    used = clamp_to_measured(runtime, chosen)
    rows = np.arange(num)
    fastest = np.nanmin(runtime, axis=1)
    time = runtime[rows, used]
    speedup = runtime[:, 0] / time
    # equal runtimes are equally right
    terms = [np.ones_like(speedup), speedup, np.log(speedup), np.log(fastest / time), (time == fastest).astype(float)]
    found = estimate(np.stack(terms, axis=-1), groups, _figures, bootstrap)
    return CoarseningMetrics(**dict(zip(_FIGURES, found, strict=True)), share_unmeasured=float((used != chosen).mean()))


def _figures(sums: Floats) -> Floats:
    num, speedup, log_speedup, log_share, right = np.moveaxis(sums, -1, 0)
    return np.stack([speedup / num, np.exp(log_speedup / num), np.exp(log_share / num), right / num], axis=-1)
