"""Fits `TimesHead`: an expert for each source, and its errors on unseen kernels and sources."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ncc.arrays import Floats, Ints, Split
from ncc.errors import InputError
from ncc.kernels.measure.devices_table import LaunchTimes
from ncc.learning.heads.folds import balanced_folds
from ncc.learning.heads.trees import Boosted, trees_of
from ncc.tasks.devices.columns import (
    CODE,
    NUM_COLUMNS,
    NUM_PUBLISHED,
    code_distances,
    complete_sizes,
    launch_columns,
    launch_physics,
)
from ncc.tasks.devices.constants import fit_constants, knows_launches
from ncc.tasks.devices.devices_head import LEVELS, Errors, Expert, TimesHead, faded, sureness, times_of
from ncc.tasks.devices.features import INTERVAL, KernelInputs
from ncc.tasks.devices.head import COVARIANCES, LSTMTimes, Smooth, TimesModel, bent, predict_targets, smooth_covariance
from ncc.tasks.devices.physics import LAUNCH_TERMS, PUBLISHED_TERMS, Physics

Model = Literal["gp", "trees", "lstm"]
MODELS: tuple[Model, ...] = ("gp", "trees", "lstm")

_FOLDS = 4
_POINTS = 1000
NOISE = 0.05
_ITERATIONS = 100
_LARGEST = 4.0
_MANY = 5000
_BINS = 20
_WORSE = 1.25
_LEAST_SLOPE = 0.05
_SAME_CODE = 0.05
_FADE = 10.0
"""By distance: what is learnt beyond constants says how long kernels like those of training take, hardly others."""
_SHORT_REACH = (0.2, 0.5)
_PRIOR_SLOPE = 0.5
_SHARPNESS, _PRIOR_SHARPNESS = 0.5, 0.3
"""Of constants that were measured on other suites, and on none."""
_PRIOR = np.log(10.0)
"""Nothing known of a kernel, one device is ten times as fast as the other, or less, in 80 % of cases."""


def fit_times(
    table: LaunchTimes,
    inputs: KernelInputs,
    *,
    model: Model | Mapping[str, Model] = "gp",
    sources: Mapping[str, str] | None = None,
    whole: str | None = None,
    platform: str = "own",
    seed: int = 204,
    about: dict[str, Any] | None = None,
    embedding_id: str | None = None,
    trials: Mapping[str, "Trials"] | None = None,
) -> TimesHead:
    """Fits a head to launches.

    Args:
        table: The n launches.
        inputs: Of their kernels, n rows.
        model: What learns, for all sources or by source.
        sources: Suite → source; suites of one source share an expert. Default all are of one.
        whole: Source whose times count moving all data, as a stranger expects: the machine's constants follow from it,
            and experts of others answer only for kernels that are nearly theirs. Default all sources.
        platform: Name for the answers.
        seed: Of folds and of training.
        about: The card.
        embedding_id: Fingerprint of the embedding that the statements' vectors come from.
        trials: Source → what `hold_out` gave for its rows, where that is known already.

    Raises:
        InputError: There are fewer than four kernels.
    """
    kernels = table.groups("kernel")
    if len(set(kernels)) < _FOLDS:
        raise InputError(f"{len(set(kernels))} kernels; expected at least {_FOLDS} to learn from")
    owner = owners(table, sources)
    names = list(dict.fromkeys(owner.tolist()))
    terms = launch_physics(inputs, table.sizes)
    trusted = np.flatnonzero((owner == whole) if whole else np.ones(len(table), bool))
    launched = knows_launches(table, sources)
    constants = fit_constants(table.rows(trusted), terms[trusted], LAUNCH_TERMS if launched else PUBLISHED_TERMS)
    others = np.flatnonzero(owner != whole) if whole and len(names) > 1 else trusted
    physics, astray = _physics_errors(constants, table.rows(others), terms[others])
    said = physics.targets(terms)
    experts, own = [], constants if launched else None
    for name in names:
        rows = np.flatnonzero(owner == name)
        samples = LaunchSamples.of(table.rows(rows), inputs.rows(rows), own)
        chosen = model if isinstance(model, str) else model[name]
        known = (trials or {}).get(name) or hold_out(samples, chosen, seed)
        expert = _fit_expert(samples, said[rows], name, chosen, seed, known)
        experts.append(replace(expert, reach=_SHORT_REACH) if whole not in (None, name) else expert)
    group = float(np.nanmedian(complete_sizes(inputs, table.sizes)[:, 1]))
    group = group if group >= 1 else 64.0
    reads = any(isinstance(expert.model, LSTMTimes) for expert in experts)
    return TimesHead(
        table.devices, tuple(experts), physics, astray, group, platform, about or {}, embedding_id if reads else None
    )


def owners(table: LaunchTimes, sources: Mapping[str, str] | None) -> np.ndarray:
    """Source of each row, (n,) str."""
    return np.array([(sources or {}).get(suite, "all") for suite in table.suite])


@dataclass(frozen=True, eq=False)
class LaunchSamples:
    """Launches as models learn them; row i of every array is launch i.

    Attributes:
        table: The n launches.
        columns: (n, NUM_COLUMNS) float64.
        targets: (n, d) float64, see `targets_of`.
        base: (n, d) float64 the same by the devices' constants, where models learn what these leave; else 0.
        sequences: (n,) of vectors of statements.
        launched: Whether models learn that, and processes and trees are told what a thread does at the launch.
    """

    table: LaunchTimes
    columns: Floats
    targets: Floats
    base: Floats
    sequences: NDArray[np.object_]
    launched: bool

    @classmethod
    def of(cls, table: LaunchTimes, inputs: KernelInputs, constants: Physics | None) -> "LaunchSamples":
        """Those of a table; constants that were fitted to training, see `own_constants`."""
        columns, targets = launch_columns(inputs, table.sizes), targets_of(table)
        columns = np.where(np.isfinite(columns), columns, 0)
        base = constants.targets(launch_physics(inputs, table.sizes)) if constants else np.zeros_like(targets)
        return cls(table, columns, targets, base, inputs.sequences, constants is not None)

    @property
    def fade(self) -> float:
        """See `Expert.fade`."""
        return _FADE if self.launched else 0.0

    def fit(self, kind: Model, rows: Any, seed: int) -> TimesModel:
        """A model of some rows."""
        given = self.columns[rows], (self.targets - self.base)[rows], seed, self.sequences[rows]
        return fit_model(kind, *given, launched=self.launched)


def _physics_errors(physics: Physics, table: LaunchTimes, terms: Floats) -> tuple[Physics, Errors]:
    """Constants with the slope that suites show, each as much as the others, and errors that hold for most of them."""
    suites = [np.flatnonzero(table.suite == suite) for suite in dict.fromkeys(table.suite.tolist())]
    suites = [rows for rows in suites if len(rows) >= 10]
    if len(suites) < 4:
        prior = Errors(_PRIOR * LEVELS / INTERVAL, np.full(len(table.devices), _PRIOR), 1.0, _PRIOR_SHARPNESS, True)
        return replace(physics, slope=_PRIOR_SLOPE), prior
    targets, logs, said = targets_of(table), table.log_times, physics.targets(terms)
    slope = float(np.median([_slope(said[rows], targets[rows]) for rows in suites]))
    physics = replace(physics, slope=float(np.clip(slope, _PRIOR_SLOPE, 1)))
    said = physics.targets(terms)
    errors = [_errors(said[rows], targets[rows], logs[rows], 1.0) for rows in suites]
    half = np.quantile([np.interp(INTERVAL, LEVELS, one.ratio) for one in errors], INTERVAL)
    # suites' times do not count transfers as launches do, so that only their ratios say how far constants err
    return physics, Errors(half * LEVELS / INTERVAL, np.full(len(table.devices), half), 1.0, _SHARPNESS)


def targets_of(table: LaunchTimes) -> Floats:
    """(n, d) float64: mean log time, and by how much each device but the first is faster than that."""
    logs = table.log_times
    return np.hstack([logs.mean(axis=1, keepdims=True), logs[:, :1] - logs[:, 1:]])


def fit_model(
    kind: Model,
    columns: Floats,
    targets: Floats,
    seed: int,
    sequences: NDArray[np.object_] | None = None,
    *,
    launched: bool = True,
) -> TimesModel:
    """A model of some rows.

    Args:
        kind: One of `MODELS`.
        columns: (n, NUM_COLUMNS) float64.
        targets: (n, d) float64, see `targets_of`.
        seed: Of training.
        sequences: (n,) of vectors of statements, which "lstm" reads.
        launched: Whether processes and trees are told what a thread does at the launch.
    """
    ratios = np.clip(targets[:, 1:], -_LARGEST, _LARGEST)
    if kind == "trees":
        seen = columns[:, : NUM_COLUMNS if launched else NUM_PUBLISHED]
        return _fit_trees(seen, np.hstack([targets[:, :1], ratios]), seed)
    learnt = np.hstack([targets[:, :1], bent(ratios)])
    if kind == "gp":
        return _fit_smooth(columns, learnt, seed, "launch" if launched else "code")
    from ncc.tasks.devices.lstm_fit import fit_lstm_times  # with torch

    assert sequences is not None
    return fit_lstm_times(columns, sequences, learnt, seed)


def _fit_smooth(columns: Floats, targets: Floats, seed: int, covariance: str) -> Smooth:
    """A process on all rows, or where they are many on some that stand for them (subset of regressors)."""
    seen = columns[:, COVARIANCES[covariance][0]]
    scale = np.where(np.ptp(seen, axis=0) > 0, seen.std(axis=0), 0.0)
    none = np.zeros((0, seen.shape[1])), np.zeros((0, 0))
    model = Smooth(seen.mean(axis=0), scale, *none, targets.mean(axis=0), covariance)
    rows = model.standardise(columns)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(rows))[:_POINTS])
    points, rest = rows[chosen], targets - model.base
    inner = smooth_covariance(points, points, covariance)
    if len(points) == len(rows):
        matrix, right = inner + NOISE * np.eye(len(points)), rest
    else:
        cross = smooth_covariance(points, rows, covariance)
        matrix, right = NOISE * inner + cross @ cross.T + 1e-6 * len(rows) * np.eye(len(points)), cross @ rest
    return replace(model, points=points, weights=cho_solve(cho_factor(matrix), right))


def _fit_trees(columns: Floats, targets: Floats, seed: int) -> Boosted:
    from sklearn.ensemble import HistGradientBoostingRegressor

    small = len(columns) < 500
    kept = np.flatnonzero(np.ptp(columns, axis=0) > 0)
    fitted = [
        HistGradientBoostingRegressor(
            loss="absolute_error",
            max_iter=_ITERATIONS,
            min_samples_leaf=5 if small else 20,
            early_stopping=False,
            random_state=seed,
        ).fit(columns[:, kept], target)
        for target in targets.T
    ]
    return trees_of([(number, model, 1.0) for number, model in enumerate(fitted)], kept, len(fitted))


class Trial(NamedTuple):
    """Rows that were held out, what was said of them, how far they are from the rest, and the model that said it."""

    rows: Ints
    said: Floats
    distance: Floats
    model: TimesModel


class Trials(NamedTuple):
    """Kernels held out, and suites."""

    kernels: list[Trial]
    suites: list[Trial]


def hold_out(samples: LaunchSamples, kind: Model, seed: int) -> Trials:
    """Tries a kind of model on parts that are held out: what it errs there is what intervals are made of."""
    folds = list(balanced_folds(samples.table.groups("kernel"), _FOLDS, seed))
    number = 1 if kind == "lstm" else _FOLDS if len(samples.table) < _MANY else _FOLDS // 2
    kernels = [try_split(samples, *split, kind, seed) for split in folds[:number]]
    return Trials(kernels, [try_split(samples, *split, kind, seed) for split in _suites(samples.table)])


def try_split(samples: LaunchSamples, train: Any, test: Any, kind: Model, seed: int) -> Trial:
    """What a kind of model says of rows when it learns from others."""
    model, columns = samples.fit(kind, train, seed), samples.columns
    distance = code_distances(*(_distinct(columns[rows]) for rows in (test, train))).min(axis=1)
    distance = distance[_code_of(columns[test])]
    said = predict_targets(model, columns[test], samples.sequences[test])
    return Trial(test, samples.base[test] + faded(said, distance, samples.fade), distance, model)


def _fit_expert(samples: LaunchSamples, physics: Floats, source: str, kind: Model, seed: int, trials: Trials) -> Expert:
    columns, targets, logs = samples.columns, samples.targets, samples.table.log_times
    rows = np.concatenate([one.rows for one in trials.kernels])
    near = _errors(np.concatenate([one.said for one in trials.kernels]), targets[rows], logs[rows], 1.0)
    others = trials.suites
    names, first = np.unique(samples.table.groups("kernel"), return_index=True)
    familiar = _familiar(*trials, targets)
    farthest = float(np.median(np.concatenate([one.distance for one in others]))) if others else 0.0
    return Expert(
        source=source,
        model=samples.fit(kind, slice(None), seed),
        names=tuple(name.rpartition("/")[2] for name in names.tolist()),
        code=columns[first, CODE],
        low=columns[:, :3].min(axis=0),
        high=columns[:, :3].max(axis=0),
        near=near,
        far=_far_errors(others, targets, logs),
        familiar=familiar,
        strange=max(farthest, 1.5 * familiar),
        reach=_reach([*trials.kernels, *others], targets, physics, familiar),
        beyond_constants=samples.launched,
        fade=samples.fade,
    )


def _familiar(kernels: list[Trial], suites: list[Trial], targets: Floats) -> float:
    """Distance up to which errors are no larger than on kernels held out, and no farther than most of these are."""

    def errors(trials: list[Trial]) -> tuple[Floats, Floats]:
        wrong = [np.abs(targets[one.rows, 1:] - one.said[:, 1:]).max(axis=1) for one in trials]
        return np.concatenate([one.distance for one in trials]), np.concatenate(wrong)

    distance, wrong = errors(kernels)
    usual, largest = np.quantile(wrong, INTERVAL), float(np.quantile(distance, 0.9))
    distance, wrong = errors([*kernels, *suites])
    order = np.argsort(distance, kind="stable")
    for rows in np.array_split(order, _BINS) if suites else ():
        if np.quantile(wrong[rows], INTERVAL) > _WORSE * usual:
            largest = min(largest, float(distance[rows].min()))
            break
    return max(largest, _SAME_CODE)


def _reach(trials: list[Trial], targets: Floats, physics: Floats, familiar: float) -> tuple[float, float]:
    """Where constants take over: after the familiar rows if they err less than the model there, else after all rows."""
    distance = np.concatenate([one.distance for one in trials])
    rows, said = np.concatenate([one.rows for one in trials]), np.concatenate([one.said for one in trials])
    far = distance > 2 * familiar
    wrong = [np.median(np.abs(each[far, 1:] - targets[rows[far], 1:])) for each in (said, physics[rows]) if far.any()]
    start = max(float(np.quantile(distance, 0.95)), familiar) if wrong and wrong[0] < wrong[1] else familiar
    return start, 2 * start


def _distinct(columns: Floats) -> Floats:
    return np.unique(columns[:, CODE], axis=0)


def _code_of(columns: Floats) -> Ints:
    return np.unique(columns[:, CODE], axis=0, return_inverse=True)[1].ravel()


def _errors(said: Floats, targets: Floats, logs: Floats, slope: float) -> Errors:
    wrong = np.abs(targets[:, 1:] - slope * said[:, 1:]).max(axis=1)
    shrunk = np.hstack([said[:, :1], slope * said[:, 1:]])
    times = np.quantile(np.abs(logs - times_of(shrunk)), INTERVAL, axis=0)
    ratio = np.quantile(wrong, LEVELS)
    first, second = shrunk[:, 1:].max(axis=1), targets[:, 1:].max(axis=1)
    right = float(((first > 0) == (second > 0)).mean())
    sharpness = np.geomspace(0.1, 10, 81)
    sure = np.array([sureness(first, ratio, one).mean() for one in sharpness])
    return Errors(ratio, times, slope, float(sharpness[np.abs(sure - right).argmin()]))


def _far_errors(suites: list[Trial], targets: Floats, logs: Floats) -> Errors:
    """Those that hold for four suites in five, each held out; a prior where there are not enough of them."""
    prior = Errors(_PRIOR * LEVELS / INTERVAL, np.full(logs.shape[1], _PRIOR), _LEAST_SLOPE, is_guess=True)
    if len(suites) < 4:
        return prior
    slope = max(float(np.median([_slope(one.said, targets[one.rows]) for one in suites])), _LEAST_SLOPE)
    errors = [_errors(one.said, targets[one.rows], logs[one.rows], slope) for one in suites]
    ratio = np.quantile([one.ratio for one in errors], INTERVAL, axis=0)
    times = np.quantile([one.times for one in errors], INTERVAL, axis=0)
    sharpness = float(np.quantile([one.sharpness for one in errors], 1 - INTERVAL))
    return Errors(ratio, times, slope, sharpness)


def _slope(said: Floats, targets: Floats) -> float:
    """Log ratio measured for each unit predicted, from 0 to 1."""
    return float(np.clip((said[:, 1:] * targets[:, 1:]).sum() / max((said[:, 1:] ** 2).sum(), 1e-9), 0, 1))


def _suites(table: LaunchTimes) -> Iterator[Split]:
    for suite in dict.fromkeys(table.suite.tolist()):
        test = table.suite == suite
        if 10 <= test.sum() < len(test):
            yield np.flatnonzero(~test), np.flatnonzero(test)
