"""`TimesHead`: the time of a launch on each device, from the kernel's work and sizes, in NumPy.

It has one expert per source of measurements, and the nearest to a kernel answers. With distance from the training
kernels the machine model's estimate replaces the expert's, and intervals widen from errors on held-out kernels to
errors on held-out sources.
"""

import math
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
from msgspec import Meta

from ncc.arrays import Floats
from ncc.errors import AssetError, InputError
from ncc.learning.heads.files import DISTINCT, ModelFormat, Stored, check_shapes
from ncc.learning.heads.trees import Boosted
from ncc.system.files.hub import Shareable
from ncc.tasks.devices.features import CODE, NUM_COLUMNS, KernelFeatures, code_distances, launch_columns, launch_terms
from ncc.tasks.devices.models import MAX_VALUE, LSTMTimes, MachineModel, TimesModel, correct, log_times, predict_targets
from ncc.tasks.devices.prediction import MACHINES, DevicePrediction

Platform = Literal["amd", "nvidia"]
PLATFORMS: tuple[Platform, ...] = get_args(Platform)
INTERVAL = 0.8
LEVELS = np.arange(1, 40) / 40
"""Levels of the stored quantiles of errors."""
IN_DOMAIN = 1.0
"""Distance up to which a kernel is familiar: its work differs by a factor of e."""
_NUM_NEAREST = 3
_MIN_CHANCE = 1e-6
_MAX_LOG = 100.0
"""Limit of the logarithms of ratios and of times in ms."""
_Distance = Annotated[float, Meta(ge=1e-3, le=MAX_VALUE)]


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors on unseen launches, at `LEVELS`."""

    ratio: Floats  # (39,) float64 quantiles of the error of a log ratio of two devices
    times: Floats  # (devices,) float64 error of a log time that 80% of cases stay within
    ratio_shrinkage: Annotated[float, Meta(ge=0, le=1)]  # slope of measured over predicted log ratios, 0 to 1
    # factor of log ratios before the lookup of their sign's probability
    inverse_temperature: Annotated[float, Meta(gt=0, le=100)] = 1.0
    is_prior: bool = False  # true for priors, if no such launch was measured

    def __post_init__(self) -> None:
        check_shapes(self, ratio=LEVELS.shape, times=(len(self.times),))
        if (self.times < 0).any() or (np.diff(self.ratio, prepend=0) < 0).any():
            raise InputError("errors of times are below 0, or errors of the ratio descend")

    def blend(self, other: "Errors", weight: float, stretch: float) -> "Errors":
        """Interpolate to larger errors, and scale the result."""

        def mix(a: Any, b: Any, larger: Any = np.maximum) -> Any:
            return (1 - weight) * a + weight * larger(a, b)

        return Errors(
            stretch * mix(self.ratio, other.ratio),
            stretch * mix(self.times, other.times),
            mix(self.ratio_shrinkage, other.ratio_shrinkage, min),
            mix(self.inverse_temperature, other.inverse_temperature, min),
            other.is_prior if weight else self.is_prior,
        )


@dataclass(frozen=True, eq=False)
class Expert:
    """A model of one source of measurements."""

    source: str
    model: TimesModel  # predicts targets; see `log_times`
    names: Annotated[tuple[str, ...], Meta(min_length=1)]  # name of the kernel of each row of code
    code: Annotated[Floats, Stored("f2", MAX_VALUE)]  # (n, k) float64 features of code, for each compiler
    low: Annotated[Floats, Stored(bound=_MAX_LOG)]  # (3,) float64 limits of the logarithms of sizes in training
    high: Annotated[Floats, Stored(bound=_MAX_LOG)]
    errors_in_domain: Errors  # on kernels held out
    errors_out_of_domain: Errors  # on held-out sources
    in_domain_radius: _Distance  # distance up to which errors are as on held-out kernels
    out_of_domain_radius: _Distance  # distance from which they are as on held-out sources
    # distances from which the machine model is blended in, and from which it is used alone
    blend_range: tuple[_Distance, _Distance]
    is_residual: bool = False  # true if the model predicts residuals of the machine model
    # "at": (k,) float64 ascending mean log times, "scale": (k, 1 + devices) factors of errors there, that of the ratio
    # first; nothing if errors are alike at all times
    errors_by_time: Annotated[dict[str, Floats], Stored(bound=_MAX_LOG)] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.errors_by_time:
            at, scale = self.errors_by_time["at"], self.errors_by_time["scale"]
            if at.ndim != 1 or not at.size or scale.shape != (at.size, 1 + self.model.num_targets):
                raise InputError(f"errors by time have shapes {at.shape} and {scale.shape}, which don't match")
            if (scale < 0).any() or (np.diff(at) < 0).any():
                raise InputError("errors by time are below 0, or their times descend")
        check_shapes(self, code=(len(self.names), CODE.stop - CODE.start), low=(3,), high=(3,))
        if (self.low > self.high).any():
            raise InputError("the smallest size is above the largest")
        for start, end in (self.blend_range, (self.in_domain_radius, self.out_of_domain_radius)):
            if not start < end:
                raise InputError(f"distances are {start:g} and {end:g}; expected ascending ones")

    def distances(self, columns: Floats) -> Floats:
        """(n, kernels) float64 distances of launches from the training kernels, including sizes beyond all of these."""
        sizes = columns[:, :3]
        beyond = np.maximum(np.maximum(self.low - sizes, sizes - self.high), 0).sum(axis=1) / 2
        return np.hypot(code_distances(columns[:, CODE], self.code), beyond[:, None])

    def _at_time(self, errors: Errors, log_time: float) -> Errors:
        if not self.errors_by_time:
            return errors
        ratio, *times = (np.interp(log_time, self.errors_by_time["at"], row) for row in self.errors_by_time["scale"].T)
        return replace(errors, ratio=ratio * errors.ratio, times=np.array(times) * errors.times)

    def errors_at(self, distance: float, log_time: float, others: Errors | None = None) -> Errors:
        """Expected errors at a distance from training; at least the machine model's if measured differently."""
        in_domain = self._at_time(self.errors_in_domain, log_time)
        if others is not None:
            weight = float(np.clip(2 * (distance / self.blend_range[0] - 1), 0, 1))
            return in_domain.blend(others if others.is_prior else self._at_time(others, log_time), weight, 1.0)
        excess = max(distance / self.in_domain_radius - 1, 0.0)
        weight = excess / (self.out_of_domain_radius / self.in_domain_radius - 1)
        return in_domain.blend(self.errors_out_of_domain, min(weight, 1.0), 1 + np.log1p(excess) / 10)


def sign_probability(log_ratio: Floats | float, errors: Floats, inverse_temperature: float = 1.0) -> Floats:
    """Probability that log ratios, scalar or (n,), have the right sign if both signs of errors are equally probable."""
    size = np.abs(log_ratio)
    # a factor of ratios below 1 increases to 1 as the interval leaves 0
    decided = np.minimum(size / max(float(np.interp(INTERVAL, LEVELS, errors)), 1e-9), 1)
    factor = inverse_temperature + max(1 - inverse_temperature, 0) * decided**2
    inside = np.interp(size * factor, np.append(0, errors), np.append(0, LEVELS))
    return 0.5 + np.maximum(inside / 2, _MIN_CHANCE)


@dataclass(frozen=True, eq=False)
class TimesHead(Shareable):
    """A trained predictor of times."""

    _noun = "device_head"

    # a single one can be compared with a GPU's data sheet
    devices: Annotated[tuple[str, ...], Meta(min_length=1), DISTINCT]
    experts: tuple[Expert, ...]  # one per source
    machine: MachineModel
    machine_model_errors: Errors  # its errors on kernels from other sources
    wgsize: Annotated[float, Meta(ge=1, le=1 << 16)]  # work-group size that replaces an unknown one
    platform: str  # name in answers
    card: dict[str, Any] = field(default_factory=dict)  # data, command and scores; not needed for answers
    embedding_id: str | None = None  # fingerprint of the embedding, if a model reads statements

    def __post_init__(self) -> None:
        counts = {len(self.machine.constants), len(self.machine_model_errors.times)}
        for expert in self.experts:
            model, errors = expert.model, (expert.errors_in_domain, expert.errors_out_of_domain)
            counts |= {model.num_targets, *(len(each.times) for each in errors)}
            if isinstance(model, Boosted) and model.column.max() >= NUM_COLUMNS:
                raise InputError("trees read columns that the head does not have")
            if isinstance(model, LSTMTimes) and self.embedding_id is None:
                raise InputError("a model reads statements, but no embedding is named")
        if not self.experts or counts != {len(self.devices)}:
            raise InputError(f"expected models, constants and errors of {len(self.devices)} devices")

    def _save(self, folder: Path) -> None:
        FORMAT.save(self, folder)

    def __repr__(self) -> str:
        kernels = sum(len({*expert.names}) for expert in self.experts)
        return f"TimesHead({self.platform!r}: {', '.join(self.devices)}; {kernels} kernels measured)"

    @property
    def transfer_range(self) -> tuple[float, float]:
        """Smallest and largest transfer in training, in bytes."""
        ends = [np.expm1([expert.low[0], expert.high[0]]) for expert in self.experts]
        return float(np.min(ends)), float(np.max(ends))

    def predict(self, features: KernelFeatures, sizes: Floats, as_measured: bool = False) -> list[DevicePrediction]:
        """Predict for n launches, sizes as for `launch_columns`; by experts alone if measured like theirs."""
        sizes = sizes.copy()
        sizes[:, 1] = np.where(np.isfinite(sizes[:, 1]), sizes[:, 1], self.wgsize)
        if np.isnan(sizes[:, [0, 2]]).all(axis=1).any():
            raise InputError("times need the bytes moved or the number of work-items; found neither")
        columns, terms = launch_columns(features, sizes), launch_terms(features, sizes)
        machine, unshrunk = self.machine.targets(terms), replace(self.machine, ratio_shrinkage=1.0).targets(terms)
        distances = [expert.distances(columns) for expert in self.experts]
        chosen = np.argmin([distance.min(axis=1) for distance in distances], axis=0)
        others = None if as_measured else self.machine_model_errors
        answers: dict[int, DevicePrediction] = {}
        for index, expert in enumerate(self.experts):
            rows = np.flatnonzero(chosen == index)
            predicted = predict_targets(expert.model, columns[rows], features.sequences[rows])
            if expert.is_residual:
                code_distance = code_distances(columns[rows, CODE], expert.code).min(axis=1)
                predicted = correct(unshrunk[rows], predicted, code_distance)
            nearest = distances[index][rows].min(axis=1)
            errors = [expert.errors_at(*each, others) for each in zip(nearest, predicted[:, 0], strict=True)]
            predicted[:, 1:] *= np.array([each.ratio_shrinkage for each in errors])[:, None]
            if not as_measured:
                weight = np.interp(nearest, expert.blend_range, (0, 1))[:, None]
                predicted = (1 - weight) * predicted + weight * machine[rows]
            for row, *launch in zip(rows.tolist(), predicted, errors, distances[index][rows], strict=True):
                answers[row] = self._answer(expert, *launch)
        return [answers[row] for row in range(len(columns))]

    def _answer(self, expert: Expert, targets: Floats, errors: Errors, distances: Floats) -> DevicePrediction:
        distance = float(distances.min())
        logs = log_times(targets[None, :])[0]
        # two devices: the first, and the fastest of the others if there are any
        fastest = int(targets[1:].argmax()) + 1 if len(targets) > 1 else 0
        ratio, half = float(targets[fastest] if fastest else 0), float(np.interp(INTERVAL, LEVELS, errors.ratio))
        if not max(np.abs(logs).max() + errors.times.max(), abs(ratio) + half) < _MAX_LOG:
            raise AssetError(f"the head is damaged: it predicts e^{logs.max():.3g} ms, and a ratio of e^{ratio:.3g}")
        times = {
            name: tuple(np.exp([log, log - error, log + error]).tolist())
            for name, log, error in zip(self.devices, logs, errors.times, strict=True)
        }
        # interval and probability are of one distribution: the interval leaves 0 at a probability of 0.9
        near = half / max(errors.inverse_temperature, 1)
        sure = float(sign_probability(ratio, errors.ratio, errors.inverse_temperature))
        familiar = distance <= max(IN_DOMAIN, 1.5 * expert.in_domain_radius)
        if not familiar:
            # without measured errors on kernels from other sources, odds are even until the interval leaves 0
            sure = 0.5 + _MIN_CHANCE if errors.is_prior and abs(ratio) < near else min(sure, 0.5 + INTERVAL / 2)
        ends = (ratio - near, ratio + half) if ratio > 0 else (ratio - half, ratio + near)
        devices = self.devices[0], self.devices[fastest]
        names = dict.fromkeys(expert.names[row] for row in np.argsort(distances, kind="stable"))
        return DevicePrediction(
            device=devices[ratio > 0],
            confidence=sure,
            speedup_gpu_over_cpu=math.exp(ratio),
            interval=(math.exp(ends[0]), math.exp(ends[1])),
            platform=self.platform,
            times_ms=times,
            familiar=familiar,
            distance=distance,
            nearest=tuple(names)[:_NUM_NEAREST],
            devices=devices,
            machines=MACHINES.get(self.platform, {}),
        )


FORMAT: ModelFormat[TimesHead] = ModelFormat(
    "device-mapping head", 4, Annotated[TimesHead, Stored(bound=MAX_VALUE)], "ncc train devmap"
)


def check_platform(platform: str) -> str:
    """Return a known platform, or raise InputError."""
    if platform not in PLATFORMS:
        known = f"expected one of {', '.join(PLATFORMS)}, the published machines"
        raise InputError(f"platform is {platform!r}; {known}. For another one: ncc calibrate -o mine, then --head mine")
    return platform


def load_device_head(
    folder: TimesHead | str | os.PathLike[str] | None = None, *, platform: str | None = None
) -> TimesHead:
    """Read a head that predicts the faster device; a loaded one is returned unchanged.

    Args:
        folder: Folder written by ``save`` or ``ncc train devmap``, "lstm" for the networks that ship, or name, such as
            "org/name@revision", of a repository on the Hugging Face hub; default: processes and trees.
        platform: Platform of the shipped head: "amd" (Tahiti 7970) or "nvidia" (GTX 970); default: nvidia.

    Raises:
        InputError: The platform is unknown.
        AssetError: A file is missing, damaged, or of another format version.
    """
    return FORMAT.load(folder, f"devmap/{check_platform(platform or PLATFORMS[-1])}")
