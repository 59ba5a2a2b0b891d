"""Evaluates predicted times: with kernels, families and suites held out, and from one source to another.

Reference: Cummins et al., CGO 2017 (data).
"""

from collections.abc import Callable, Iterable
from typing import Any, Literal, cast

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from ncc.arrays import Split
from ncc.errors import InputError
from ncc.kernels.measure.table import LaunchTimes, LaunchUnit
from ncc.learning.embedding.embedding import load_embedding
from ncc.tasks.devices.features import KernelFeatures, launch_columns
from ncc.tasks.devices.fit import MODELS, Model
from ncc.tasks.devices.physics import targets_of
from ncc.tasks.devices.prediction import DevicePrediction
from ncc.tasks.devices.published import CLGEN, clgen_launches, combine, suite_launches
from ncc.tasks.devices.train import hold_out_folds, launch_folds, measure_times, summary
from ncc_lab.figures import selective_accuracy

PROTOCOLS = ("kernel", "application", "suite", "clgen-kernel", "clgen-to-suites", "suites-to-clgen")
_PERCENTS = (75, 50, 25)


def evaluate_times(
    protocol: str = "all",
    platform: Literal["amd", "nvidia"] = "amd",
    *,
    model: str = "all",
    seed: int = 204,
    data: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> dict[str, dict[str, dict[str, Any]]]:
    """Evaluates predicted times under every protocol, against controls.

    Args:
        protocol: "kernel", "application" and "suite" hold out parts of the suites, "clgen-kernel" a quarter of CLgen's
            kernels after the other; "clgen-to-suites" and "suites-to-clgen" ask about the other source. Or "all".
        platform: "amd" (Tahiti 7970) or "nvidia" (GTX 970).
        model: "gp", "trees", "lstm", or "all".
        seed: Of folds and of training.
        data: Folder of datasets; default NCC_DATA, then the cache.
        progress: Called with a line of text after each protocol.

    Returns:
        Protocol → method → its figures: those of `ncc.tasks.devices.train.measure_times`, and ``surest``, the accuracy
        among the most confident 75, 50 and 25 % of launches.

    Raises:
        InputError: There is no such protocol or model.
        DataError: The tables or the IR are missing or damaged.
    """
    if protocol not in ("all", *PROTOCOLS) or model not in ("all", *MODELS):
        raise InputError(
            f"no protocol {protocol!r} or no model {model!r}; expected {', '.join(PROTOCOLS)} and {', '.join(MODELS)}"
        )
    embedding = load_embedding(None)
    suites = suite_launches(platform, embedding, data)
    protocols = PROTOCOLS if protocol == "all" else (protocol,)
    clgen = clgen_launches(platform, embedding, data) if any("clgen" in one for one in protocols) else None
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name in protocols:
        found[name] = {}
        both = combine([suites, clgen]) if clgen and "-to-" in name else None
        table, inputs = both or (clgen if clgen and name == "clgen-kernel" else suites)
        unit: LaunchUnit = {"application": "family", "suite": "suite"}.get(name, "kernel")  # type: ignore[assignment]
        for one in MODELS if model == "all" else (cast(Model, model),):
            splits = [_between(table, name)] if both else launch_folds(table, unit, one, seed)
            score = found[name][f"ncc times, {one}"] = _score(table, inputs, splits, one, seed)
            if progress:
                progress(f"{platform}, {name}, {one}: {summary(score)}")
        if not both:
            found[name] |= score_controls(table, inputs, unit, seed)
    return found


def score_controls(
    table: LaunchTimes, inputs: KernelFeatures, unit: LaunchUnit, seed: int
) -> dict[str, dict[str, float]]:
    """Score controls that know no code: the median time, and extra trees on sizes."""
    logs = table.log_times
    sizes = launch_columns(inputs, np.nan_to_num(table.sizes, nan=1.0))[:, :3]
    predicted = {"median": np.zeros_like(logs), "sizes only": np.zeros_like(logs)}
    for train, test in launch_folds(table, unit, "", seed):
        predicted["median"][test] = np.median(logs[train], axis=0)
        trees = ExtraTreesRegressor(100, min_samples_leaf=2, random_state=seed).fit(sizes[train], logs[train])
        predicted["sizes only"][test] = trees.predict(sizes[test])
    scores = {}
    for name, log_times in predicted.items():
        right = (log_times.argmin(axis=1) == logs.argmin(axis=1)).mean()
        factors = np.exp(np.median(np.abs(log_times - logs), axis=0)).tolist()
        named = {f"factor {name}": round(factor, 4) for name, factor in zip(table.devices, factors, strict=True)}
        scores[name] = {"accuracy": round(float(right), 4)} | named
    return scores


def _between(table: LaunchTimes, protocol: str) -> Split:
    """One source of kernels to train on, and the other to ask about."""
    is_suite = table.suite != CLGEN
    train, test = (is_suite, ~is_suite) if protocol == "suites-to-clgen" else (~is_suite, is_suite)
    return np.flatnonzero(train), np.flatnonzero(test)


def _score(
    table: LaunchTimes, inputs: KernelFeatures, splits: Iterable[Split], model: Model, seed: int
) -> dict[str, Any]:
    """Return scores of answers about parts held out, and accuracies among the most confident answers."""
    answers: dict[int, DevicePrediction] = {}
    for split, _, predictions in hold_out_folds(table, inputs, splits, model, seed=seed, published=True):
        answers |= zip(split[1].tolist(), predictions, strict=True)
    measured = targets_of(table.log_times)[:, 1:].max(axis=1)
    rows = np.array(sorted(answers))
    ratio, confidence = np.array([(answers[row].log_ratio, answers[row].confidence) for row in rows.tolist()]).T
    surest = selective_accuracy((ratio > 0) == (measured[rows] > 0), confidence, _PERCENTS)
    named = {f"{percent}%": round(one, 4) for percent, one in zip(_PERCENTS, surest, strict=True)}
    return measure_times(table, answers) | {"surest": named}
