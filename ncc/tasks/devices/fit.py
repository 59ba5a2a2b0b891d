"""Fits `TimesHead`: an expert for each source, and its errors on unseen kernels and sources.

Reference: Rasmussen and Williams 2006, chapter 2 (processes); Ben-Nun et al. 2018, section 6.2 (statements and
auxiliary inputs of the LSTM); times on every device are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ncc.arrays import Floats, Ints, Rows
from ncc.kernels.measure.table import LaunchTimes, LaunchUnit
from ncc.learning.heads.columns import standardize
from ncc.learning.heads.folds import balanced_folds
from ncc.learning.heads.trees import Boosted, trees_of
from ncc.tasks.devices.features import (
    CODE,
    COVARIANCES,
    LAUNCH,
    LAUNCH_TERMS,
    NUM_COLUMNS,
    NUM_PUBLISHED,
    PUBLISHED_TERMS,
    KernelFeatures,
    code_distances,
    complete_sizes,
    launch_columns,
    launch_terms,
)
from ncc.tasks.devices.head import (
    INTERVAL,
    LEVELS,
    MAX_STANDARD,
    Errors,
    Expert,
    GaussianProcess,
    LSTMTimes,
    MachineModel,
    TimesHead,
    TimesModel,
    compress_ratio,
    correct,
    covariance_of,
    distinct_kernels,
    log_times,
    predict_targets,
    ratios_of,
    sign_probability,
    targets_of,
)
from ncc.tasks.devices.published import CLGEN

Model = Literal["gp", "trees", "lstm"]
MODELS: tuple[Model, ...] = get_args(Model)

PRIORS: Mapping[str, tuple[float, ...]] = {
    "CPU": (0.02, 1e-8, 1e-7, 1e-6, 5e-8, 1e-6, 3e-7, 3e-8, 3e-7, 1e-6, 1e-5, 3e-5, 1e-6, 2e-6, 1e-6),
    "GPU": (0.02, 2e-7, 1e-9, 1e-8, 5e-9, 5e-8, 1e-5, 1e-9, 1e-9, 1e-8, 1e-8, 3e-8, 1e-8, 2e-8, 1e-8),
}
"""Milliseconds for each unit of the terms, by the data sheets of a desktop of 2013."""
_PRIOR_SD = 2.0
_MACHINE_WEIGHT = 500.0

# chosen on the published times, kernels and suites held out, before the heads that ship were fitted
NOISE = 0.05
_FOLDS, _BINS = 4, 20
_MAX_POINTS, _ITERATIONS, _MANY_LAUNCHES = 1200, 100, 5000
_MAX_RATIO = 4.0
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
_EPOCHS, _STEPS, _BATCH_SIZE = (5, 30), 1500, 32
"""Of LSTMs: about so many steps, within these epochs."""


def fit_times(
    table: LaunchTimes,
    features: KernelFeatures,
    *,
    model: Model | Mapping[str, Model] = "gp",
    published: bool = False,
    platform: str = "own",
    seed: int = 204,
    embedding_id: str = "",
) -> TimesHead:
    """Fit a head to launches of four kernels or more; of the published ones CLgen's have a separate expert."""
    # CLgen's times count all transfers, as users expect, and those of own tables do: the machine model follows from
    # them, and the expert of the suites answers only for nearly identical kernels
    owner = np.where(table.suite == CLGEN, CLGEN, "suites") if published else np.full(len(table), "all")
    names = list(dict.fromkeys(owner.tolist()))
    terms = launch_terms(features, table.sizes)
    trusted = np.flatnonzero(owner != "suites")
    launched = not published and bool(np.isfinite(table.global_size).any())
    fitted = fit_machine(table.rows(trusted), terms[trusted], LAUNCH_TERMS if launched else PUBLISHED_TERMS)
    elsewhere = np.flatnonzero(owner == "suites") if len(names) > 1 else trusted
    unit: LaunchUnit = "suite" if published else "family"
    machine, errors = _machine_model_errors(fitted, table.rows(elsewhere), terms[elsewhere], unit)
    predicted = machine.targets(terms)
    experts = []
    for name in names:
        rows = np.flatnonzero(owner == name)
        samples = LaunchSamples.of(table.rows(rows), features.rows(rows), fitted if launched else None)
        kind = model if isinstance(model, str) else model[name]
        expert = _fit_expert(samples, predicted[rows], name, kind, seed)
        experts.append(replace(expert, blend_range=_SHORT_RANGE) if name == "suites" else expert)
    wgsize = float(np.nanmedian(complete_sizes(features, table.sizes)[:, 1]))
    wgsize = wgsize if wgsize >= 1 else 64.0
    identity = embedding_id if any(isinstance(expert.model, LSTMTimes) for expert in experts) else None
    return TimesHead(table.devices, tuple(experts), machine, errors, wgsize, platform, embedding_id=identity)


def fit_machine(table: LaunchTimes, terms: Floats, known: Ints) -> MachineModel:
    """Fit constants of the known terms with the least pseudo-Huber error of log times, held near the data sheets'."""
    from scipy.optimize import minimize

    constants = []
    logs = np.log(np.maximum(terms[:, known], 1e-30))
    for device, measured in zip(table.devices, table.log_times.T, strict=True):

        def loss(constant: Floats, prior: Floats, measured: Floats = measured) -> tuple[float, Floats]:
            total = np.logaddexp.reduce(logs + constant, axis=1)
            error = total - measured
            huber = np.sqrt(1 + error**2)
            away = (constant - prior) / _PRIOR_SD**2
            gradient = np.exp(logs + constant - total[:, None]) * (error / huber)[:, None]
            weight = _MACHINE_WEIGHT / max(len(error), 1)
            value = weight * float((huber - 1).sum()) + float(away @ (constant - prior)) / 2
            return value, weight * gradient.sum(axis=0) + away

        # a device of unknown kind gets the prior of the kind that explains its times better
        priors = np.log([PRIORS[device]] if device in PRIORS else list(PRIORS.values()))[:, known]
        fits = [minimize(loss, prior, (prior,), jac=True, method="L-BFGS-B") for prior in priors]
        constants.append(min(fits, key=lambda fit: fit.fun).x)
    return MachineModel(np.array(constants))


@dataclass(frozen=True, eq=False)
class LaunchSamples:
    """Launches as models learn them; row i of every array is launch i."""

    table: LaunchTimes  # the n launches
    columns: Floats  # (n, NUM_COLUMNS) float64
    targets: Floats  # (n, d) float64, see `ncc.tasks.devices.head.targets_of`
    base: Floats  # (n, d) float64 targets of the machine model if models learn its residual; else 0
    sequences: NDArray[np.object_]  # (n,) of vectors of statements
    launched: bool  # true if models learn that, and processes and trees read a thread's work at the launch

    @classmethod
    def of(cls, table: LaunchTimes, features: KernelFeatures, machine: MachineModel | None) -> "LaunchSamples":
        """Launches of a table, beside the machine model whose residual is learned, if any."""
        columns = np.nan_to_num(launch_columns(features, table.sizes), posinf=0, neginf=0)
        targets = targets_of(table.log_times)
        base = machine.targets(launch_terms(features, table.sizes)) if machine else np.zeros_like(targets)
        return cls(table, columns, targets, base, features.sequences, machine is not None)

    def fit(self, kind: Model, rows: Any, seed: int) -> TimesModel:
        """Fit a model to some rows."""
        columns, targets = self.columns[rows], (self.targets - self.base)[rows]
        ratios = np.clip(targets[:, 1:], -_MAX_RATIO, _MAX_RATIO)
        if kind == "trees":
            seen = columns[:, : NUM_COLUMNS if self.launched else NUM_PUBLISHED]
            return _fit_trees(seen, np.hstack([targets[:, :1], ratios]), seed)
        compressed = np.hstack([targets[:, :1], compress_ratio(ratios)])
        if kind == "gp":
            return _fit_process(columns, compressed, seed, "launch" if self.launched else "code")
        return _fit_lstm(columns, self.sequences[rows], compressed, seed)


def _column_scale(columns: Floats) -> Floats:
    """(k,) float64 standard deviations, 0 if constant."""
    return np.where(np.ptp(columns, axis=0) > 0, columns.std(axis=0), 0.0)


def _fit_process(columns: Floats, targets: Floats, seed: int, covariance: str) -> GaussianProcess:
    """Fit a process to all rows, or if they are many to some that represent them (subset of regressors)."""
    seen = columns[:, COVARIANCES[covariance][0]]
    mean, scale, base = seen.mean(axis=0), _column_scale(seen), targets.mean(axis=0)
    rows = standardize(seen, mean, scale, MAX_STANDARD)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(rows))[:_MAX_POINTS])
    points, rest = rows[chosen], targets - base
    inner = covariance_of(points, points, covariance)
    if len(points) == len(rows):
        matrix, right = inner + NOISE * np.eye(len(points)), rest
    else:
        cross = covariance_of(points, rows, covariance)
        matrix, right = NOISE * inner + cross @ cross.T + 1e-6 * len(rows) * np.eye(len(points)), cross @ rest
    return GaussianProcess(mean, scale, points, cho_solve(cho_factor(matrix), right), base, covariance)


def _fit_trees(columns: Floats, targets: Floats, seed: int) -> Boosted:
    from sklearn.ensemble import HistGradientBoostingRegressor

    varying = np.flatnonzero(np.ptp(columns, axis=0) > 0)
    options: dict[str, Any] = {"loss": "absolute_error", "max_iter": _ITERATIONS, "early_stopping": False}
    options |= {"min_samples_leaf": 5 if len(columns) < 500 else 20, "random_state": seed}
    fitted = [HistGradientBoostingRegressor(**options).fit(columns[:, varying], target) for target in targets.T]
    return trees_of([(index, model, 1.0) for index, model in enumerate(fitted)], varying, len(fitted))


def _fit_lstm(columns: Floats, sequences: NDArray[np.object_], targets: Floats, seed: int) -> LSTMTimes:
    from torch import nn

    from ncc.learning.encoder.batches import SequenceData, Sequences
    from ncc.learning.encoder.config import EncoderConfig, HeadConfig
    from ncc.learning.encoder.network import EncoderNetwork, fit_ensemble
    from ncc.learning.training.config import TrainingConfig

    chosen = columns[:, LAUNCH]
    kernels, owner = distinct_kernels(sequences)
    ends = np.cumsum([len(kernel) for kernel in kernels])
    mean, std = targets.mean(axis=0), np.maximum(targets.std(axis=0), 1e-6)
    center, scale = chosen.mean(axis=0), _column_scale(chosen)
    data = SequenceData(
        Sequences.of([np.arange(end - len(kernel), end) for kernel, end in zip(kernels, ends.tolist(), strict=True)]),
        ((targets - mean) / std).astype(np.float32),
        auxiliary=standardize(chosen, center, scale, MAX_STANDARD).astype(np.float32),
        owner=owner,
        noise=1.0,
    )
    encoder = EncoderConfig(hidden=64, layers=1, pooling=("last", "mean", "max"), last_dropout=0.2)
    head = HeadConfig(dense=128, norm="layer", dropout=0.1)  # batches have few kernels, so norms are over features
    vectors = np.concatenate(kernels).astype(np.float32)
    make = partial(EncoderNetwork, vectors, targets.shape[1], encoder, head, len(LAUNCH))
    epochs = int(np.clip(_STEPS * _BATCH_SIZE // len(columns), *_EPOCHS))
    loop = TrainingConfig(epochs=epochs, batch_size=_BATCH_SIZE)
    seeds = np.random.default_rng(seed).integers(2**31, size=1).tolist()
    ensemble = fit_ensemble(make, data, partial(nn.functional.huber_loss, delta=0.3), loop, seeds)
    ensemble = ensemble.rescaled(mean.astype(np.float32), std.astype(np.float32))
    return LSTMTimes(ensemble, center, scale)


@dataclass(frozen=True, eq=False)
class FoldPrediction(Rows):
    """Predictions of rows held out."""

    row: Ints  # (n,) row in the samples
    predicted: Floats  # (n, d) float64 targets
    targets: Floats  # (n, d) float64 measured ones
    distance: Floats  # (n,) float64 from the rest

    @property
    def errors(self) -> Floats:
        """(n,) float64 largest errors of log ratios."""
        return largest_errors(self.predicted, self.targets)


def largest_errors(predicted: Floats, targets: Floats) -> Floats:
    """(n,) float64 largest error of each launch's `ratios_of`."""
    return np.abs(ratios_of(targets - predicted)).max(axis=1)


def cross_validate(samples: LaunchSamples, kind: Model, seed: int) -> tuple[list[FoldPrediction], list[FoldPrediction]]:
    """Predict kernels that are held out, and suites: intervals are made of the errors."""
    folds = list(balanced_folds(samples.table.groups("kernel"), _FOLDS, seed))
    num_folds = 1 if kind == "lstm" else _FOLDS if len(samples.table) < _MANY_LAUNCHES else _FOLDS // 2
    kernels = [predict_held_out(samples, *split, kind, seed) for split in folds[:num_folds]]
    suites = []
    for suite in dict.fromkeys(samples.table.suite.tolist()):
        test = samples.table.suite == suite
        if _MIN_GROUP <= test.sum() < len(test):
            suites.append(predict_held_out(samples, np.flatnonzero(~test), np.flatnonzero(test), kind, seed))
    return kernels, suites


def predict_held_out(samples: LaunchSamples, train: Any, test: Any, kind: Model, seed: int) -> FoldPrediction:
    """Predict some rows by a model of others."""
    model = samples.fit(kind, train, seed)
    code = samples.columns[test, CODE]
    kernels, owner = np.unique(code, axis=0, return_inverse=True)
    known = np.unique(samples.columns[train, CODE], axis=0)
    distance = code_distances(kernels, known).min(axis=1)[owner.ravel()]
    predicted = predict_targets(model, samples.columns[test], samples.sequences[test])
    if samples.launched:
        predicted = correct(samples.base[test], predicted, distance)
    return FoldPrediction(test, predicted, samples.targets[test], distance)


def _fit_expert(samples: LaunchSamples, machine: Floats, source: str, kind: Model, seed: int) -> Expert:
    columns, (folds, suites) = samples.columns, cross_validate(samples, kind, seed)
    kernels, both = FoldPrediction.joined(folds), FoldPrediction.joined([*folds, *suites])
    names = samples.table.groups("kernel")
    by_time = _errors_by_time(kernels) if samples.launched else {}
    scale = np.interp(kernels.predicted[:, 0], by_time["at"], by_time["scale"][:, 0]) if by_time else 1.0
    kernel = np.unique(names, return_inverse=True)[1]  # whose code depends on its compiler
    _, first = np.unique(np.column_stack([kernel, columns[:, CODE]]), axis=0, return_index=True)
    familiar = _in_domain_radius(kernels, both)
    farthest = float(np.median(FoldPrediction.joined(suites).distance)) if suites else 0.0
    return Expert(
        source=source,
        model=samples.fit(kind, slice(None), seed),
        names=tuple(name.rpartition("/")[2] for name in names[first].tolist()),
        code=columns[first, CODE],
        low=columns[:, :3].min(axis=0),
        high=columns[:, :3].max(axis=0),
        errors_in_domain=_errors(kernels.predicted, kernels.targets, 1.0, scale),
        errors_out_of_domain=_out_of_domain_errors(suites, len(samples.table.devices)),
        in_domain_radius=familiar,
        out_of_domain_radius=max(farthest, 1.5 * familiar),
        blend_range=_blend_range(both, machine[both.row], familiar),
        is_residual=samples.launched,
        errors_by_time=by_time,
    )


def _errors_by_time(kernels: FoldPrediction) -> dict[str, Floats]:
    """Factors of errors at mean log times: short launches are less regular than long ones."""
    expected = kernels.predicted[:, 0]
    errors = np.column_stack([kernels.errors, np.abs(log_times(kernels.targets) - log_times(kernels.predicted))])
    order = np.argsort(expected, kind="stable")
    parts = np.array_split(order, max(len(order) // _LAUNCHES_OF_TIME, 1))
    usual = np.maximum(np.quantile(errors, INTERVAL, axis=0), 1e-9)
    scale = np.array([np.quantile(errors[rows], INTERVAL, axis=0) for rows in parts]) / usual
    return {"at": np.array([expected[rows].mean() for rows in parts]), "scale": np.clip(scale, *_SCALES)}


def _in_domain_radius(kernels: FoldPrediction, both: FoldPrediction) -> float:
    """Distance up to which errors are no larger than on kernels held out, and no farther than most of these are."""
    usual, largest = np.quantile(kernels.errors, INTERVAL), float(np.quantile(kernels.distance, 0.9))
    order = np.argsort(both.distance, kind="stable")
    for rows in np.array_split(order, _BINS) if len(both.row) > len(kernels.row) else ():
        if np.quantile(both.errors[rows], INTERVAL) > _WORSE * usual:
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


def _errors(predicted: Floats, targets: Floats, slope: float, scale: Floats | float = 1.0) -> Errors:
    shrunk = np.hstack([predicted[:, :1], slope * predicted[:, 1:]])
    wrong = largest_errors(shrunk, targets) / scale
    times = np.quantile(np.abs(log_times(targets) - log_times(shrunk)), INTERVAL, axis=0)
    ratio = np.quantile(wrong, LEVELS)
    first, second = (ratios_of(each).max(axis=1) for each in (shrunk, targets))
    right = float(((first > 0) == (second > 0)).mean())
    candidates = np.geomspace(0.1, 10, 81)
    sure = np.array([sign_probability(first / scale, ratio, each).mean() for each in candidates])
    return Errors(ratio, times, slope, float(candidates[np.abs(sure - right).argmin()]))


def _prior_errors(devices: int, slope: float, inverse_temperature: float) -> Errors:
    return Errors(_PRIOR * LEVELS / INTERVAL, np.full(devices, _PRIOR), slope, inverse_temperature, is_prior=True)


def _out_of_domain_errors(suites: list[FoldPrediction], num_devices: int) -> Errors:
    """Errors that hold for four suites in five, each held out; a prior if there are too few."""
    if len(suites) < _MIN_SUITES:
        return _prior_errors(num_devices, _MIN_SLOPE, 1.0)
    slope = max(float(np.median([_slope(suite.predicted, suite.targets) for suite in suites])), _MIN_SLOPE)
    errors = [_errors(suite.predicted, suite.targets, slope) for suite in suites]
    ratio = np.quantile([each.ratio for each in errors], INTERVAL, axis=0)
    times = np.quantile([each.times for each in errors], INTERVAL, axis=0)
    inverse_temperature = float(np.quantile([each.inverse_temperature for each in errors], 1 - INTERVAL))
    return Errors(ratio, times, slope, inverse_temperature)


def _machine_model_errors(
    machine: MachineModel, table: LaunchTimes, terms: Floats, unit: LaunchUnit
) -> tuple[MachineModel, Errors]:
    """The machine model with the slope that groups show, each weighing the same, and errors that hold for most."""
    names = table.groups(unit)
    groups = [
        rows for name in dict.fromkeys(names.tolist()) if len(rows := np.flatnonzero(names == name)) >= _MIN_GROUP
    ]
    if len(groups) < _MIN_SUITES:
        return replace(machine, ratio_shrinkage=_PRIOR_SLOPE), _prior_errors(len(table.devices), 1.0, _PRIOR_SHARPNESS)
    targets, predicted = targets_of(table.log_times), machine.targets(terms)
    slope = float(np.median([_slope(predicted[rows], targets[rows]) for rows in groups]))
    machine = replace(machine, ratio_shrinkage=float(np.clip(slope, _PRIOR_SLOPE, 1)))
    predicted = machine.targets(terms)
    errors = [_errors(predicted[rows], targets[rows], 1.0) for rows in groups]
    half = np.quantile([np.interp(INTERVAL, LEVELS, each.ratio) for each in errors], INTERVAL)
    # suites' times do not count transfers as launches do, so only their ratios show the machine model's errors
    times = np.quantile([each.times for each in errors], INTERVAL, axis=0)
    times = np.full(len(table.devices), half) if unit == "suite" else times
    return machine, Errors(half * LEVELS / INTERVAL, times, 1.0, _SHARPNESS)


def _slope(predicted: Floats, targets: Floats) -> float:
    """Log ratio measured for each unit predicted, from 0 to 1."""
    products = (predicted[:, 1:] * targets[:, 1:]).sum()
    return float(np.clip(products / max((predicted[:, 1:] ** 2).sum(), 1e-9), 0, 1))
