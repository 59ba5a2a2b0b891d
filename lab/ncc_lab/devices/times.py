"""Evaluates predicted times: with kernels, families and suites held out, and from one source to another.

Reference: Cummins et al., CGO 2017 (data).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from ncc.arrays import Split
from ncc.kernels.measure.table import LaunchTimes, LaunchUnit
from ncc.learning.embedding.embedding import load_embedding
from ncc.tasks.devices.features import launch_columns
from ncc.tasks.devices.fit import CLGEN, SUITES
from ncc.tasks.devices.head import Platform
from ncc.tasks.devices.models import Launches, Model, targets_of
from ncc.tasks.devices.train import (
    clgen_launches,
    held_out_answers,
    launch_folds,
    measure_times,
    suite_launches,
    summary,
)
from ncc_lab.figures import selective_accuracy

PROTOCOLS = ("kernel", "application", "suite", "clgen-kernel", "clgen-to-suites", "suites-to-clgen")
_PERCENTS = (75, 50, 25)


@dataclass(frozen=True)
class TimesScores:
    """Figures of `measure_times` by protocol and method; ``surest`` is the accuracy among the most confident."""

    platform: str
    protocols: dict[str, dict[str, dict[str, Any]]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name, as ``--json`` prints them."""
        return asdict(self)

    def to_text(self) -> str:
        """Return a line for each protocol and method."""
        lines = []
        for protocol, methods in self.protocols.items():
            for method, figures in methods.items():
                shown = {name: value for name, value in figures.items() if isinstance(value, float)}
                shown |= {f"factor {name}": value for name, value in figures.get("factors", {}).items()}
                shown |= {f"surest {name}": value for name, value in figures.get("surest", {}).items()}
                texts = (f"{name.replace('_', ' ')} {value:.3f}" for name, value in shown.items())
                lines.append(f"{protocol}, {method}: {', '.join(texts)}")
        return "\n\n".join(lines)


def measure_models(
    protocols: Sequence[str],
    platform: Platform,
    models: Sequence[Model],
    seed: int,
    data: str | None,
    progress: Callable[[str], None] | None,
) -> TimesScores:
    """Measure models under protocols, with controls where parts of one table are held out."""
    embedding = load_embedding(None)
    suites = suite_launches(platform, embedding, data)
    clgen = clgen_launches(platform, embedding, data) if any("clgen" in one for one in protocols) else None
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name in protocols:
        found[name] = {}
        both = Launches.joined([suites, clgen]) if clgen and "-to-" in name else None
        launches = both or (clgen if clgen and name == "clgen-kernel" else suites)
        unit: LaunchUnit = {"application": "family", "suite": "suite"}.get(name, "kernel")  # type: ignore[assignment]
        for one in models:
            splits = [_between(launches, name)] if both else launch_folds(launches, unit, one, seed)
            source = CLGEN if name.startswith(CLGEN) else SUITES
            score = found[name][f"ncc times, {one}"] = _score(launches, splits, source, one, seed)
            if progress:
                progress(f"{platform}, {name}, {one}: {summary(score)}")
        if not both:
            found[name] |= score_controls(launches, unit, seed)
    return TimesScores(platform, found)


def score_controls(launches: Launches, unit: LaunchUnit, seed: int) -> dict[str, dict[str, float]]:
    """Score controls that see no code: the median time, and extra trees on sizes."""
    logs = launches.log_times
    sizes = launch_columns(launches, np.nan_to_num(launches.sizes, nan=1.0))[:, :3]
    predicted = {"median": np.zeros_like(logs), "sizes only": np.zeros_like(logs)}
    for train, test in launch_folds(launches, unit, "", seed):
        predicted["median"][test] = np.median(logs[train], axis=0)
        trees = ExtraTreesRegressor(100, min_samples_leaf=2, random_state=seed).fit(sizes[train], logs[train])
        predicted["sizes only"][test] = trees.predict(sizes[test])
    scores = {}
    for name, log_times in predicted.items():
        right = (log_times.argmin(axis=1) == logs.argmin(axis=1)).mean()
        factors = np.exp(np.median(np.abs(log_times - logs), axis=0)).tolist()
        named = {f"factor {name}": round(factor, 4) for name, factor in zip(launches.devices, factors, strict=True)}
        scores[name] = {"accuracy": round(float(right), 4)} | named
    return scores


def _between(table: LaunchTimes, protocol: str) -> Split:
    """One source of kernels to train on, and the other to ask about."""
    is_suite = table.suite != CLGEN
    train, test = (is_suite, ~is_suite) if protocol == "suites-to-clgen" else (~is_suite, is_suite)
    return np.flatnonzero(train), np.flatnonzero(test)


def _score(launches: Launches, splits: Iterable[Split], source: str, model: Model, seed: int) -> dict[str, Any]:
    """Return scores of answers about parts held out, and accuracies among the most confident answers."""
    answers = held_out_answers(launches, splits, source, model, seed)
    measured = targets_of(launches.log_times)[:, 1:].max(axis=1)
    rows = np.array(sorted(answers))
    ratio, confidence = np.array([(answers[row].log_ratio, answers[row].confidence) for row in rows.tolist()]).T
    surest = selective_accuracy((ratio > 0) == (measured[rows] > 0), confidence, _PERCENTS)
    named = {f"{percent}%": round(one, 4) for percent, one in zip(_PERCENTS, surest, strict=True)}
    return measure_times(launches, answers) | {"surest": named}
