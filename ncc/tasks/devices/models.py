"""Models of times: machine constants, Gaussian processes, trees and LSTMs, each with its fit, and answers in NumPy.

Reference: Williams, Waterman and Patterson 2009 (roofline); Rasmussen and Williams 2006, chapter 2 (processes);
Ben-Nun et al. 2018, section 6.2 (statements and auxiliary inputs of the LSTM); times on every device are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, Literal, Self, get_args

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.kernels.measure.table import LaunchTimes
from ncc.learning.encoder.network_numpy import Ensemble, distinct_sequences
from ncc.learning.heads.columns import scaled_distances, standardize
from ncc.learning.heads.files import Stored, check_shapes
from ncc.learning.heads.trees import Boosted, trees_of
from ncc.tasks.devices.features import COVARIANCES, LAUNCH, NUM_PUBLISHED, TERMS, KernelFeatures, launch_columns

Model = Literal["gp", "trees", "lstm"]
MODELS: tuple[Model, ...] = get_args(Model)
LONGEST_READ = 128
"""Maximum number of a kernel's statements that networks read, from the start."""
MAX_VALUE = 1e6
MAX_STANDARD = 5.0
_MIN_SCALE = 1e-6
_BEND, _MAX_COMPRESSED = 3.0, 5.5
_DECAY = 10.0
"""Decay per distance: residuals of the machine model are learned for kernels close to training only."""
_TERMS = {len(terms): terms for terms in TERMS.values()}
PRIORS: Mapping[str, tuple[float, ...]] = {
    "CPU": (0.02, 1e-8, 1e-7, 1e-6, 5e-8, 1e-6, 3e-7, 3e-8, 3e-7, 1e-6, 1e-5, 3e-5, 1e-6, 2e-6, 1e-6),
    "GPU": (0.02, 2e-7, 1e-9, 1e-8, 5e-9, 5e-8, 1e-5, 1e-9, 1e-9, 1e-8, 1e-8, 3e-8, 1e-8, 2e-8, 1e-8),
}
"""Milliseconds per unit of the terms, from the data sheets of a desktop of 2013."""
_PRIOR_SD = 2.0
_MACHINE_WEIGHT = 500.0

# chosen on held-out kernels and suites of the published times, before the shipped heads were fitted
_NOISE = 0.05
_MAX_POINTS, _ITERATIONS = 1200, 100
_MAX_RATIO = 4.0
_EPOCHS, _STEPS, _BATCH_SIZE = (5, 30), 1500, 32
"""Approximate number of training steps of LSTMs, within these numbers of epochs."""


def targets_of(log_times: Floats) -> Floats:
    """(n, d) float64 targets from log times: their mean, and log speedups of the other devices over the first."""
    return np.hstack([log_times.mean(axis=1, keepdims=True), log_times[:, :1] - log_times[:, 1:]])


def log_times(targets: Floats) -> Floats:
    """(n, d) log times from targets."""
    first = targets[:, :1] + targets[:, 1:].sum(axis=1, keepdims=True) / targets.shape[1]
    return np.hstack([first, first - targets[:, 1:]])


@dataclass(frozen=True, eq=False)
class MachineModel:
    """Device constants (launch, bus, operations, memory), for kernels unlike all measured ones."""

    # (devices, k) float64 log ms per unit of `TERMS`, whose kind follows from k
    constants: Annotated[Floats, Stored(bound=100)]
    # slope of measured over predicted log ratios, since kernels don't reach peaks
    ratio_shrinkage: Annotated[float, Meta(ge=0, le=1)] = 1.0

    def __post_init__(self) -> None:
        if self.constants.ndim != 2 or self.constants.shape[1] not in _TERMS:
            raise InputError(f"constants have shape {self.constants.shape}; expected a known number of columns")

    def targets(self, terms: Floats) -> Floats:
        """(n, devices) float64 log times: logarithms of the sums of the terms."""
        each = np.log(np.maximum(terms[:, _TERMS[self.constants.shape[1]]], 1e-30))[:, None, :] + self.constants
        targets = targets_of(np.logaddexp.reduce(each, axis=2))
        targets[:, 1:] *= self.ratio_shrinkage
        return targets


def fit_machine(launches: LaunchTimes, terms: Floats, *, launched: bool) -> MachineModel:
    """Fit constants to log times by the pseudo-Huber loss, regularized towards the data sheets."""
    from scipy.optimize import minimize

    constants, known = [], TERMS["launch" if launched else "code"]
    logs = np.log(np.maximum(terms[:, known], 1e-30))
    for device, measured in zip(launches.devices, launches.log_times.T, strict=True):

        def loss(constant: Floats, prior: Floats, measured: Floats = measured) -> tuple[float, Floats]:
            total = np.logaddexp.reduce(logs + constant, axis=1)
            error = total - measured
            huber = np.sqrt(1 + error**2)
            away = (constant - prior) / _PRIOR_SD**2
            gradient = np.exp(logs + constant - total[:, None]) * (error / huber)[:, None]
            weight = _MACHINE_WEIGHT / max(len(error), 1)
            value = weight * float((huber - 1).sum()) + float(away @ (constant - prior)) / 2
            return value, weight * gradient.sum(axis=0) + away

        # a device of unknown kind gets the prior of the kind that fits its times better
        priors = np.log([PRIORS[device]] if device in PRIORS else list(PRIORS.values()))[:, known]
        fits = [minimize(loss, prior, (prior,), jac=True, method="L-BFGS-B") for prior in priors]
        constants.append(min(fits, key=lambda fit: fit.fun).x)
    return MachineModel(np.array(constants))


def correct(machine: Floats, learned: Floats, distance: Floats) -> Floats:
    """(n, targets) float64 of the machine model plus a model's residuals, see `_DECAY`."""
    return machine + np.hstack([learned[:, :1] * np.exp(-_DECAY * distance)[:, None], learned[:, 1:]])


def _check_scale(model: "GaussianProcess | LSTMTimes", width: int) -> None:
    check_shapes(model, mean=(width,), scale=(width,))
    if ((model.scale < _MIN_SCALE) & (model.scale != 0)).any():
        raise InputError("a scale is out of range")


def _column_scale(columns: Floats) -> Floats:
    """(k,) float64 standard deviations; 0 if constant up to rounding."""
    scale = columns.std(axis=0)
    return np.where(scale < _MIN_SCALE, 0.0, scale)


@dataclass(frozen=True, eq=False)
class GaussianProcess:
    """One Gaussian process per target, with a common covariance."""

    mean: Annotated[Floats, Stored("f4", MAX_VALUE)]  # (k,) float64 of the columns in training; scale 0 if constant
    scale: Annotated[Floats, Stored("f4", MAX_VALUE)]
    points: Annotated[Floats, Stored("f2", MAX_VALUE)]  # (m, k) float64 standardized, representative rows
    weights: Annotated[Floats, Stored("f4", MAX_VALUE)]  # (m, targets) float64
    base: Floats  # (targets,) float64 value far from all points
    covariance: str = "code"  # name in `COVARIANCES`

    def __post_init__(self) -> None:
        if self.covariance not in COVARIANCES:
            raise InputError(f"covariance is {self.covariance!r:.40}; expected {' or '.join(COVARIANCES)}")
        width, num_points, targets = len(COVARIANCES[self.covariance][0]), len(self.points), self.num_targets
        _check_scale(self, width)
        check_shapes(self, points=(num_points, width), weights=(num_points, targets), base=(targets,))

    @property
    def num_targets(self) -> int:
        """How many numbers it predicts."""
        return len(self.base)

    def predict(self, columns: Floats) -> Floats:
        """(n, targets) float64, ratios compressed."""
        seen = standardize(columns[:, COVARIANCES[self.covariance][0]], self.mean, self.scale, MAX_STANDARD)
        return np.asarray(self.base + _covariance_of(seen, self.points, self.covariance) @ self.weights)


def _covariance_of(a: Floats, b: Floats, name: str) -> Floats:
    """(n, m) float64 between standardized rows."""
    terms = (
        variance * np.exp(-scaled_distances(a[:, columns], b[:, columns]) / length)
        for columns, variance, length in COVARIANCES[name][1]
    )
    return sum(terms, start=np.zeros((len(a), len(b))))


def _fit_process(columns: Floats, targets: Floats, covariance: str, seed: int) -> GaussianProcess:
    """Fit a process to all rows, or to representative ones if there are many (subset of regressors)."""
    from scipy.linalg import cho_factor, cho_solve

    seen = columns[:, COVARIANCES[covariance][0]]
    mean, scale, base = seen.mean(axis=0), _column_scale(seen), targets.mean(axis=0)
    rows = standardize(seen, mean, scale, MAX_STANDARD)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(rows))[:_MAX_POINTS])
    points, rest = rows[chosen], targets - base
    inner = _covariance_of(points, points, covariance)
    if len(points) == len(rows):
        matrix, right = inner + _NOISE * np.eye(len(points)), rest
    else:
        cross = _covariance_of(points, rows, covariance)
        matrix, right = _NOISE * inner + cross @ cross.T + 1e-6 * len(rows) * np.eye(len(points)), cross @ rest
    return GaussianProcess(mean, scale, points, cho_solve(cho_factor(matrix), right), base, covariance)


@dataclass(frozen=True, eq=False)
class LSTMTimes:
    """LSTMs on a kernel's statements, with sizes and a thread's work as auxiliary inputs."""

    ensemble: Annotated[Ensemble, Stored("f2")]  # the networks; their outputs are the targets with compressed ratios
    # (len(LAUNCH),) float64 of those columns in training; scale 0 if constant
    mean: Annotated[Floats, Stored("f4", MAX_VALUE)]
    scale: Annotated[Floats, Stored("f4", MAX_VALUE)]

    def __post_init__(self) -> None:
        _check_scale(self, len(LAUNCH))
        if (found := self.ensemble.members[0].head.num_auxiliary) != len(LAUNCH):
            raise InputError(f"networks take {found} numbers; expected {len(LAUNCH)}")

    @property
    def num_targets(self) -> int:
        """How many numbers it predicts."""
        return self.ensemble.members[0].head.num_outputs

    def predict(self, columns: Floats, sequences: NDArray[np.object_]) -> Floats:
        """(n, targets) float64, ratios compressed, from (n, NUM_COLUMNS) and (n,) of (time, dim) float32 vectors."""
        auxiliary = standardize(columns[:, LAUNCH], self.mean, self.scale, MAX_STANDARD).astype(np.float32)
        result = np.empty((len(columns), self.num_targets))
        kernels, owner = distinct_sequences([sequence[:LONGEST_READ] for sequence in sequences])
        for index, kernel in enumerate(kernels):
            rows = np.flatnonzero(owner == index)
            # a kernel without statements has no vectors
            encoded = self.ensemble.encode(kernel if len(kernel) else np.zeros((1, kernel.shape[1]), np.float32))
            result[rows] = self.ensemble.outputs(encoded, auxiliary[rows]).mean(axis=0)
        return result


def _fit_lstm(columns: Floats, targets: Floats, sequences: NDArray[np.object_], seed: int) -> LSTMTimes:
    from torch import nn

    from ncc.learning.encoder.batches import SequenceData, Sequences
    from ncc.learning.encoder.config import EncoderConfig, HeadConfig
    from ncc.learning.encoder.network import EncoderNetwork, fit_ensemble
    from ncc.learning.training.config import TrainingConfig

    chosen = columns[:, LAUNCH]
    kernels, owner = distinct_sequences([sequence[:LONGEST_READ] for sequence in sequences])
    ends = np.cumsum(list(map(len, kernels)))
    mean, std = targets.mean(axis=0), np.maximum(targets.std(axis=0), 1e-6)
    center, scale = chosen.mean(axis=0), _column_scale(chosen)
    data = SequenceData(
        Sequences.of(np.split(np.arange(ends[-1]), ends[:-1])),
        ((targets - mean) / std).astype(np.float32),
        auxiliary=standardize(chosen, center, scale, MAX_STANDARD).astype(np.float32),
        owner=owner,
        noise=1.0,
    )
    encoder = EncoderConfig(hidden=64, layers=1, pooling=("last", "mean", "max"), last_dropout=0.2)
    head = HeadConfig(dense=128, norm="layer", dropout=0.1)  # normalize over features, since batches have few kernels
    make = partial(EncoderNetwork, np.concatenate(kernels), targets.shape[1], encoder, head, len(LAUNCH))
    epochs = int(np.clip(_STEPS * _BATCH_SIZE // len(columns), *_EPOCHS))
    loop = TrainingConfig(epochs=epochs, batch_size=_BATCH_SIZE)
    seeds = np.random.default_rng(seed).integers(2**31, size=1).tolist()
    ensemble = fit_ensemble(make, data, partial(nn.functional.huber_loss, delta=0.3), loop, seeds)
    ensemble = ensemble.rescaled(mean.astype(np.float32), std.astype(np.float32))
    return LSTMTimes(ensemble, center, scale)


def _fit_trees(columns: Floats, targets: Floats, seed: int) -> Boosted:
    from sklearn.ensemble import HistGradientBoostingRegressor

    varying = np.flatnonzero(np.ptp(columns, axis=0) > 0)
    options: dict[str, Any] = {"loss": "absolute_error", "max_iter": _ITERATIONS, "early_stopping": False}
    options |= {"min_samples_leaf": 5 if len(columns) < 500 else 20, "random_state": seed}
    fitted = [HistGradientBoostingRegressor(**options).fit(columns[:, varying], target) for target in targets.T]
    return trees_of([(index, model, 1.0) for index, model in enumerate(fitted)], varying, len(fitted))


TimesModel = Boosted | GaussianProcess | LSTMTimes


@dataclass(frozen=True, kw_only=True, eq=False)
class Launches(LaunchTimes, KernelFeatures):
    """Launches for training: their times, and their kernels' features."""

    base: Floats | None = None  # (n, d) float64 targets of the machine model if models learn its residuals, else None

    @classmethod
    def of(cls, table: LaunchTimes, features: KernelFeatures) -> Self:
        """Make launches from a table and the features of each row's kernel."""
        return cls(**vars(table), **vars(features))

    @cached_property
    def columns(self) -> Floats:
        """(n, NUM_COLUMNS) float64."""
        return np.nan_to_num(launch_columns(self, self.sizes), posinf=0, neginf=0)

    @cached_property
    def targets(self) -> Floats:
        """(n, d) float64, see `targets_of`."""
        return targets_of(self.log_times)

    def fit(self, kind: Model, rows: Any, seed: int) -> TimesModel:
        """Fit a model to some rows; processes and trees use the work at a launch only with a machine model."""
        columns, targets = self.columns[rows], self.targets[rows]
        if self.base is not None:
            targets = targets - self.base[rows]
        ratios = np.clip(targets[:, 1:], -_MAX_RATIO, _MAX_RATIO)
        if kind == "trees":
            seen = columns[:, :NUM_PUBLISHED] if self.base is None else columns
            return _fit_trees(seen, np.hstack([targets[:, :1], ratios]), seed)
        compressed = np.hstack([targets[:, :1], np.arcsinh(_BEND * ratios)])  # emphasizes signs over large ratios
        if kind == "gp":
            return _fit_process(columns, compressed, "code" if self.base is None else "launch", seed)
        return _fit_lstm(columns, compressed, self.sequences[rows], seed)


def predict_targets(model: TimesModel, columns: Floats, sequences: NDArray[np.object_]) -> Floats:
    """(n, targets) float64 of any model; see `LSTMTimes.predict`."""
    if isinstance(model, Boosted):
        return model.predict(columns)
    result = model.predict(columns, sequences) if isinstance(model, LSTMTimes) else model.predict(columns)
    result[:, 1:] = np.sinh(np.clip(result[:, 1:], -_MAX_COMPRESSED, _MAX_COMPRESSED)) / _BEND  # compressed before
    return result
