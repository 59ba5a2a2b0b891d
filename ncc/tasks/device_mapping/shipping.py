"""Trains the device head that ships: measured and calibrated on kernels held out, then fitted on all."""

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.embedding import Embedding
from ncc.heads import RatioHead
from ncc.tasks.device_mapping.head import LSTMMethod, RatioTraining, load_words
from ncc.tasks.device_mapping.metrics import measure
from ncc.tasks.device_mapping.protocols import splits
from ncc.tasks.device_mapping.samples import Platform, load_samples

__all__ = ["train_device_head"]

_COVERAGE = 0.8


def train_device_head(
    platform: Platform,
    embedding: Embedding,
    training: RatioTraining | None = None,
    *,
    folder: str | None = None,
    seed: int = 204,
    progress: Callable[[str], None] | None = None,
) -> RatioHead:
    """Trains the head of a platform.

    The ten folds grouped by kernel give out-of-fold predictions; how far these are off sets the factor on the
    interval, chosen so that it would have held 80 % of them. The scores in the card are of those folds; the head
    itself is then trained on all rows.

    Args:
        platform: "amd" or "nvidia".
        embedding: what the head is to work on.
        training: members, sizes and the loop.
        folder: data folder; None stands for NCC_DATA, then the cache.
        seed: of folds and members.
        progress: called with a line of text now and then.

    Raises:
        DataError: the tables or the IR are missing or damaged.
    """
    start = time.perf_counter()
    training = training or RatioTraining()
    samples = load_samples(platform, folder)
    method = LSTMMethod(embedding, load_words(samples, embedding, folder), training)
    held_out = np.full((len(samples), 3), np.nan)
    for fold, (train_rows, test_rows) in enumerate(splits(samples, "kernel", seed)):
        method.fit(samples.without_answers(test_rows), train_rows, np.random.default_rng((seed, fold)))
        held_out[test_rows] = method.predict(samples, test_rows)[:, :3]
        if progress:
            progress(f"{platform}: fold {fold + 1} of 10, {time.perf_counter() - start:.0f} s")
    spread = interval_factor(samples.log_ratio, held_out)
    scores = measure(samples.log_ratio, held_out[None, :, 0] > 0, samples.groups("kernel"))
    method.fit(samples, np.arange(len(samples)), np.random.default_rng((seed, 10)))
    assert method.head is not None
    about: dict[str, Any] = {
        "platform": platform,
        "data": "CGO'17 device mapping (Cummins et al. 2017), 680 rows; kernels as LLVM 5 IR and compiled source",
        "protocol": "10 folds grouped by kernel, one run",
        "accuracy": round(scores.accuracy.value, 4),
        "geomean_speedup_over_best_static": round(scores.geomean_speedup.value, 4),
        "interval_factor": round(spread, 4),
        "training": asdict(training),
        "seconds": round(time.perf_counter() - start, 1),
    }
    return replace(method.head, spread=spread, about=about)


def interval_factor(log_ratio: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """The factor on the half-widths of intervals at which 80 % of them hold the measured value.

    Args:
        log_ratio: (n,) measured.
        predicted: (n, 3) median, low end and high end.
    """
    middle, low, high = predicted.T
    error = log_ratio - middle
    half = np.where(error >= 0, high - middle, middle - low)
    return float(np.quantile(np.abs(error) / np.maximum(half, 1e-9), _COVERAGE))
