"""``ncc train coarsening``: the coarsening head, measured on kernels held out, then fitted to all rows."""

import time
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.coarsening.features import sample_features
from ncc.coarsening.fit import ChosenLine, LineGrid
from ncc.coarsening.head import INTERVAL, CoarseningHead
from ncc.coarsening.samples import (
    CoarseningSamples,
    Folder,
    clamp_to_measured,
    load_kernel_ir,
    load_samples,
)
from ncc.kernels.coarsening import FEATURE_NAMES
from ncc.study.coarsening.task import CoarseningScore, ThreadCoarsening
from ncc.study.evaluation import evaluate

__all__ = ["fit_coarsening_head", "train_coarsening_head"]

Array = NDArray[np.float64]


def train_coarsening_head(folder: Folder = None, grid: LineGrid | None = None) -> CoarseningHead:
    """Train the head on the published measurements; nothing in it is random.

    Args:
        folder: The data folder; None stands for NCC_DATA, then the cache.
        grid: What is chosen from; None for the defaults.

    Raises:
        DataError: The tables or the IR are missing or damaged.
    """
    samples = load_samples(folder)
    return fit_coarsening_head(samples, sample_features(samples, load_kernel_ir(folder)), grid)


def fit_coarsening_head(samples: CoarseningSamples, features: Array, grid: LineGrid | None = None) -> CoarseningHead:
    """Fit the head to some samples.

    Scores in the card, and the interval, are of kernels held out one after the other with all their devices; the head
    itself is then fitted to all rows.

    Args:
        samples: The n samples.
        features: From `sample_features`, (n, 16) float64.
        grid: What is chosen from; None for the defaults.

    Raises:
        InputError: There are fewer than four kernels, or features of another shape.
    """
    start = time.perf_counter()
    method = ChosenLine(features, grid)
    score = evaluate(ThreadCoarsening(samples), method, "kernel")
    method.fit(samples, np.arange(len(samples)), np.random.default_rng(0))
    assert method.candidate is not None
    metrics = score.metrics
    about: dict[str, Any] = {
        "data": "PACT 2014 thread coarsening (Magni et al.), 17 kernels on 4 devices; LLVM 5 IR of the kernels",
        "protocol": "one kernel held out after the other, with all its devices",
        "mean_speedup": round(metrics.mean_speedup.value, 4),
        "mean_speedup_interval": [round(metrics.mean_speedup.low, 4), round(metrics.mean_speedup.high, 4)],
        "geomean_speedup": round(metrics.geomean_speedup.value, 4),
        "geomean_speedup_interval": [round(metrics.geomean_speedup.low, 4), round(metrics.geomean_speedup.high, 4)],
        "share_of_oracle": round(metrics.share_of_oracle.value, 4),
        "num_samples": score.num_samples,
        "chosen": asdict(method.candidate) | {"feature": FEATURE_NAMES[method.candidate.feature]},
        "seconds": round(time.perf_counter() - start, 1),
    }
    return method.to_head(_spread(samples, score), about)


def _spread(samples: CoarseningSamples, score: CoarseningScore) -> Array:
    """Measured over expected speedup where the held-out answer was to coarsen: the ends of the interval."""
    rows = np.arange(len(samples))
    chosen, expected = score.predicted[0].argmax(axis=1), score.predicted[0].max(axis=1)
    measured = samples.speedup[rows, clamp_to_measured(samples.runtime, chosen)]
    ratio = (measured / expected)[chosen > 0]
    if not len(ratio):
        return np.ones(2)
    tail = (1 - INTERVAL) / 2
    return np.quantile(ratio, (tail, 1 - tail))
