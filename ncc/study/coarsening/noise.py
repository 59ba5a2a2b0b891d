"""How much of a score chance would bring: the same method on features that belong to other kernels.

Seventeen kernels and a choice among hundreds of candidates can look like a result where there is none. Features are
dealt out anew among the kernels, so that they keep their values and correlations and lose their meaning; the method,
its choice inside the folds included, then runs through the same protocol.

Reference: Ojala and Garriga, Permutation Tests for Studying Classifier Performance, JMLR 11, 2010, section 3.1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.coarsening.fit import ChosenLine, LineGrid
from ncc.coarsening.samples import CoarseningSamples
from ncc.errors import InputError
from ncc.study.bootstrap import Bootstrap
from ncc.study.coarsening.task import ThreadCoarsening
from ncc.study.evaluation import evaluate_all

__all__ = ["ChanceLevel", "measure_chance"]

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ChanceLevel:
    """A score beside what the method gets on features without meaning.

    Args:
        mean_speedup: With the right features.
        geomean_speedup: With the right features.
        chance_mean_speedups: With features dealt out anew, (draws,) float64.
        chance_geomean_speedups: The same, (draws,) float64.
    """

    mean_speedup: float
    geomean_speedup: float
    chance_mean_speedups: Array
    chance_geomean_speedups: Array

    @property
    def p_mean_speedup(self) -> float:
        """Share of the draws that reach the mean speedup, the right features counting as one of them."""
        return _p_value(self.mean_speedup, self.chance_mean_speedups)

    @property
    def p_geomean_speedup(self) -> float:
        """Share of the draws that reach the geometric-mean speedup, the right features counting as one of them."""
        return _p_value(self.geomean_speedup, self.chance_geomean_speedups)


def measure_chance(
    samples: CoarseningSamples,
    features: Array,
    *,
    protocol: str = "kernel",
    num_draws: int = 200,
    seed: int = 204,
    jobs: int = 1,
    grid: LineGrid | None = None,
) -> ChanceLevel:
    """Run `ChosenLine` on the features of the right kernels, then on features dealt out anew among kernels.

    Args:
        samples: The n samples.
        features: One row of features per sample, the same for all rows of a kernel, (n, k) float64.
        protocol: One of `PROTOCOLS`.
        num_draws: How often features are dealt out.
        seed: Of the draws.
        jobs: Folds run at a time.
        grid: What is chosen from; None for the defaults.

    Raises:
        InputError: `num_draws` is below 1, or as for `evaluate`.
    """
    if num_draws < 1:
        raise InputError(f"num_draws: expected at least 1, found {num_draws}")
    rng = np.random.default_rng(seed)
    _, first, owner = np.unique(samples.kernel, return_index=True, return_inverse=True)
    dealt = [features] + [features[first][rng.permutation(len(first))][owner] for _ in range(num_draws)]
    methods = [ChosenLine(one, grid) for one in dealt]
    once = Bootstrap(num_resamples=1)  # no interval is asked for
    scores = evaluate_all(ThreadCoarsening(samples), methods, [protocol], (seed,), bootstrap=once, jobs=jobs)
    mean = np.array([score.metrics.mean_speedup.value for score in scores])
    geomean = np.array([score.metrics.geomean_speedup.value for score in scores])
    return ChanceLevel(
        mean_speedup=float(mean[0]),
        geomean_speedup=float(geomean[0]),
        chance_mean_speedups=mean[1:],
        chance_geomean_speedups=geomean[1:],
    )


def _p_value(reached: float, by_chance: Array) -> float:
    return float((1 + np.count_nonzero(by_chance >= reached - 1e-12)) / (1 + len(by_chance)))
