"""`CoarseningHead`: speedups of a kernel at each coarsening factor, from one feature of its IR.

All that was learnt is a straight line for each device and factor, so an answer needs NumPy alone.
"""

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ncc.arrays import Floats
from ncc.errors import AssetError, InputError
from ncc.kernels.reading import Kernel
from ncc.tasks.coarsening.features import coarsening_features

INTERVAL = 0.8
LEAST_SPEEDUP = 0.01
MOST_SPEEDUP = 1e9
SCALES = ("log", "plain")


@dataclass(frozen=True, kw_only=True)
class CoarseningPrediction:
    """What is known of coarsening one kernel on one device.

    Attributes:
        factor: Work-items to merge into one: the factor of the highest expected speedup; 1 means not to coarsen.
        speedup: Expected speedup over no coarsening at that factor.
        interval: (low, high), which held the measured speedup in 80 % of cases, on kernels held out, where the answer
            was to coarsen; (1, 1) where it is not to.
        speedups: Factor → expected speedup, ascending.
        basis: All that the answer rests on, by name, as ``divergent_share``, the share of statements that not all
            work-items run: kernels alike in that get the same answer. Empty where it rests on the whole kernel, or is
            a constant.
        is_constant: Whether the answer is the same for all kernels: no feature foretold what kernels held out gain.
    """

    factor: int
    speedup: float
    interval: tuple[float, float]
    speedups: dict[int, float]
    basis: dict[str, float] = field(default_factory=dict)
    is_constant: bool = False


@dataclass(frozen=True, eq=False)
class CoarseningHead:
    """Lines in one feature of a kernel, for each device and factor.

    Attributes:
        feature_names: Names of the features that a kernel is described by, in order.
        feature: The one that counts.
        devices: Names of the devices, in the order of the tensors' rows; a last row stands for any other device.
        factors: Coarsening factors, ascending, from 1.
        scale: Whether lines give speedups ("plain") or their logarithms ("log").
        offset: (len(devices) + 1, len(factors)) float64, the lines' values where the feature is 0.
        slope: (len(devices) + 1, len(factors)) float64, per unit of the feature.
        spread: (2,) float64: measured over expected speedup of kernels held out, 10 % and 90 % quantile.
        about: Data, command and scores, as the card in the JSON file.
    """

    feature_names: tuple[str, ...]
    feature: str
    devices: tuple[str, ...]
    factors: tuple[int, ...]
    scale: str
    offset: Floats
    slope: Floats
    spread: Floats
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks that the parts fit each other."""
        shape = (len(self.devices) + 1, len(self.factors))
        if self.offset.shape != shape or self.slope.shape != shape:
            raise InputError(f"lines {self.offset.shape} and {self.slope.shape}")
        if not all(np.isfinite(array).all() for array in (self.offset, self.slope)):
            raise InputError("a number is not finite")
        if self.feature_names.count(self.feature) != 1 or self.scale not in SCALES:
            raise InputError(f"feature {self.feature!r:.80}, scale {self.scale!r:.80}")
        check_axes(self.devices, self.factors, self.spread)

    def __repr__(self) -> str:
        return f"CoarseningHead({', '.join(self.devices)}: factors {', '.join(map(str, self.factors))})"

    def answer(self, kernel: Kernel, device: str | None = None) -> CoarseningPrediction:
        """`predict` for a kernel that was read."""
        return self.predict(coarsening_features(kernel.module, kernel.function), device)

    def predict(self, features: Floats, device: str | None = None) -> CoarseningPrediction:
        """Predicts for one kernel.

        Args:
            features: (len(feature_names),) float64, the kernel's features.
            device: One of ``devices``; None for what all of them together would say.

        Raises:
            InputError: The device is not known, or the features are not so many or not finite.
            AssetError: The lines lead beyond all numbers.
        """
        if device is not None and device not in self.devices:
            raise InputError(f"no device {device!r}; expected one of {', '.join(self.devices)}")
        if features.shape != (len(self.feature_names),) or not np.isfinite(features).all():
            raise InputError(f"expected {len(self.feature_names)} finite features, found shape {features.shape}")
        row = len(self.devices) if device is None else self.devices.index(device)
        feature = float(features[self.feature_names.index(self.feature)])
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.offset[row] + self.slope[row] * feature
            speedups = np.maximum(np.exp(values) if self.scale == "log" else values, LEAST_SPEEDUP)
        constant = not self.slope.any()
        basis = {} if constant else {self.feature: feature}
        return replace(best_factor(speedups, self.factors, self.spread), basis=basis, is_constant=constant)


def best_factor(speedups: Floats, factors: tuple[int, ...], spread: Floats) -> CoarseningPrediction:
    """The prediction that expected speedups at all factors come to.

    Raises:
        AssetError: A speedup is beyond all that there is.
    """
    best = int(np.argmax(speedups))
    speedup = float(speedups[best])
    if not speedup < MOST_SPEEDUP:
        raise AssetError(
            f"the thread-coarsening head says that factor {factors[best]} is {speedup:g} times as fast; "
            "its file is damaged"
        )
    low, high = (speedup * spread).tolist() if best else (1.0, 1.0)
    by_factor = dict(zip(factors, speedups.tolist(), strict=True))
    return CoarseningPrediction(factor=factors[best], speedup=speedup, interval=(low, high), speedups=by_factor)


def check_axes(devices: tuple[str, ...], factors: tuple[int, ...], spread: Floats) -> None:
    """Refuses a device that is there twice, factors that do not ascend from 1, and a spread of no speedups.

    Raises:
        InputError: One is so.
    """
    if len(set(devices)) < len(devices):
        raise InputError(f"devices are {devices!s:.80}; expected each once")
    if factors[:1] != (1,) or any(one >= other for one, other in itertools.pairwise(factors)):
        raise InputError(f"factors are {factors!s:.80}; expected whole numbers, ascending, from 1")
    if spread.shape != (2,) or not 0 < spread[0] <= spread[1] <= MOST_SPEEDUP:
        raise InputError(f"spread is {spread}; expected two ascending numbers above 0")
