"""``ncc train devmap``, ``ncc calibrate``: a head from published, given or measured times, with scores in the card."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ncc.arrays import Split
from ncc.errors import DataError, InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.kernels.measure.table import LaunchTimes, LaunchUnit, read_times
from ncc.kernels.reading import read_kernels
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, load_embedding
from ncc.learning.heads.figures import calibration_error
from ncc.learning.heads.folds import balanced_folds
from ncc.tasks.devices.features import KernelFeatures, KernelWork
from ncc.tasks.devices.fit import CLGEN, fit_times, ratios_of
from ncc.tasks.devices.head import Platform, TimesHead
from ncc.tasks.devices.models import MODELS, Launches, Model, targets_of
from ncc.tasks.devices.prediction import DevicePrediction
from ncc.tasks.devices.published import clgen_launches, suite_launches

MIN_KERNELS = 8
_MANY_LAUNCHES = 4000
_BINS = 10


def fit_head(
    paths: Sequence[Path],
    platform: Platform,
    model: Model | None,
    embedding: AnyEmbedding | None,
    seed: int,
    data: str | None,
    progress: Callable[[str], None] | None,
) -> TimesHead:
    """Fit a head to tables of measured times, or to the published ones, scored on kernels and families held out."""
    start = time.perf_counter()
    if model not in (None, *MODELS):
        raise InputError(f"model is {model!r}; expected {', '.join(MODELS)}")
    embedding = load_embedding(embedding)
    if paths:
        parts, about = {"all": own_launches(paths, embedding)}, ", ".join(path.name for path in paths)
    else:
        parts = {"suites": suite_launches(platform, embedding, data), CLGEN: clgen_launches(platform, embedding, data)}
        about = "CGO'17 device mapping, 680 rows, and CLgen's kernels (Cummins et al. 2017)"
    models: dict[str, Model] = {name: model or ("trees" if name == CLGEN else "gp") for name in parts}
    scores: dict[str, Any] = {}
    for name, launches in parts.items():
        units: list[LaunchUnit] = ["kernel"]
        units += ["family"] if name != CLGEN and len(set(launches.family)) > 3 else []
        for unit in units:
            title = f"by {unit}" if paths else f"{name} by {'application' if unit == 'family' else unit}"
            splits = itertools.islice(launch_folds(launches, unit, models[name], seed), 1 if name == CLGEN else None)
            answers = held_out_answers(launches, splits, models[name], seed=seed, published=not paths)
            scores[title] = measure_times(launches, answers)
            if progress:
                progress(f"{title}: {summary(scores[title])}")
    everything = Launches.joined(list(parts.values()))
    head = fit_times(
        everything,
        model=models,
        published=not paths,
        platform=paths[0].stem if paths else platform,
        seed=seed,
        embedding_id=embedding.fingerprint,
    )
    first, *_ = parts
    folds = f"{num_folds(parts[first], models[first])} folds"
    folds += "" if paths else " of the suites, a quarter of CLgen's kernels"
    head.card.update(
        model=", ".join(dict.fromkeys(models.values())),
        data=about,
        num_launches=len(everything),
        num_kernels=len(set(everything.groups("kernel"))),
        devices=list(everything.devices),
        protocol=f"{folds}, one run, seed {seed}",
        scores=scores,
        seconds=round(time.perf_counter() - start, 1),
    )
    return head


def own_launches(paths: Sequence[Path], embedding: Embedding) -> Launches:
    """Read tables of the same devices, and the kernel of every launch; DataError if its file does not have it."""
    parts = [read_times(path) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if part.devices != parts[0].devices:
            devices, expected = ", ".join(part.devices), ", ".join(parts[0].devices)
            raise DataError(f"{path}: devices {devices}; expected {expected}, as in {paths[0]}")
    table = LaunchTimes.joined(parts)
    if (found := len(set(table.groups("kernel")))) < MIN_KERNELS:
        raise InputError(f"{found} kernels; expected at least {MIN_KERNELS} to learn from")
    known: dict[tuple[str, str], KernelFeatures] = {}
    for file in dict.fromkeys(table.file.tolist()):
        for kernel in read_kernels(file, embedding, None, CompileOptions(), None):
            known[file, kernel.name] = KernelWork(kernel.module, kernel.function).features(kernel.vectors)
    rows = list(zip(table.file.tolist(), table.kernel.tolist(), strict=True))
    for file, name in rows:
        if (file, name) not in known:
            kernels = ", ".join(kernel for other, kernel in known if other == file)
            raise DataError(f"{file}: no kernel {name!r}, but the table has times for it; found {kernels}")
    return Launches.of(table, KernelFeatures.joined([known[row] for row in rows]))


def held_out_answers(
    launches: Launches, splits: Iterable[Split], model: Model, *, seed: int, published: bool
) -> dict[int, DevicePrediction]:
    """Fit a head to each split's training launches, and ask it about the others: answers by row."""
    as_measured, answers = published and CLGEN not in launches.suite, dict[int, DevicePrediction]()
    for train, test in splits:
        head, asked = fit_times(launches.rows(train), model=model, published=published, seed=seed), launches.rows(test)
        answers |= zip(test.tolist(), head.predict(asked, asked.sizes, as_measured), strict=True)
    return answers


def num_folds(table: LaunchTimes, model: str) -> int:
    """Return 10, or 4 if a model takes long."""
    return 4 if len(table) > _MANY_LAUNCHES or model == "lstm" else 10


def launch_folds(table: LaunchTimes, unit: LaunchUnit, model: str, seed: int) -> Iterator[Split]:
    """Split launches by kernel or family into `num_folds`, or by suite, each held out by itself."""
    groups = table.groups(unit)
    num_groups = len(set(groups))
    return balanced_folds(groups, num_groups if unit == "suite" else min(num_folds(table, model), num_groups), seed)


def measure_times(table: LaunchTimes, predictions: Mapping[int, DevicePrediction]) -> dict[str, Any]:
    """Score predictions by row of the table; one device alone has no ratios."""
    rows = np.array(sorted(predictions))
    said = [predictions[row] for row in rows.tolist()]
    logs, measured = table.log_times[rows], ratios_of(targets_of(table.log_times))[rows].max(axis=1)
    ratio, confidence = np.array([(one.log_ratio, one.confidence) for one in said]).T
    low, high = np.log([one.interval for one in said]).T
    times, shortest, longest = np.log([list((one.times_ms or {}).values()) for one in said]).transpose(2, 0, 1)
    right = (ratio > 0) == (measured > 0)
    # speedups are over the device that is faster in most launches
    static = measured if np.mean(measured > 0) > 0.5 else np.zeros(len(measured))
    figures = {
        "accuracy": right.mean(),
        "geomean_speedup": np.exp((np.where(ratio > 0, measured, 0) - static).mean()),
        "coverage": ((low <= measured) & (measured <= high)).mean(),
        "calibration_error": calibration_error(confidence, right, _BINS, 0.5),
        "confidence": confidence.mean(),
    }
    figures = (figures if len(table.devices) > 1 else {}) | {"familiar": np.mean([one.familiar for one in said])}
    by_device = {
        "factors": np.exp(np.median(np.abs(times - logs), axis=0)),
        "time_coverage": ((shortest <= logs) & (logs <= longest)).mean(axis=0),
    }
    score: dict[str, Any] = {name: round(float(figure), 4) for name, figure in figures.items()}
    for name, values in by_device.items():
        score[name] = dict(zip(table.devices, values.round(4).tolist(), strict=True))
    return score | {"num_launches": len(rows)}


def summary(score: Mapping[str, Any]) -> str:
    """The figures of `measure_times` that matter most, in a line."""
    factors = ", ".join(f"{name} {factor:.2f}" for name, factor in score["factors"].items())
    if "accuracy" not in score:
        return f"factor of times {factors}, coverage {min(score['time_coverage'].values()):.1%}"
    rest = f"coverage {score['coverage']:.1%}, calibration error {score['calibration_error']:.3f}"
    return f"accuracy {score['accuracy']:.1%}, factor of times {factors}, {rest}"
