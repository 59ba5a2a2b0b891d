"""``ncc train devmap``: a device head, measured on kernels and on applications held out, then fitted to all rows."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ncc.devices.files import DeviceHead, save_head
from ncc.devices.fit import MapperMethod, load_inputs
from ncc.devices.samples import Platform, load_samples
from ncc.embedding import AnyEmbedding, load_embedding
from ncc.runtime.writable import check_folder
from ncc.study.devices.task import DeviceMapping
from ncc.study.evaluation import evaluate

__all__ = ["train_devmap"]

_MEASURED = ("kernel", "application")


def train_devmap(
    output: str | Path | None = None,
    *,
    platform: Platform = "nvidia",
    model: Literal["gp", "lstm"] = "gp",
    embedding: AnyEmbedding | None = None,
    seed: int = 204,
    data: str | None = None,
    about: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> DeviceHead:
    """Fits a device head to the CGO'17 tables, measured on kernels and on applications held out.

    Args:
        output: Folder that gets the head.
        platform: "amd" (Tahiti 7970) or "nvidia" (GTX 970).
        model: "gp": Gaussian processes on what the kernel does, as in the head that ships; "lstm": an ensemble of LSTMs
            on its statements in order, which takes an hour.
        embedding: What the head is to work on; default the one that ships with ncc.
        seed: Of the folds, and of all that is drawn in training.
        data: Folder of datasets; default NCC_DATA, then the cache.
        about: What else the card is to say, such as the command.
        progress: Called with a line of text now and then.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: There is no such platform.
        DataError: The tables or the IR are missing or damaged.
        OutputError: The folder can't be written.

    Reference: Cummins et al. 2017 (data); Ben-Nun et al. 2018, section 6.2 (task).
    """
    from ncc.devices.lstm import LSTMMethod, load_words  # with torch

    folder = None if output is None else Path(output)
    check_folder(folder)
    embedding = load_embedding(embedding)
    start = time.perf_counter()
    samples = load_samples(platform, data)
    method: MapperMethod | LSTMMethod
    if model == "lstm":
        method = LSTMMethod(embedding, load_words(samples, embedding, data))
    else:
        method = MapperMethod(load_inputs(samples, embedding, data))
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
    card = {
        "platform": platform,
        "model": model,
        "data": "CGO'17 device mapping (Cummins et al. 2017), 680 rows; kernels as LLVM 5 IR",
        "protocol": f"10 folds, one run, seed {seed}",
        "scores": scores,
        "seconds": round(time.perf_counter() - start, 1),
    }
    head = method.to_head(samples, embedding, card | (about or {}))
    if folder:
        save_head(head, folder)
    return head
