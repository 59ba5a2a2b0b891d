"""`TimesHead`: how long a launch takes on each device, from what the kernel does and its sizes, in NumPy.

Experts, one for each source of measurements, each with what it was told of kernels and how far it erred on others. A
kernel is answered by the expert whose kernels are nearest; the farther it is from them, the more the constants of the
machine have a say instead, and the wider the intervals, from errors on kernels held out to those on sources held out.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ncc.arrays import Floats
from ncc.errors import AssetError, InputError
from ncc.kernels.reading import Kernel
from ncc.tasks.devices.columns import CODE, code_distances, launch_columns, launch_physics
from ncc.tasks.devices.features import (
    INTERVAL,
    KernelInputs,
    RatioPrediction,
    check_sizes,
    checked_ratio,
    kernel_inputs,
)
from ncc.tasks.devices.head import TimesModel, predict_targets
from ncc.tasks.devices.physics import Physics

LEVELS = np.arange(1, 40) / 40
"""Levels of the quantiles of errors that are kept."""
_NEAREST = 3
_CHANCE = 1e-6
_LARGEST_LOG = 100.0
FAMILIAR = 1.0
"""Distance up to which kernels are like others: what they do differs by a factor of e."""


@dataclass(frozen=True, eq=False)
class Errors:
    """How far an expert erred on launches that it had not seen, at `LEVELS`.

    Attributes:
        ratio: (39,) float64 quantiles of the error of a log ratio of two devices.
        times: (devices,) float64: what holds the error of a log time in 80 % of cases.
        slope: Log ratio measured for each unit predicted, 0 to 1.
        sharpness: By how much log ratios are multiplied before it is asked how probably they have the right sign.
        is_guess: Whether no such launches were there, so that the numbers are what is usual elsewhere.
    """

    ratio: Floats
    times: Floats
    slope: float
    sharpness: float = 1.0
    is_guess: bool = False

    def towards(self, other: "Errors", share: float, stretch: float) -> "Errors":
        """Errors part of the way to others, and stretched."""

        def mix(a: Any, b: Any) -> Any:
            return (1 - share) * a + share * np.maximum(a, b)

        slope = (1 - share) * self.slope + share * min(self.slope, other.slope)
        sharpness = (1 - share) * self.sharpness + share * min(self.sharpness, other.sharpness)
        ratio, times = (stretch * mix(one, two) for one, two in ((self.ratio, other.ratio), (self.times, other.times)))
        return Errors(ratio, times, slope, sharpness, other.is_guess if share else self.is_guess)


@dataclass(frozen=True, eq=False)
class Expert:
    """What was learnt from one source of measurements.

    Attributes:
        source: Its name.
        model: Says log times; see `times_of`.
        names: Kernels that it was trained on.
        code: (kernels, k) float64 of what they do.
        low, high: (3,) float64 ends of the logarithms of the sizes in training.
        near: Errors on kernels held out.
        far: Errors on sources held out.
        familiar: Distance up to which errors are as on kernels held out.
        strange: Distance at which they are as on sources held out.
        reach: Distances from which the machine's constants have a say, and from which they alone have.
        beyond_constants: Whether the model says what these leave, to be added to what they say.
        fade: How fast what it then says of the mean time loses weight with a kernel's distance, see `faded`.
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
        """(n, kernels) float64 of launches from the kernels of training, with how far sizes are beyond all of them."""
        sizes = columns[:, :3]
        beyond = np.maximum(np.maximum(self.low - sizes, sizes - self.high), 0).sum(axis=1) / 2
        return np.hypot(code_distances(columns[:, CODE], self.code), beyond[:, None])

    def centre(self, said: Floats, distance: Floats, errors: Sequence[Errors], physics: Floats | None) -> Floats:
        """What is answered, from what the model said: ratios shrunk as errors have it, and constants from `reach` on.

        Args:
            said: (n, targets) float64.
            distance: (n,) float64 from training.
            errors: Those to expect, one each.
            physics: (n, targets) float64 by the machine's constants; None where they have no say.

        Returns:
            (n, targets) float64.
        """
        slopes = np.array([one.slope for one in errors])[:, None]
        said = np.hstack([said[:, :1], slopes * said[:, 1:]])
        if physics is None:
            return said
        share = np.interp(distance, self.reach, (0, 1))[:, None]
        return (1 - share) * said + share * physics

    def errors_at(self, distance: float, others: Errors | None = None) -> Errors:
        """What errors to expect so far from training; of launches measured in another way, towards those of others."""
        excess = max(distance / self.familiar - 1, 0.0)
        if others is not None:
            return self.near.towards(others, float(np.clip(2 * (distance / self.reach[0] - 1), 0, 1)), 1.0)
        share = excess / (self.strange / self.familiar - 1)
        return self.near.towards(self.far, min(share, 1.0), 1 + np.log1p(excess) / 10)


def sureness(log_ratio: Floats | float, errors: Floats, sharpness: float = 1.0) -> Floats:
    """Probability that a log ratio has the right sign, if errors of either sign are as probable as each other.

    Args:
        log_ratio: (n,) or one.
        errors: (39,) float64, see `Errors`.
        sharpness: By how much ratios are multiplied first; of less than 1 it ends where the interval leaves 0.
    """
    size = np.abs(log_ratio)
    decided = np.minimum(size / max(float(np.interp(INTERVAL, LEVELS, errors)), 1e-9), 1)
    factor = sharpness + max(1 - sharpness, 0) * decided**2
    inside = np.interp(size * factor, np.append(0, errors), np.append(0, LEVELS))
    return 0.5 + np.maximum(inside / 2, _CHANCE)


def faded(said: Floats, distance: Floats, fade: float) -> Floats:
    """What a model says beyond the machine's constants, where kernels are so far from those that it learnt from.

    Args:
        said: (n, targets) float64; of the mean time exp(-fade × distance) is left, ratios stay.
        distance: (n,) float64.
        fade: 0 leaves all as it is.
    """
    return np.hstack([said[:, :1] * np.exp(-fade * distance)[:, None], said[:, 1:]])


def times_of(said: Floats) -> Floats:
    """(n, d) log times from targets: their mean, and by how much each device but the first is faster than that."""
    first = said[:, :1] + said[:, 1:].sum(axis=1, keepdims=True) / said.shape[1]
    return np.hstack([first, first - said[:, 1:]])


@dataclass(frozen=True, eq=False)
class TimesHead:
    """All that it takes to predict times.

    Attributes:
        devices: Their names.
        experts: One a source.
        physics: The devices by their constants.
        astray: Errors of that on kernels from elsewhere.
        group: Work-group size that stands for one that is not given.
        platform: Name for the answers.
        about: Data, command and scores; nothing that an answer needs.
        embedding_id: Fingerprint of the embedding, if a model reads statements.
    """

    devices: tuple[str, ...]
    experts: tuple[Expert, ...]
    physics: Physics
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

    def answers(
        self,
        kernel: Kernel,
        transfers: Sequence[float | None],
        wgsize: float | None,
        without: Collection[int] = (),
        global_size: float | None = None,
    ) -> list[RatioPrediction]:
        """`predict` for a kernel that was read, at several sizes of its data, as if some statements did nothing.

        A launch of neither bytes nor work-items gets those in the middle of what was seen in training.
        """
        usual = float(np.sqrt(np.prod(self.transfer_range))) if global_size is None else np.nan
        moved = [usual if each is None else each for each in transfers]
        for each in moved:
            check_sizes(None if np.isnan(each) else each, wgsize)
        known = [np.nan if one is None else one for one in (wgsize, global_size)]
        sizes = np.array([[each, *known] for each in moved])
        return self.predict(kernel_inputs(kernel, without).repeat(len(sizes)), sizes)

    def predict(self, inputs: KernelInputs, sizes: Floats, source: str | None = None) -> list[RatioPrediction]:
        """Predicts for n launches.

        Args:
            inputs: Of n rows.
            sizes: (n, 3) float64 transfer bytes, work-group size, global size; NaN where not known.
            source: Whose way of measuring is asked for, a source of training; its expert then answers alone.

        Raises:
            InputError: Neither bytes nor work-items are known, or there is no such source.
            AssetError: The answer is not a ratio that two devices can have: the head's file was damaged, or forged.
        """
        sizes = sizes.copy()
        sizes[:, 1] = np.where(np.isfinite(sizes[:, 1]), sizes[:, 1], self.group)
        if np.isnan(sizes[:, [0, 2]]).all(axis=1).any():
            raise InputError("times need the bytes moved or the number of work-items; found neither")
        experts = [expert for expert in self.experts if source in (None, expert.source)]
        if not experts:
            raise InputError(f"no source {source!r}; expected {', '.join(one.source for one in self.experts)}")
        columns, terms = launch_columns(inputs, sizes), launch_physics(inputs, sizes)
        physics, constants = self.physics.targets(terms), replace(self.physics, slope=1.0).targets(terms)
        distances = [expert.distances(columns) for expert in experts]
        chosen = np.argmin([distance.min(axis=1) for distance in distances], axis=0)
        answers: list[RatioPrediction | None] = [None] * len(columns)
        for number, expert in enumerate(experts):
            rows = np.flatnonzero(chosen == number)
            said = predict_targets(expert.model, columns[rows], inputs.sequences[rows])
            if expert.beyond_constants:
                apart = code_distances(columns[rows, CODE], expert.code).min(axis=1)
                said = constants[rows] + faded(said, apart, expert.fade)
            distance = distances[number][rows]
            errors = [expert.errors_at(one, None if source else self.astray) for one in distance.min(axis=1).tolist()]
            said = expert.centre(said, distance.min(axis=1), errors, None if source else physics[rows])
            for row, *own in zip(rows.tolist(), said, errors, distance, strict=True):
                answers[row] = self._answer(expert, *own)
        return [checked_ratio(answer) for answer in answers if answer is not None]

    def _answer(self, expert: Expert, said: Floats, errors: Errors, distances: Floats) -> RatioPrediction:
        distance = float(distances.min())
        logs = times_of(said[None, :])[0]
        if not np.abs(logs).max() + errors.times.max() < _LARGEST_LOG:
            raise AssetError(f"the head says that a launch takes e^{np.abs(logs).max():.3g} ms; its file is damaged")
        times = {
            name: tuple(np.exp([log, log - error, log + error]).tolist())
            for name, log, error in zip(self.devices, logs, errors.times, strict=True)
        }
        # two devices: the first and the fastest of the others
        ratio = float(said[1:].max())
        devices = (self.devices[0], self.devices[1 + int(said[1:].argmax())])
        half = float(np.interp(INTERVAL, LEVELS, errors.ratio))
        sure = float(sureness(ratio, errors.ratio, errors.sharpness))
        familiar = distance <= max(FAMILIAR, 1.5 * expert.familiar)
        if not familiar:
            # where it was never seen how far kernels from elsewhere err, odds are even until the interval leaves 0
            sure = 0.5 + _CHANCE if errors.is_guess and abs(ratio) < half else min(sure, 0.5 + INTERVAL / 2)
        # where the odds leave no doubt of the sign, the interval has none either
        ends = np.array([ratio - half, ratio + half])
        if sure >= 0.5 + INTERVAL / 2:
            ends = np.maximum(ends, 0) if ratio > 0 else np.minimum(ends, 0)
        nearest = np.argsort(distances, kind="stable")[:_NEAREST]
        return RatioPrediction(
            ratio,
            (float(ends[0]), float(ends[1])),
            sure if ratio > 0 else 1 - sure,
            times_ms=times,
            distance=distance,
            familiar=familiar,
            nearest=tuple(expert.names[one] for one in nearest),
            devices=devices,
        )
