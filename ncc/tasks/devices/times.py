"""Evaluates predicted times: with kernels, families and suites held out, and from one source to another.

Reference: Cummins et al., CGO 2017 (data); Angelopoulos and Bates 2023 (coverage of intervals).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Literal

import numpy as np

from ncc.arrays import Floats, Ints, Split
from ncc.errors import InputError
from ncc.kernels.measure.devices_table import LaunchTimes, LaunchUnit
from ncc.learning.embedding.embedding import load_embedding
from ncc.learning.heads.calibration_error import accuracy_of_surest
from ncc.learning.heads.folds import balanced_folds
from ncc.tasks.devices.columns import launch_columns, launch_physics
from ncc.tasks.devices.constants import own_constants
from ncc.tasks.devices.devices_published import SOURCES, clgen_launches, combine, suite_launches
from ncc.tasks.devices.features import KernelInputs, RatioPrediction
from ncc.tasks.devices.fit import MODELS, LaunchSamples, fit_times, hold_out, owners, targets_of
from ncc_lab.devices.intervals import Claims, compare_intervals, group_trials, score_claims

PROTOCOLS = ("kernel", "application", "suite", "clgen-kernel", "clgen-to-suites", "suites-to-clgen")
_MOST = 4000


@dataclass(frozen=True, kw_only=True)
class TimesScore:
    """What predicted times are worth.

    Attributes:
        accuracy: Share of launches given to their faster device.
        geomean_speedup: Over the device that is faster in most launches, geometric mean.
        factors: Device → median factor between predicted and measured time.
        coverage: Share of measured log ratios in the 80 % interval.
        calibration_error: Mean distance between confidence and accuracy over ten bins of confidence.
        confidence: Mean of it.
        familiar: Share of launches that the head calls familiar.
        risk: Error rate among the most confident 10, 20, … 100 % of launches.
        num_launches: Number of launches.
    """

    accuracy: float
    geomean_speedup: float
    factors: Mapping[str, float]
    coverage: float
    calibration_error: float
    confidence: float
    familiar: float
    risk: tuple[float, ...]
    num_launches: int

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name."""
        return asdict(self) | {"factors": dict(self.factors), "risk": list(self.risk)}

    def __str__(self) -> str:
        factors = ", ".join(f"{name} {factor:.2f}" for name, factor in self.factors.items())
        return (
            f"accuracy {self.accuracy:.1%}, factor of times {factors}, coverage {self.coverage:.1%}, "
            f"calibration error {self.calibration_error:.3f}"
        )


def score_times(
    table: LaunchTimes,
    inputs: KernelInputs,
    unit: LaunchUnit,
    model: str,
    *,
    seed: int = 204,
    folds: int | None = None,
    most: int | None = None,
    published: bool = False,
) -> TimesScore:
    """Scores of a model with kernels, families or suites held out.

    Args:
        table: The n launches.
        inputs: Of their kernels, n rows.
        unit: What is held out together.
        model: "gp", "trees" or "lstm".
        seed: Of folds and of training.
        folds: Number of them; None for those of `num_folds`; suites are held out one after the other.
        most: Folds that are held out at most; None for all.
        published: The launches are those of `SOURCES`; how the suites were measured is then known of rows held out.
    """
    splits = islice(_splits(table, unit, seed, folds or num_folds(table, model)), most)
    return measure_times(table, _held_out(table, inputs, splits, model, seed, published).answers)


def num_folds(table: LaunchTimes, model: str) -> int:
    """Parts that launches are held out in: 10, or 4 where a model takes long."""
    return 4 if len(table) > _MOST or model == "lstm" else 10


def _splits(table: LaunchTimes, unit: LaunchUnit, seed: int, folds: int) -> Iterator[Split]:
    groups = table.groups(unit)
    number = len(set(groups)) if unit == "suite" else min(folds, len(set(groups)))
    return balanced_folds(groups, number, seed)


@dataclass(frozen=True, eq=False)
class _Answered:
    """What heads answered of launches that they had not seen, and what each kind of interval claimed of them."""

    answers: dict[int, RatioPrediction] = field(default_factory=dict)
    claims: dict[str, list[tuple[Ints, Claims]]] = field(default_factory=dict)

    def scores(self, table: LaunchTimes) -> dict[str, dict[str, Any]]:
        """Way of making intervals → its figures, see `IntervalScore`."""
        measured = targets_of(table)[:, 1:].max(axis=1)
        found = {}
        for name, parts in self.claims.items():
            rows = np.concatenate([one for one, _ in parts])
            joined = Claims(*(np.concatenate(arrays) for arrays in zip(*(some for _, some in parts), strict=True)))
            found[name] = asdict(score_claims(joined, measured[rows]))
        return found


def _held_out(
    table: LaunchTimes,
    inputs: KernelInputs,
    splits: Iterable[Split],
    model: str,
    seed: int,
    published: bool,
    compared: bool = False,
) -> _Answered:
    """What heads answer of parts held out; compared, also what other intervals would be, which takes longer."""
    answered = _Answered()
    known: dict[str, Any] = {"sources": SOURCES, "whole": "clgen"} if published else {}
    is_suite = published and {SOURCES[suite] for suite in table.suite} == {"suites"}
    source = "suites" if is_suite else None
    for train, test in splits:
        constants = own_constants(table.rows(train), inputs.rows(train), known.get("sources"))
        trained, asked = (LaunchSamples.of(table.rows(one), inputs.rows(one), constants) for one in (train, test))
        trials = hold_out(trained, model, seed)  # type: ignore[arg-type]
        of_all = dict.fromkeys(owners(trained.table, known.get("sources")), trials)
        head = fit_times(trained.table, inputs.rows(train), model=model, seed=seed, trials=of_all, **known)  # type: ignore[arg-type]
        said = head.predict(inputs.rows(test), asked.table.sizes, source)
        answered.answers.update(zip(test.tolist(), said, strict=True))
        if compared:
            physics = head.physics.targets(launch_physics(inputs.rows(train), trained.table.sizes))
            groups = group_trials(trained, trials, model, seed)  # type: ignore[arg-type]
            named = compare_intervals(head, trained, (trials, groups), asked, said, None if source else physics)
            for name, claims in named.items():
                answered.claims.setdefault(name, []).append((test, claims))
    return answered


def measure_times(table: LaunchTimes, answers: Mapping[int, RatioPrediction]) -> TimesScore:
    """Scores of answers by the number of the launch."""
    rows = np.array(sorted(answers))
    said = [answers[row] for row in rows.tolist()]
    logs = table.log_times[rows]
    # of more than two devices the first is compared with the fastest of the others
    measured = logs[:, 0] - logs[:, 1:].min(axis=1)
    ratio, odds = np.array([(one.log_ratio, one.probability_gpu) for one in said]).T
    low, high = np.array([one.interval for one in said]).T
    times = np.log([[time[0] for time in (one.times_ms or {}).values()] for one in said])
    right, claims = (ratio > 0) == (measured > 0), Claims(ratio, low, high, np.maximum(odds, 1 - odds))
    intervals = score_claims(claims, measured)
    static = measured if np.mean(measured > 0) > 0.5 else np.zeros(len(measured))
    factors = np.exp(np.median(np.abs(times - logs), axis=0)).tolist()
    return TimesScore(
        accuracy=round(float(right.mean()), 4),
        geomean_speedup=round(float(np.exp((np.where(ratio > 0, measured, 0) - static).mean())), 4),
        factors={name: round(factor, 4) for name, factor in zip(table.devices, factors, strict=True)},
        coverage=intervals.coverage,
        calibration_error=intervals.calibration_error,
        confidence=intervals.confidence,
        familiar=round(float(np.mean([one.familiar for one in said])), 4),
        risk=tuple(round(1 - one, 4) for one in accuracy_of_surest(right, claims.sure)),
        num_launches=len(rows),
    )


def score_controls(
    table: LaunchTimes, inputs: KernelInputs, unit: LaunchUnit, *, seed: int = 204
) -> dict[str, dict[str, float]]:
    """Accuracy and factors of times of what knows no code: the median, and extra trees on sizes."""
    from sklearn.ensemble import ExtraTreesRegressor

    logs = table.log_times
    sizes = launch_columns(inputs, np.nan_to_num(table.sizes, nan=1.0))[:, :3]
    said = {"median": np.zeros_like(logs), "sizes only": np.zeros_like(logs)}
    for train, test in _splits(table, unit, seed, num_folds(table, "")):
        said["median"][test] = np.median(logs[train], axis=0)
        trees = ExtraTreesRegressor(100, min_samples_leaf=2, random_state=seed).fit(sizes[train], logs[train])
        said["sizes only"][test] = trees.predict(sizes[test])
    return {name: _without_code(table, logs, one) for name, one in said.items()}


def _without_code(table: LaunchTimes, logs: Floats, said: Floats) -> dict[str, float]:
    factors = np.exp(np.median(np.abs(said - logs), axis=0)).tolist()
    right = (said.argmin(axis=1) == logs.argmin(axis=1)).mean()
    named = {f"factor {name}": round(one, 4) for name, one in zip(table.devices, factors, strict=True)}
    return {"accuracy": round(float(right), 4)} | named


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
        Protocol → method → its figures, see `TimesScore`, and what other intervals around its answers are worth, see
        `ncc_lab.devices.intervals`.

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
        both = combine(suites, clgen) if clgen and "-to-" in name else None
        table, inputs = both or (clgen if clgen and name == "clgen-kernel" else suites)
        unit: LaunchUnit = {"application": "family", "suite": "suite"}.get(name, "kernel")  # type: ignore[assignment]
        for one in MODELS if model == "all" else (model,):
            splits = [_between(table, name)] if both else _splits(table, unit, seed, num_folds(table, one))
            answered = _held_out(table, inputs, splits, one, seed, published=True, compared=True)
            score = measure_times(table, answered.answers)
            found[name][f"ncc times, {one}"] = score.to_dict() | {"intervals": answered.scores(table)}
            if progress:
                progress(f"{platform}, {name}, {one}: {score}")
        if not both:
            found[name] |= score_controls(table, inputs, unit, seed=seed)
    return found


def _between(table: LaunchTimes, protocol: str) -> Split:
    """One source of kernels to train on, and the other to ask about."""
    is_suite = np.array([SOURCES[suite] == "suites" for suite in table.suite])
    train, test = (is_suite, ~is_suite) if protocol == "suites-to-clgen" else (~is_suite, is_suite)
    return np.flatnonzero(train), np.flatnonzero(test)
