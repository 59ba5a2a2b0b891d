"""``ncc train devmap``: a device head, measured on kernels and on applications held out, then fitted to all rows."""

import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ncc.devices.files import DeviceHead
from ncc.devices.fit import MapperMethod, load_inputs
from ncc.devices.lstm import LSTMMethod, load_words
from ncc.devices.samples import Platform, load_samples
from ncc.embedding import Embedding
from ncc.study.devices.task import DeviceMapping
from ncc.study.evaluation import evaluate

__all__ = ["train_device_head"]

_MEASURED = ("kernel", "application")


def train_device_head(
    platform: Platform,
    embedding: Embedding,
    *,
    model: Literal["gp", "lstm"] = "gp",
    folder: str | None = None,
    seed: int = 204,
    progress: Callable[[str], None] | None = None,
) -> DeviceHead:
    """Fits the head of a platform.

    Args:
        platform: "amd" or "nvidia".
        embedding: What the head is to work on.
        model: "gp" for Gaussian processes, "lstm" for an ensemble of LSTMs.
        folder: Data folder; None stands for NCC_DATA, then the cache.
        seed: Of folds.
        progress: Called with a line of text now and then.

    Returns:
        The head, with the scores of its kind under the protocols by kernel and by application in its card. Users'
        kernels are of applications that were not in training, so the second is what they may expect.

    Raises:
        DataError: The tables or the IR are missing or damaged.
    """
    start = time.perf_counter()
    samples = load_samples(platform, folder)
    method: MapperMethod | LSTMMethod
    if model == "lstm":
        method = LSTMMethod(embedding, load_words(samples, embedding, folder))
    else:
        method = MapperMethod(load_inputs(samples, embedding, folder))
    scores: dict[str, Any] = {}
    for protocol in _MEASURED:
        metrics = evaluate(DeviceMapping(samples), method, protocol, (seed,)).metrics
        scores[f"by {protocol}"] = {
            "accuracy": round(metrics.accuracy.value, 4),
            "geomean_speedup_over_best_static": round(metrics.geomean_speedup.value, 4),
            "coverage_of_80_percent_interval": round(metrics.coverage.value, 4) if metrics.coverage else None,
        }
        if progress:
            progress(f"{platform}, by {protocol}: {metrics.accuracy.value:.1%}")
    rows = np.arange(len(samples))
    method.fit(samples, rows, np.random.default_rng(seed))
    about = {
        "platform": platform,
        "model": model,
        "data": "CGO'17 device mapping (Cummins et al. 2017), 680 rows; kernels as LLVM 5 IR",
        "protocol": f"10 folds, one run, seed {seed}",
        "scores": scores,
        "seconds": round(time.perf_counter() - start, 1),
    }
    return method.to_head(samples, embedding, about)
