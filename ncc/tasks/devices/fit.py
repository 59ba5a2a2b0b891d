"""Fits `TimesHead`: an expert for each source, and its errors on unseen kernels and sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ncc.arrays import Floats, Ints, Rows
from ncc.learning.heads.folds import balanced_folds
from ncc.tasks.devices.features import CODE, code_distances, launch_terms
from ncc.tasks.devices.head import INTERVAL, LEVELS, Errors, Expert, TimesHead, sign_probability
from ncc.tasks.devices.models import Launches, Model, correct, fit_machine, log_times, predict_targets

OWN, SUITES, CLGEN = "all", "suites", "clgen"
"""Sources of launches: own tables, or the published suites and kernels that CLgen generated."""

# chosen on the published times, kernels and suites held out, before the heads that ship were fitted
_FOLDS, _BINS, _MANY_LAUNCHES = 4, 20, 5000
_MIN_GROUP, _MIN_SUITES = 10, 4
_WORSE = 1.25
_LAUNCHES_OF_TIME, _SCALES = 150, (0.2, 5.0)
"""Launches from which the errors at about one time follow, and factors of all launches' errors there."""
_MIN_SLOPE, _SAME_CODE = 0.05, 0.05
_SHORT_RANGE = (0.2, 0.5)
_PRIOR_SLOPE = 0.5
_SHARPNESS, _PRIOR_SHARPNESS = 0.5, 0.3
"""Of a machine model that was measured on other suites, and on none."""
_PRIOR = np.log(10.0)
"""Nothing known of a kernel, one device is at most ten times as fast as the other in 80% of cases."""


def ratios_of(targets: Floats) -> Floats:
    """(n, d - 1) float64 log ratios of targets; the log times of one device alone, which has none to compare with."""
    return targets[:, min(targets.shape[1] - 1, 1) :]


def fit_times(
    sources: Mapping[str, Launches],
    models: Mapping[str, Model],
    *,
    platform: str = "own",
    seed: int = 204,
    embedding_id: str = "",
) -> TimesHead:
    """Fit a head to launches of four kernels or more, `OWN` or published ones, with an expert for each source."""
    # CLgen's times count all transfers, as users expect, and those of own tables do: the machine model follows from
    # them, and the expert of the suites answers only for nearly identical kernels
    launches, published = Launches.joined(list(sources.values())), OWN not in sources
    owner = np.repeat(list(sources), [len(part) for part in sources.values()])
    terms = launch_terms(launches, launches.sizes)
    launched = not published and bool(np.isfinite(launches.global_size).any())
    trusted = owner != SUITES
    fitted = fit_machine(launches.rows(trusted), terms[trusted], launched=launched)
    unshrunk = fitted.targets(terms)
    elsewhere = ~trusted if len(sources) > 1 else trusted
    groups = launches.groups("suite" if published else "family")
    unseen = [
        FoldPrediction(rows, unshrunk[rows], launches.targets[rows], np.zeros(len(rows)))
        for group in dict.fromkeys(groups[elsewhere].tolist())
        if len(rows := np.flatnonzero(elsewhere & (groups == group))) >= _MIN_GROUP
    ]
    errors = _errors_elsewhere(unseen, len(launches.devices), _PRIOR_SLOPE)
    machine = replace(fitted, ratio_shrinkage=errors.ratio_shrinkage)
    half = np.interp(INTERVAL, LEVELS, errors.ratio)
    errors = replace(
        errors,
        ratio=half * LEVELS / INTERVAL,
        # suites' times do not count transfers as launches do, so only their ratios show the machine model's errors
        times=np.full(len(launches.devices), half) if published else errors.times,
        ratio_shrinkage=1.0,
        inverse_temperature=_PRIOR_SHARPNESS if errors.is_prior else _SHARPNESS,
    )
    samples = replace(launches, base=unshrunk if launched else None)
    predicted = machine.targets(terms)
    experts = []
    for name in sources:
        expert = _fit_expert(samples.rows(owner == name), predicted[owner == name], name, models[name], seed)
        experts.append(replace(expert, blend_range=_SHORT_RANGE) if name == SUITES else expert)
    wgsize = float(np.nanmedian(launches.local_size))
    wgsize = wgsize if wgsize >= 1 else 64.0
    identity = embedding_id if "lstm" in models.values() else None
    return TimesHead(launches.devices, tuple(experts), machine, errors, wgsize, platform, embedding_id=identity)


@dataclass(frozen=True, eq=False)
class FoldPrediction(Rows):
    """Predictions of launches that a model was not fitted to."""

    row: Ints  # (n,) row of the launches
    predicted: Floats  # (n, d) float64 targets
    targets: Floats  # (n, d) float64 measured ones
    distance: Floats  # (n,) float64 from the rest

    @property
    def ratio_errors(self) -> Floats:
        """(n,) float64 largest error of each launch's log ratios."""
        return np.abs(ratios_of(self.targets - self.predicted)).max(axis=1)

    @property
    def time_errors(self) -> Floats:
        """(n, devices) float64 errors of log times."""
        return np.abs(log_times(self.targets) - log_times(self.predicted))

    @property
    def slope(self) -> float:
        """Log ratio measured for each unit predicted, from 0 to 1."""
        products = (self.predicted[:, 1:] * self.targets[:, 1:]).sum()
        return float(np.clip(products / max((self.predicted[:, 1:] ** 2).sum(), 1e-9), 0, 1))

    def quantiles(self, slope: float, scale: Floats | float = 1.0) -> Errors:
        """Errors of the predictions, whose log ratios are multiplied by a slope, in units of a scale."""
        shrunk = replace(self, predicted=np.hstack([self.predicted[:, :1], slope * self.predicted[:, 1:]]))
        ratio = np.quantile(shrunk.ratio_errors / scale, LEVELS)
        expected, measured = (ratios_of(each).max(axis=1) for each in (shrunk.predicted, self.targets))
        right = float(((expected > 0) == (measured > 0)).mean())
        candidates = np.geomspace(0.1, 10, 81)
        sure = np.array([sign_probability(expected / scale, ratio, each).mean() for each in candidates])
        times = np.quantile(shrunk.time_errors, INTERVAL, axis=0)
        return Errors(ratio, times, slope, float(candidates[np.abs(sure - right).argmin()]))


def predict_held_out(launches: Launches, train: Any, test: Any, kind: Model, seed: int) -> FoldPrediction:
    """Predict some rows by a model of others."""
    model = launches.fit(kind, train, seed)
    kernels, owner = np.unique(launches.columns[test, CODE], axis=0, return_inverse=True)
    known = np.unique(launches.columns[train, CODE], axis=0)
    distance = code_distances(kernels, known).min(axis=1)[owner.ravel()]
    predicted = predict_targets(model, launches.columns[test], launches.sequences[test])
    if launches.base is not None:
        predicted = correct(launches.base[test], predicted, distance)
    return FoldPrediction(test, predicted, launches.targets[test], distance)


def _fit_expert(launches: Launches, machine: Floats, source: str, kind: Model, seed: int) -> Expert:
    """Fit a model to all launches; kernels and suites held out show how far it may err."""
    folds = list(balanced_folds(launches.groups("kernel"), _FOLDS, seed))
    num_folds = 1 if kind == "lstm" else _FOLDS if len(launches) < _MANY_LAUNCHES else _FOLDS // 2
    by_kernel = [predict_held_out(launches, *split, kind, seed) for split in folds[:num_folds]]
    suites = []
    for suite in dict.fromkeys(launches.suite.tolist()):
        test = launches.suite == suite
        if _MIN_GROUP <= test.sum() < len(test):
            suites.append(predict_held_out(launches, np.flatnonzero(~test), np.flatnonzero(test), kind, seed))
    kernels, both = FoldPrediction.joined(by_kernel), FoldPrediction.joined([*by_kernel, *suites])
    is_residual, columns, names = launches.base is not None, launches.columns, launches.groups("kernel")
    by_time = _errors_by_time(kernels) if is_residual else {}
    scale = np.interp(kernels.predicted[:, 0], by_time["at"], by_time["scale"][:, 0]) if by_time else 1.0
    kernel = np.unique(names, return_inverse=True)[1]  # whose code depends on its compiler
    _, first = np.unique(np.column_stack([kernel, columns[:, CODE]]), axis=0, return_index=True)
    familiar = _in_domain_radius(kernels, both)
    farthest = float(np.median(FoldPrediction.joined(suites).distance)) if suites else 0.0
    return Expert(
        source=source,
        model=launches.fit(kind, slice(None), seed),
        names=tuple(name.rpartition("/")[2] for name in names[first].tolist()),
        code=columns[first, CODE],
        low=columns[:, :3].min(axis=0),
        high=columns[:, :3].max(axis=0),
        errors_in_domain=kernels.quantiles(1.0, scale),
        errors_out_of_domain=_errors_elsewhere(suites, len(launches.devices), _MIN_SLOPE),
        in_domain_radius=familiar,
        out_of_domain_radius=max(farthest, 1.5 * familiar),
        blend_range=_blend_range(both, machine[both.row], familiar),
        is_residual=is_residual,
        errors_by_time=by_time,
    )


def _errors_by_time(kernels: FoldPrediction) -> dict[str, Floats]:
    """Factors of errors at mean log times: short launches are less regular than long ones."""
    expected = kernels.predicted[:, 0]
    errors = np.column_stack([kernels.ratio_errors, kernels.time_errors])
    order = np.argsort(expected, kind="stable")
    parts = np.array_split(order, max(len(order) // _LAUNCHES_OF_TIME, 1))
    usual = np.maximum(np.quantile(errors, INTERVAL, axis=0), 1e-9)
    scale = np.array([np.quantile(errors[rows], INTERVAL, axis=0) for rows in parts]) / usual
    return {"at": np.array([expected[rows].mean() for rows in parts]), "scale": np.clip(scale, *_SCALES)}


def _in_domain_radius(kernels: FoldPrediction, both: FoldPrediction) -> float:
    """Distance up to which errors are no larger than on kernels held out, and no farther than most of these are."""
    usual, largest = np.quantile(kernels.ratio_errors, INTERVAL), float(np.quantile(kernels.distance, 0.9))
    order = np.argsort(both.distance, kind="stable")
    for rows in np.array_split(order, _BINS) if len(both.row) > len(kernels.row) else ():
        if np.quantile(both.ratio_errors[rows], INTERVAL) > _WORSE * usual:
            largest = min(largest, float(both.distance[rows].min()))
            break
    return max(largest, _SAME_CODE)


def _blend_range(both: FoldPrediction, machine: Floats, familiar: float) -> tuple[float, float]:
    """Where the machine model takes over: after familiar rows if it errs less than the model there, else after all."""
    far, start = both.distance > 2 * familiar, familiar
    if far.any():
        model_error, machine_error = (
            np.median(np.abs(ratios_of((each - both.targets)[far]))) for each in (both.predicted, machine)
        )
        if model_error < machine_error:
            start = max(float(np.quantile(both.distance, 0.95)), familiar)
    return start, 2 * start


def _errors_elsewhere(groups: Sequence[FoldPrediction], num_devices: int, least_slope: float) -> Errors:
    """Errors that hold for four groups in five, with the slope that these show; a prior if there are too few."""
    if len(groups) < _MIN_SUITES:
        return Errors(_PRIOR * LEVELS / INTERVAL, np.full(num_devices, _PRIOR), least_slope, is_prior=True)
    slope = max(float(np.median([group.slope for group in groups])), least_slope)
    errors = [group.quantiles(slope) for group in groups]
    ratio = np.quantile([each.ratio for each in errors], INTERVAL, axis=0)
    times = np.quantile([each.times for each in errors], INTERVAL, axis=0)
    inverse_temperature = float(np.quantile([each.inverse_temperature for each in errors], 1 - INTERVAL))
    return Errors(ratio, times, slope, inverse_temperature)
