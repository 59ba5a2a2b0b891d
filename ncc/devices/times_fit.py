"""Fits `TimesHead`: an expert for each source, and how far each errs on kernels and on sources that it has not seen."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from ncc.devices.folds import Split, balanced_folds
from ncc.devices.head import INTERVAL, KernelInputs
from ncc.devices.physics import PRIORS, Physics
from ncc.devices.table import LaunchTimes
from ncc.devices.times_head import (
    CODE,
    LEVELS,
    Errors,
    Expert,
    Smooth,
    TimesHead,
    bent,
    code_distances,
    complete_sizes,
    launch_columns,
    launch_physics,
    smooth_covariance,
    sureness,
    times_of,
)
from ncc.encoder.trees import Boosted, trees_of
from ncc.errors import InputError

__all__ = ["MODELS", "Model", "fit_model", "fit_times"]

Array = NDArray[np.float64]
Model = Literal["gp", "trees"]
MODELS: tuple[Model, ...] = ("gp", "trees")

_FOLDS = 4
_POINTS = 1000
_NOISE = 0.05
_ITERATIONS = 100
_LARGEST = 4.0
_MANY = 5000
_BINS = 20
_WORSE = 1.25
_LEAST_SLOPE = 0.05
_SAME_CODE = 0.05
_SHORT_REACH = (0.2, 0.5)
_PRIOR_SD = 2.0
_WEIGHT = 500.0
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

    Raises:
        InputError: There are fewer than four kernels.
    """
    columns, kernels = launch_columns(inputs, table.sizes), table.groups("kernel")
    if len(set(kernels)) < _FOLDS:
        raise InputError(f"{len(set(kernels))} kernels; expected at least {_FOLDS} to learn from")
    owner = np.array([(sources or {}).get(suite, "all") for suite in table.suite])
    names = list(dict.fromkeys(owner.tolist()))
    terms = launch_physics(inputs, table.sizes)
    trusted = np.flatnonzero((owner == whole) if whole else np.ones(len(table), bool))
    physics = _fit_physics(table.rows(trusted), terms[trusted])
    others = np.flatnonzero(owner != whole) if whole and len(names) > 1 else trusted
    physics, astray = _physics_errors(physics, table.rows(others), terms[others])
    said = physics.targets(terms)
    experts = []
    for name in names:
        rows = np.flatnonzero(owner == name)
        chosen = model if isinstance(model, str) else model[name]
        expert = _fit_expert(table.rows(rows), columns[rows], said[rows], name, chosen, seed)
        experts.append(replace(expert, reach=_SHORT_REACH) if whole not in (None, name) else expert)
    group = float(np.nanmedian(complete_sizes(inputs, table.sizes)[:, 1]))
    group = group if group >= 1 else 64.0
    return TimesHead(table.devices, tuple(experts), physics, astray, group, platform, about or {})


def _fit_physics(table: LaunchTimes, terms: Array) -> Physics:
    """Constants with the least error (pseudo-Huber) in log times, held near those of the data sheets."""
    constants = []
    logs = np.log(np.maximum(terms, 1e-30))
    for device, measured in zip(table.devices, table.log_times.T, strict=True):
        prior = np.log(PRIORS[device]) if device in PRIORS else np.mean(np.log(list(PRIORS.values())), axis=0)

        def loss(own: Array, prior: Array = prior, measured: Array = measured) -> tuple[float, Array]:
            total = np.logaddexp.reduce(logs + own, axis=1)
            wrong = total - measured
            bent_error = np.sqrt(1 + wrong**2)
            away = (own - prior) / _PRIOR_SD**2
            slope = np.exp(logs + own - total[:, None]) * (wrong / bent_error)[:, None]
            share = _WEIGHT / max(len(wrong), 1)
            return share * float((bent_error - 1).sum()) + float(away @ (own - prior)) / 2, share * slope.sum(
                axis=0
            ) + away

        constants.append(minimize(loss, prior, jac=True, method="L-BFGS-B").x)
    return Physics(np.array(constants))


def _physics_errors(physics: Physics, table: LaunchTimes, terms: Array) -> tuple[Physics, Errors]:
    """Constants with the slope that suites show, each as much as the others, and errors that hold for most of them."""
    suites = [np.flatnonzero(table.suite == suite) for suite in dict.fromkeys(table.suite.tolist())]
    suites = [rows for rows in suites if len(rows) >= 10]
    if len(suites) < 4:
        prior = Errors(_PRIOR * LEVELS / INTERVAL, np.full(len(table.devices), _PRIOR), 1.0, _PRIOR_SHARPNESS)
        return replace(physics, slope=_PRIOR_SLOPE), prior
    targets, logs, said = targets_of(table), table.log_times, physics.targets(terms)
    slope = float(np.median([_slope(said[rows], targets[rows]) for rows in suites]))
    physics = replace(physics, slope=float(np.clip(slope, _PRIOR_SLOPE, 1)))
    said = physics.targets(terms)
    errors = [_errors(said[rows], targets[rows], logs[rows], 1.0) for rows in suites]
    half = np.quantile([np.interp(INTERVAL, LEVELS, one.ratio) for one in errors], INTERVAL)
    # suites' times do not count transfers as launches do, so that only their ratios say how far constants err
    return physics, Errors(half * LEVELS / INTERVAL, np.full(len(table.devices), half), 1.0, _SHARPNESS)


def targets_of(table: LaunchTimes) -> Array:
    """(n, d) float64: mean log time, and by how much each device but the first is faster than that."""
    logs = table.log_times
    return np.hstack([logs.mean(axis=1, keepdims=True), logs[:, :1] - logs[:, 1:]])


def fit_model(kind: Model, columns: Array, targets: Array, seed: int) -> Boosted | Smooth:
    """A model of some rows."""
    columns = np.where(np.isfinite(columns), columns, 0)
    ratios = np.clip(targets[:, 1:], -_LARGEST, _LARGEST)
    if kind == "trees":
        return _fit_trees(columns, np.hstack([targets[:, :1], ratios]), seed)
    return _fit_smooth(columns, np.hstack([targets[:, :1], bent(ratios)]), seed)


def _fit_smooth(columns: Array, targets: Array, seed: int) -> Smooth:
    """A process on all rows, or where they are many on some that stand for them (subset of regressors)."""
    columns = columns[:, : CODE.stop]
    scale = np.where(np.ptp(columns, axis=0) > 0, columns.std(axis=0), 0.0)
    model = Smooth(columns.mean(axis=0), scale, np.zeros((0, columns.shape[1])), np.zeros((0, 0)), targets.mean(axis=0))
    rows = model.standardise(columns)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(rows))[:_POINTS])
    points, rest = rows[chosen], targets - model.base
    inner = smooth_covariance(points, points)
    if len(points) == len(rows):
        matrix, right = inner + _NOISE * np.eye(len(points)), rest
    else:
        cross = smooth_covariance(points, rows)
        matrix, right = _NOISE * inner + cross @ cross.T + 1e-6 * len(rows) * np.eye(len(points)), cross @ rest
    return Smooth(model.mean, scale, points, cho_solve(cho_factor(matrix), right), model.base)


def _fit_trees(columns: Array, targets: Array, seed: int) -> Boosted:
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


def _fit_expert(table: LaunchTimes, columns: Array, physics: Array, source: str, kind: Model, seed: int) -> Expert:
    kernels = table.groups("kernel")
    targets, logs = targets_of(table), table.log_times
    trials: list[_Trial] = []
    folds = list(balanced_folds(kernels, _FOLDS, seed))
    for train, test in folds[: _FOLDS if len(table) < _MANY else _FOLDS // 2]:
        trials.append(_trial(columns, targets, train, test, kind, seed))
    rows = np.concatenate([one.rows for one in trials])
    near = _errors(np.concatenate([one.said for one in trials]), targets[rows], logs[rows], 1.0)
    others = [_trial(columns, targets, *split, kind, seed) for split in _suites(table)]
    names, first = np.unique(kernels, return_index=True)
    familiar = _familiar(trials, others, targets)
    farthest = float(np.median(np.concatenate([one.distance for one in others]))) if others else 0.0
    return Expert(
        source=source,
        model=fit_model(kind, columns, targets, seed),
        names=tuple(name.rpartition("/")[2] for name in names.tolist()),
        code=columns[first, CODE],
        low=columns[:, :3].min(axis=0),
        high=columns[:, :3].max(axis=0),
        near=near,
        far=_far_errors(others, targets, logs),
        familiar=familiar,
        strange=max(farthest, 1.5 * familiar),
        reach=_reach([*trials, *others], targets, physics, familiar),
    )


class _Trial(NamedTuple):
    """Rows that were held out, what was said of them, and how far they are from the rest."""

    rows: NDArray[np.int64]
    said: Array
    distance: Array


def _trial(columns: Array, targets: Array, train: Any, test: Any, kind: Model, seed: int) -> _Trial:
    said = fit_model(kind, columns[train], targets[train], seed).predict(columns[test])
    distance = code_distances(*(_distinct(columns[rows]) for rows in (test, train))).min(axis=1)
    return _Trial(test, said, distance[_code_of(columns[test])])


def _familiar(kernels: list[_Trial], suites: list[_Trial], targets: Array) -> float:
    """Distance up to which errors are no larger than on kernels held out, and no farther than most of these are."""

    def errors(trials: list[_Trial]) -> tuple[Array, Array]:
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


def _reach(trials: list[_Trial], targets: Array, physics: Array, familiar: float) -> tuple[float, float]:
    """Where constants take over: after the familiar rows if they err less than the model there, else after all rows."""
    distance = np.concatenate([one.distance for one in trials])
    rows, said = np.concatenate([one.rows for one in trials]), np.concatenate([one.said for one in trials])
    far = distance > 2 * familiar
    wrong = [np.median(np.abs(each[far, 1:] - targets[rows[far], 1:])) for each in (said, physics[rows]) if far.any()]
    start = max(float(np.quantile(distance, 0.95)), familiar) if wrong and wrong[0] < wrong[1] else familiar
    return start, 2 * start


def _distinct(columns: Array) -> Array:
    return np.unique(columns[:, CODE], axis=0)


def _code_of(columns: Array) -> NDArray[np.int64]:
    return np.unique(columns[:, CODE], axis=0, return_inverse=True)[1].ravel()


def _errors(said: Array, targets: Array, logs: Array, slope: float) -> Errors:
    wrong = np.abs(targets[:, 1:] - slope * said[:, 1:]).max(axis=1)
    shrunk = np.hstack([said[:, :1], slope * said[:, 1:]])
    times = np.quantile(np.abs(logs - times_of(shrunk)), INTERVAL, axis=0)
    ratio = np.quantile(wrong, LEVELS)
    first, second = shrunk[:, 1:].max(axis=1), targets[:, 1:].max(axis=1)
    right = float(((first > 0) == (second > 0)).mean())
    sharpness = np.geomspace(0.1, 10, 81)
    sure = np.array([sureness(first, ratio, one).mean() for one in sharpness])
    return Errors(ratio, times, slope, float(sharpness[np.abs(sure - right).argmin()]))


def _far_errors(suites: list[_Trial], targets: Array, logs: Array) -> Errors:
    """Those that hold for four suites in five, each held out; a prior where there are not enough of them."""
    prior = Errors(_PRIOR * LEVELS / INTERVAL, np.full(logs.shape[1], _PRIOR), _LEAST_SLOPE)
    if len(suites) < 4:
        return prior
    slope = max(float(np.median([_slope(one.said, targets[one.rows]) for one in suites])), _LEAST_SLOPE)
    errors = [_errors(one.said, targets[one.rows], logs[one.rows], slope) for one in suites]
    ratio = np.quantile([one.ratio for one in errors], INTERVAL, axis=0)
    times = np.quantile([one.times for one in errors], INTERVAL, axis=0)
    sharpness = float(np.quantile([one.sharpness for one in errors], 1 - INTERVAL))
    return Errors(ratio, times, slope, sharpness)


def _slope(said: Array, targets: Array) -> float:
    """Log ratio measured for each unit predicted, from 0 to 1."""
    return float(np.clip((said[:, 1:] * targets[:, 1:]).sum() / max((said[:, 1:] ** 2).sum(), 1e-9), 0, 1))


def _suites(table: LaunchTimes) -> Iterator[Split]:
    for suite in dict.fromkeys(table.suite.tolist()):
        test = table.suite == suite
        if 10 <= test.sum() < len(test):
            yield np.flatnonzero(~test), np.flatnonzero(test)
