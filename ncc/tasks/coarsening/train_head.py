"""``ncc train coarsening``: a coarsening head, measured on kernels held out, then fitted to all rows."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.learning.embedding.embedding import AnyEmbedding, load_embedding
from ncc.system.files.writing import check_folder
from ncc.tasks.coarsening.coarsening_features import sample_features
from ncc.tasks.coarsening.features import FEATURE_NAMES
from ncc.tasks.coarsening.files import AnyCoarseningHead, save_coarsening_head
from ncc.tasks.coarsening.head import INTERVAL, CoarseningHead
from ncc.tasks.coarsening.lstm_head import LSTMCoarseningHead
from ncc.tasks.coarsening.samples import CoarseningSamples, clamp_to_measured, load_kernel_ir, load_samples
from ncc.tasks.coarsening.train import ChosenLine, LineGrid
from ncc_lab.coarsening.controls import BestConstant, constant_factor
from ncc_lab.coarsening.task import CoarseningMethod, CoarseningScore, ThreadCoarsening
from ncc_lab.evaluation import SEED, evaluate, evaluate_all

if TYPE_CHECKING:
    from ncc.tasks.coarsening.lstm_fit import LSTMMethod


def train_coarsening(
    output: str | Path | None = None,
    *,
    model: Literal["line", "lstm"] = "line",
    embedding: AnyEmbedding | None = None,
    seed: int = 204,
    data: str | None = None,
    about: dict[str, Any] | None = None,
) -> AnyCoarseningHead:
    """Fits a thread-coarsening head to the PACT'14 table, measured on kernels held out.

    Args:
        output: Folder that gets the head.
        model: "line": a line in one feature of the kernel, as in the head that ships, where nothing is random; "lstm":
            an ensemble of LSTMs on its statements in order.
        embedding: Vectors that the LSTMs read; default those that ship with ncc.
        seed: Of all that is drawn in their training.
        data: Folder of datasets; default NCC_DATA, then the cache.
        about: What else the card is to say, such as the command.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: There is no such model.
        DataError: The table or the IR is missing or damaged.
        OutputError: The folder can't be written.

    Reference: Magni, Dubach, O'Boyle 2014.
    """
    folder = None if output is None else Path(output)
    check_folder(folder)
    if model not in ("line", "lstm"):
        raise InputError(f"model is {model!r}; expected line or lstm")
    embedding = load_embedding(embedding)
    samples, ir = load_samples(data), load_kernel_ir(data)
    head: AnyCoarseningHead
    if model == "lstm":
        from ncc.tasks.coarsening.lstm_fit import LSTMMethod, load_words  # with torch

        head = fit_lstm_head(samples, LSTMMethod(embedding, load_words(samples, ir, embedding)), seed)
    else:
        head = fit_coarsening_head(samples, sample_features(samples, ir))
    head.about.update(about or {})
    if folder:
        save_coarsening_head(head, folder)
    return head


def fit_coarsening_head(samples: CoarseningSamples, features: Floats, grid: LineGrid | None = None) -> CoarseningHead:
    """Fit the head of lines to some samples.

    Scores in the card, and the interval, are of kernels held out one after the other with all their devices; the head
    itself is then fitted to all rows.

    Args:
        samples: The n samples.
        features: From `sample_features`, (n, 16) float64.
        grid: What is chosen from; None for the defaults.

    Raises:
        InputError: There are fewer than four kernels, or features of another shape.
    """
    method = ChosenLine(features, grid)
    about, spread = _measure_and_fit(samples, method, SEED)
    assert method.candidate is not None
    constant = np.isinf(method.candidate.penalty)
    chosen = asdict(method.candidate) | {"feature": None if constant else FEATURE_NAMES[method.candidate.feature]}
    if constant:
        chosen |= {"penalty": None, "why": "no feature gained more than the best constant on kernels held out"}
    return method.to_head(spread, about | {"chosen": chosen})


def fit_lstm_head(samples: CoarseningSamples, method: "LSTMMethod", seed: int) -> LSTMCoarseningHead:
    """Fit the head of LSTMs to some samples, and measure it likewise."""
    about, spread = _measure_and_fit(samples, method, seed)
    return method.to_head(spread, about | {"seed": seed, "options": asdict(method.training)})


def _measure_and_fit(
    samples: CoarseningSamples, method: "ChosenLine | LSTMMethod", seed: int
) -> tuple[dict[str, Any], Floats]:
    """Card and spread of a method that is then fitted to all rows."""
    start = time.perf_counter()
    score = evaluate(ThreadCoarsening(samples), method, "kernel", (seed,))
    method.fit(samples, np.arange(len(samples)), np.random.default_rng(seed))
    metrics, controls = score.metrics, _controls(samples)
    about: dict[str, Any] = {
        "data": "PACT 2014 thread coarsening (Magni et al.), 17 kernels on 4 devices; LLVM 5 IR of the kernels",
        "protocol": "one kernel held out after the other, with all its devices",
        "mean_speedup": round(metrics.mean_speedup.value, 4),
        "mean_speedup_interval": [round(metrics.mean_speedup.low, 4), round(metrics.mean_speedup.high, 4)],
        "geomean_speedup": round(metrics.geomean_speedup.value, 4),
        "geomean_speedup_interval": [round(metrics.geomean_speedup.low, 4), round(metrics.geomean_speedup.high, 4)],
        "share_of_oracle": round(metrics.share_of_oracle.value, 4),
        "controls": controls,
        "num_samples": score.num_samples,
        "seconds": round(time.perf_counter() - start, 1),
    }
    best = max(list(controls)[:-1], key=lambda name: controls[name]["geomean_speedup"])
    if about["geomean_speedup"] < controls[best]["geomean_speedup"]:
        about["warning"] = f"gains less than the control {best!r} on kernels held out: don't rely on it"
    return about, _spread(samples, score)


def _controls(samples: CoarseningSamples) -> dict[str, dict[str, float]]:
    """What is reached without code, by the same protocol, and by a perfect choice."""
    task = ThreadCoarsening(samples)
    controls: list[CoarseningMethod] = [
        constant_factor(1),
        BestConstant(per_device=False),
        BestConstant(per_device=True),
    ]
    scores = evaluate_all(task, controls, ["kernel"], (SEED,))
    found = {method.name: score.metrics for method, score in zip(controls, scores, strict=True)}
    found["perfect choice"] = scores[0].oracle
    return {
        name: {
            "mean_speedup": round(metrics.mean_speedup.value, 4),
            "geomean_speedup": round(metrics.geomean_speedup.value, 4),
        }
        for name, metrics in found.items()
    }


def _spread(samples: CoarseningSamples, score: CoarseningScore) -> Floats:
    """Measured over expected speedup where the held-out answer was to coarsen: the ends of the interval."""
    rows = np.arange(len(samples))
    chosen, expected = score.predicted[0].argmax(axis=1), score.predicted[0].max(axis=1)
    measured = samples.speedup[rows, clamp_to_measured(samples.runtime, chosen)]
    ratio = (measured / expected)[chosen > 0]
    if not len(ratio):
        return np.ones(2)
    tail = (1 - INTERVAL) / 2
    return np.quantile(ratio, (tail, 1 - tail))
