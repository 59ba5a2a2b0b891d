"""`TimesHead`: how long a launch takes on each device, from what the kernel does and its sizes, in NumPy.

It has one expert per source of measurements, and the nearest to a kernel answers. With distance from the kernels of
training the machine model's estimate replaces the expert's, and intervals widen from errors on kernels held out to
errors on sources held out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Floats32, Ints
from ncc.errors import AssetError, InputError
from ncc.learning.encoder.network_numpy import Ensemble
from ncc.learning.heads.trees import Boosted
from ncc.tasks.devices.features import (
    CODE,
    LAUNCH,
    NUM_PUBLISHED,
    OPCODE_COLUMNS,
    PROFILE_COLUMNS,
    KernelFeatures,
    check_sizes,
    code_distances,
    launch_columns,
    scaled_distances,
)
from ncc.tasks.devices.physics import MachineModel, launch_terms

INTERVAL = 0.8
LEVELS = np.arange(1, 40) / 40
"""Levels of the quantiles of errors that are kept."""
IN_DOMAIN = 1.0
"""Distance up to which a kernel is familiar: what it does differs by a factor of e."""
LONGEST_READ = 128
"""Statements of a kernel that networks read, the first ones."""
_NUM_NEAREST = 3
_MIN_CHANCE = 1e-6
_MAX_LOG = 100.0
"""A ratio of e^100, or a time of e^100 ms, is out of range."""
_BEND, _MAX_COMPRESSED = 3.0, 5.5
_MAX_STANDARD = 5.0


class _Term(NamedTuple):
    """variance × exp(-distance / length) over some of a process's columns."""

    columns: Ints
    variance: float
    length: float


_OPCODES = _Term(OPCODE_COLUMNS, 1.0, 1.0)
_CODE_AND_LAUNCH = np.r_[0 : CODE.stop, LAUNCH[LAUNCH >= NUM_PUBLISHED]]
COVARIANCES: Mapping[str, tuple[Ints, tuple[_Term, ...]]] = {
    "code": (np.arange(CODE.stop), (_Term(PROFILE_COLUMNS, 1.0, 2.0), _OPCODES)),
    "launch": (
        _CODE_AND_LAUNCH,
        (_Term(np.flatnonzero(np.isin(_CODE_AND_LAUNCH, LAUNCH)), 2.0, 3.0), _OPCODES),
    ),
}
"""Name → columns that a process reads, and terms of its covariance: work at any launch or at this one, and opcodes."""


def compress_ratio(ratio: Floats) -> Floats:
    """Log ratios as smooth models learn them: their sign counts more, and large ones less."""
    return np.arcsinh(_BEND * ratio)


def expand_ratio(compressed: Floats) -> Floats:
    """Undo `compress_ratio`."""
    return np.sinh(np.clip(compressed, -_MAX_COMPRESSED, _MAX_COMPRESSED)) / _BEND


def standardize(columns: Floats, mean: Floats, scale: Floats) -> Floats:
    """Columns minus their mean in units of their scale, clipped so that no line leads out of range; 0 if constant."""
    return np.clip((columns - mean) / np.where(scale > 0, scale, np.inf), -_MAX_STANDARD, _MAX_STANDARD)


def column_scale(columns: Floats) -> Floats:
    """(k,) float64 standard deviations, 0 if constant."""
    return np.where(np.ptp(columns, axis=0) > 0, columns.std(axis=0), 0.0)


@dataclass(frozen=True, eq=False)
class GaussianProcess:
    """A Gaussian process for each target, all of one covariance.

    Attributes:
        mean, scale: (k,) float64 of the columns in training; scale 0 if constant.
        points: (m, k) float64 standardized rows that represent training.
        weights: (m, targets) float64.
        base: (targets,) float64 far from all points.
        covariance: Name in `COVARIANCES`.
    """

    mean: Floats
    scale: Floats
    points: Floats
    weights: Floats
    base: Floats
    covariance: str = "code"

    def standardize(self, columns: Floats) -> Floats:
        """(n, k) float64 the columns that the process reads."""
        return standardize(columns[:, COVARIANCES[self.covariance][0]], self.mean, self.scale)

    def predict(self, columns: Floats, _sequences: NDArray[np.object_] | None = None) -> Floats:
        """(n, targets) float64."""
        result: Floats = (
            self.base + covariance_of(self.standardize(columns), self.points, self.covariance) @ self.weights
        )
        result[:, 1:] = expand_ratio(result[:, 1:])
        return result


def covariance_of(a: Floats, b: Floats, name: str = "code") -> Floats:
    """(n, m) float64 between standardized rows."""
    terms = (
        term.variance * np.exp(-scaled_distances(a[:, term.columns], b[:, term.columns]) / term.length)
        for term in COVARIANCES[name][1]
    )
    return sum(terms, start=np.zeros((len(a), len(b))))


@dataclass(frozen=True, eq=False)
class LSTMTimes:
    """LSTMs that read a kernel's statements, beside sizes and a thread's work at the launch.

    Attributes:
        ensemble: The networks; their outputs are the targets, ratios compressed.
        mean, scale: (len(LAUNCH),) float64 of those columns in training; scale 0 if constant.
    """

    ensemble: Ensemble
    mean: Floats
    scale: Floats

    def auxiliary(self, columns: Floats) -> Floats32:
        """(n, len(LAUNCH)) float32 inputs beside statements."""
        return standardize(columns[:, LAUNCH], self.mean, self.scale).astype(np.float32)

    def predict(self, columns: Floats, sequences: NDArray[np.object_]) -> Floats:
        """(n, targets) float64 from (n, NUM_COLUMNS) and (n,) of (time, dim) float32 vectors of statements."""
        auxiliary = self.auxiliary(columns)
        result = np.empty((len(columns), self.ensemble.members[0].head.num_outputs))
        kernels, owner = distinct_kernels(sequences)
        for index, kernel in enumerate(kernels):
            rows = np.flatnonzero(owner == index)
            # a kernel without any statement has no vectors
            encoded = self.ensemble.encode(kernel if len(kernel) else np.zeros((1, kernel.shape[1]), np.float32))
            result[rows] = self.ensemble.outputs(encoded, auxiliary[rows]).mean(axis=0)
        result[:, 1:] = expand_ratio(result[:, 1:])
        return result


def distinct_kernels(sequences: NDArray[np.object_]) -> tuple[list[Floats32], Ints]:
    """Distinct sequences, cut to what is read, and each row's index among them, (n,).

    Kernels that differ in constants alone, as NPB's by the size of their data, are equal.
    """
    indices: dict[bytes, int] = {}
    kernels: list[Floats32] = []
    seen: dict[int, int] = {}
    for sequence in sequences:
        if id(sequence) not in seen:
            kernel = sequence[:LONGEST_READ]
            index = seen[id(sequence)] = indices.setdefault(kernel.tobytes(), len(kernels))
            if index == len(kernels):
                kernels.append(kernel)
    return kernels, np.array([seen[id(sequence)] for sequence in sequences])


TimesModel = Boosted | GaussianProcess | LSTMTimes


def predict_targets(model: TimesModel, columns: Floats, sequences: NDArray[np.object_]) -> Floats:
    """(n, targets) float64 of any model; see `LSTMTimes.predict`."""
    return model.predict(columns) if isinstance(model, Boosted) else model.predict(columns, sequences)


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors on unseen launches, at `LEVELS`.

    Attributes:
        ratio: (39,) float64 quantiles of the error of a log ratio of two devices.
        times: (devices,) float64 error of a log time that 80% of cases stay within.
        slope: Log ratio measured for each unit predicted, 0 to 1.
        sharpness: Factor of log ratios before the probability of their sign is looked up.
        is_guess: True if no such launch was measured, so that these are priors.
    """

    ratio: Floats
    times: Floats
    slope: float
    sharpness: float = 1.0
    is_guess: bool = False

    def blend(self, other: "Errors", weight: float, stretch: float) -> "Errors":
        """Errors part of the way to larger ones, and stretched."""

        def mix(a: Any, b: Any) -> Any:
            return (1 - weight) * a + weight * np.maximum(a, b)

        slope = (1 - weight) * self.slope + weight * min(self.slope, other.slope)
        sharpness = (1 - weight) * self.sharpness + weight * min(self.sharpness, other.sharpness)
        ratio, times = (stretch * mix(*pair) for pair in ((self.ratio, other.ratio), (self.times, other.times)))
        return Errors(ratio, times, slope, sharpness, other.is_guess if weight else self.is_guess)


@dataclass(frozen=True, eq=False)
class Expert:
    """A model of one source of measurements.

    Attributes:
        source: Its name.
        model: Predicts targets; see `log_times`.
        names: Kernels of training.
        code: (kernels, k) float64 of what they do.
        low, high: (3,) float64 ends of the logarithms of the sizes in training.
        near: Errors on kernels held out.
        far: Errors on sources held out.
        familiar: Distance up to which errors are as on kernels held out.
        strange: Distance at which they are as on sources held out.
        reach: Distances from which the machine model counts, and from which it alone counts.
        beyond_constants: True if the model predicts what the machine model leaves.
        fade: Decay with distance of its correction of the mean time, see `decay_with_distance`.
    """

    source: str
    model: TimesModel
    names: tuple[str, ...]
    code: Floats
    low: Floats
    high: Floats
    near: Errors
    far: Errors
    familiar: float
    strange: float
    reach: tuple[float, float]
    beyond_constants: bool = False
    fade: float = 0.0

    def distances(self, columns: Floats) -> Floats:
        """(n, kernels) float64 of launches from the kernels of training, sizes beyond all of these included."""
        sizes = columns[:, :3]
        beyond = np.maximum(np.maximum(self.low - sizes, sizes - self.high), 0).sum(axis=1) / 2
        return np.hypot(code_distances(columns[:, CODE], self.code), beyond[:, None])

    def blend_prediction(
        self, predicted: Floats, distance: Floats, errors: Sequence[Errors], machine: Floats | None
    ) -> Floats:
        """(n, targets) float64: ratios shrunk by their errors, and the machine model's targets from `reach` on.

        Args:
            predicted: (n, targets) float64 of the model.
            distance: (n,) float64 from training.
            errors: Expected errors of each row.
            machine: (n, targets) float64 of the machine model; None if it does not count.
        """
        slopes = np.array([each.slope for each in errors])[:, None]
        predicted = np.hstack([predicted[:, :1], slopes * predicted[:, 1:]])
        if machine is None:
            return predicted
        weight = np.interp(distance, self.reach, (0, 1))[:, None]
        return (1 - weight) * predicted + weight * machine

    def errors_at(self, distance: float, others: Errors | None = None) -> Errors:
        """Errors to expect at a distance from training; of the machine model too if launches are measured otherwise."""
        excess = max(distance / self.familiar - 1, 0.0)
        if others is not None:
            return self.near.blend(others, float(np.clip(2 * (distance / self.reach[0] - 1), 0, 1)), 1.0)
        weight = excess / (self.strange / self.familiar - 1)
        return self.near.blend(self.far, min(weight, 1.0), 1 + np.log1p(excess) / 10)


def sign_probability(log_ratio: Floats | float, errors: Floats, sharpness: float = 1.0) -> Floats:
    """Probability that a log ratio, (n,) or one, has the right sign if errors of either sign are equally probable.

    Args:
        log_ratio: (n,) or one.
        errors: (39,) float64, see `Errors`.
        sharpness: Factor of ratios; one below 1 rises to 1 where the interval leaves 0.
    """
    size = np.abs(log_ratio)
    decided = np.minimum(size / max(float(np.interp(INTERVAL, LEVELS, errors)), 1e-9), 1)
    factor = sharpness + max(1 - sharpness, 0) * decided**2
    inside = np.interp(size * factor, np.append(0, errors), np.append(0, LEVELS))
    return 0.5 + np.maximum(inside / 2, _MIN_CHANCE)


def decay_with_distance(predicted: Floats, distance: Floats, decay: float) -> Floats:
    """(n, targets) float64 corrections of the machine model; of the mean time's, exp(-decay × distance) remains."""
    return np.hstack([predicted[:, :1] * np.exp(-decay * distance)[:, None], predicted[:, 1:]])


def log_times(targets: Floats) -> Floats:
    """(n, d) log times from targets: their mean, and by how much each device but the first is faster than that."""
    first = targets[:, :1] + targets[:, 1:].sum(axis=1, keepdims=True) / targets.shape[1]
    return np.hstack([first, first - targets[:, 1:]])


@dataclass(frozen=True)
class RatioPrediction:
    """Prediction of log(CPU time / GPU time) for one launch.

    Attributes:
        log_ratio: Positive if the GPU is faster.
        interval: (low, high), which should hold the true value in 80% of cases.
        probability_gpu: Probability that the GPU is faster; above 0.5 if and only if `log_ratio` is positive.
        times_ms: Device → expected time, and both ends of its 80% interval.
        distance: From the kernels of training.
        familiar: Whether that is within what was measured.
        nearest: Names of the nearest kernels of training.
        devices: The two that are compared, the second called GPU here.
    """

    log_ratio: float
    interval: tuple[float, float]
    probability_gpu: float
    times_ms: Mapping[str, tuple[float, ...]]
    distance: float
    familiar: bool
    nearest: tuple[str, ...]
    devices: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TimesHead:
    """Everything that predicts times.

    Attributes:
        devices: Their names.
        experts: One per source.
        physics: The machine model.
        astray: Errors of that on kernels from elsewhere.
        group: Work-group size that stands for an unknown one.
        platform: Name for the answers.
        about: Data, command and scores; no answer needs it.
        embedding_id: Fingerprint of the embedding, if a model reads statements.
    """

    devices: tuple[str, ...]
    experts: tuple[Expert, ...]
    physics: MachineModel
    astray: Errors
    group: float
    platform: str
    about: dict[str, Any] = field(default_factory=dict)
    embedding_id: str | None = None

    def __repr__(self) -> str:
        kernels = sum(len(expert.names) for expert in self.experts)
        return f"TimesHead({self.platform!r}: {', '.join(self.devices)}; {kernels} kernels measured)"

    @property
    def transfer_range(self) -> tuple[float, float]:
        """Smallest and largest transfer in training, in bytes."""
        ends = [np.expm1([expert.low[0], expert.high[0]]) for expert in self.experts]
        return float(np.min(ends)), float(np.max(ends))

    def predict_kernel(
        self,
        features: KernelFeatures,
        transfers: Sequence[float | None],
        wgsize: float | None,
        global_size: float | None = None,
    ) -> list[RatioPrediction]:
        """Predict for one kernel at several sizes of its data.

        A launch of neither bytes nor work-items gets the middle of those in training.
        """
        usual = float(np.sqrt(np.prod(self.transfer_range))) if global_size is None else np.nan
        moved = [usual if transfer is None else transfer for transfer in transfers]
        for transfer in moved:
            check_sizes(None if np.isnan(transfer) else transfer, wgsize)
        rest = [np.nan if size is None else size for size in (wgsize, global_size)]
        sizes = np.array([[transfer, *rest] for transfer in moved])
        return self.predict(features.repeat(len(sizes)), sizes)

    def predict(self, features: KernelFeatures, sizes: Floats, source: str | None = None) -> list[RatioPrediction]:
        """Predict for n launches.

        Args:
            features: Of n kernels.
            sizes: (n, 3) float64 transfer bytes, work-group size, global size; NaN if unknown.
            source: A source of training, whose expert then answers alone, in its way of measuring.

        Raises:
            InputError: Neither bytes nor work-items are known, or there is no such source.
            AssetError: The answer is out of range: the head's file was damaged, or forged.
        """
        sizes = sizes.copy()
        sizes[:, 1] = np.where(np.isfinite(sizes[:, 1]), sizes[:, 1], self.group)
        if np.isnan(sizes[:, [0, 2]]).all(axis=1).any():
            raise InputError("times need the bytes moved or the number of work-items; found neither")
        experts = [expert for expert in self.experts if source in (None, expert.source)]
        if not experts:
            raise InputError(f"no source {source!r}; expected {', '.join(each.source for each in self.experts)}")
        columns, terms = launch_columns(features, sizes), launch_terms(features, sizes)
        machine, unshrunk = self.physics.targets(terms), replace(self.physics, slope=1.0).targets(terms)
        distances = [expert.distances(columns) for expert in experts]
        chosen = np.argmin([distance.min(axis=1) for distance in distances], axis=0)
        answers: dict[int, RatioPrediction] = {}
        for index, expert in enumerate(experts):
            rows = np.flatnonzero(chosen == index)
            predicted = predict_targets(expert.model, columns[rows], features.sequences[rows])
            if expert.beyond_constants:
                code_distance = code_distances(columns[rows, CODE], expert.code).min(axis=1)
                predicted = unshrunk[rows] + decay_with_distance(predicted, code_distance, expert.fade)
            distance = distances[index][rows]
            errors = [expert.errors_at(each, None if source else self.astray) for each in distance.min(axis=1).tolist()]
            blended = expert.blend_prediction(
                predicted, distance.min(axis=1), errors, None if source else machine[rows]
            )
            for row, *launch in zip(rows.tolist(), blended, errors, distance, strict=True):
                answers[row] = self._answer(expert, *launch)
        return [answers[row] for row in range(len(columns))]

    def _answer(self, expert: Expert, targets: Floats, errors: Errors, distances: Floats) -> RatioPrediction:
        distance = float(distances.min())
        logs = log_times(targets[None, :])[0]
        if not np.abs(logs).max() + errors.times.max() < _MAX_LOG:
            raise AssetError(f"the head says that a launch takes e^{np.abs(logs).max():.3g} ms; its file is damaged")
        times = {
            name: tuple(np.exp([log, log - error, log + error]).tolist())
            for name, log, error in zip(self.devices, logs, errors.times, strict=True)
        }
        # two devices: the first and the fastest of the others
        ratio = float(targets[1:].max())
        half = float(np.interp(INTERVAL, LEVELS, errors.ratio))
        if not abs(ratio) + half < _MAX_LOG:
            raise AssetError(
                f"the device-mapping head says that one device is e^{ratio:.3g} times as fast as the other (interval "
                f"{(ratio - half, ratio + half)}); its file is damaged"
            )
        sure = float(sign_probability(ratio, errors.ratio, errors.sharpness))
        familiar = distance <= max(IN_DOMAIN, 1.5 * expert.familiar)
        if not familiar:
            # if errors on kernels from elsewhere were never measured, odds are even until the interval leaves 0
            sure = 0.5 + _MIN_CHANCE if errors.is_guess and abs(ratio) < half else min(sure, 0.5 + INTERVAL / 2)
        # where the odds leave no doubt of the sign, the interval has none either
        ends = np.array([ratio - half, ratio + half])
        if sure >= 0.5 + INTERVAL / 2:
            ends = np.maximum(ends, 0) if ratio > 0 else np.minimum(ends, 0)
        return RatioPrediction(
            log_ratio=ratio,
            interval=(float(ends[0]), float(ends[1])),
            probability_gpu=sure if ratio > 0 else 1 - sure,
            times_ms=times,
            distance=distance,
            familiar=familiar,
            nearest=tuple(expert.names[row] for row in np.argsort(distances, kind="stable")[:_NUM_NEAREST]),
            devices=(self.devices[0], self.devices[1 + int(targets[1:].argmax())]),
        )
