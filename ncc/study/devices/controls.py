"""Controls for device mapping: what is reached without a model, without code, or with opcode counts.

Every learned result must stand beside these. A method sees the answers of training rows only.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from ncc.devices.samples import DeviceMappingSamples
from ncc.errors import InputError
from ncc.study.runs import Method

__all__ = [
    "Constant",
    "DeviceMethod",
    "Majority",
    "TreeConfig",
    "TreeMethod",
    "auxiliary_trees",
    "numeric_trees",
    "opcode_forest",
    "random_vector_forest",
    "standard_controls",
]

Features = Callable[[DeviceMappingSamples, int], NDArray[np.float64]]
"""From samples and a seed to a matrix, (n, k) float64. It must not read answers, and must be picklable."""

Target = Literal["label", "log_ratio"]


class DeviceMethod(Method[DeviceMappingSamples], Protocol):
    """What can be measured on device mapping: a control, a published method run again, or one of ours."""

    def predict(self, samples: DeviceMappingSamples, test_idx: NDArray[np.int64], /) -> NDArray[np.float64]:
        """Returns what is known of log(CPU time / GPU time) of the rows `test_idx`, (m,) int64.

        One number a row, (m,) or (m, 1): the log ratio, positive where the GPU is faster, or a score of that sign of a
        method that knows no ratios; 0 stands for the CPU. Three, (m, 3): median, low and high end of the interval that
        should hold the measured value in 80 % of rows. Four, (m, 4): also the probability that the GPU is faster. The
        first number alone decides on the device.
        """


class Constant:
    """Always the same device."""

    def __init__(self, *, is_gpu: bool) -> None:
        self.name = "always GPU" if is_gpu else "always CPU"
        self.identity = is_gpu
        self._score = 1.0 if is_gpu else -1.0

    def fit(self, _samples: DeviceMappingSamples, _train_idx: NDArray[np.int64], _rng: np.random.Generator, /) -> None:
        """Learn nothing."""

    def predict(self, _samples: DeviceMappingSamples, test_idx: NDArray[np.int64], /) -> NDArray[np.float64]:
        """Return +1 (GPU) or -1 (CPU) for each row, (m,) float64."""
        return np.full(len(test_idx), self._score)


class Majority:
    """The device that is faster in most training rows; the CPU in a tie."""

    name = "majority"
    identity = None

    def __init__(self) -> None:
        self._score = 0.0

    def fit(self, samples: DeviceMappingSamples, train_idx: NDArray[np.int64], _rng: np.random.Generator, /) -> None:
        """Count the labels of the training rows."""
        self._score = float(samples.is_gpu[train_idx].mean()) - 0.5

    def predict(self, _samples: DeviceMappingSamples, test_idx: NDArray[np.int64], /) -> NDArray[np.float64]:
        """Return the training rows' share of GPU less one half, (m,) float64."""
        return np.full(len(test_idx), self._score)


@dataclass(frozen=True, kw_only=True)
class TreeConfig:
    """Size of the forests.

    Args:
        num_trees: Trees per forest, at least 1.
        num_jobs: Processor cores to use, at least 1.

    Raises:
        InputError: A value is out of range.
    """

    num_trees: int = 300
    num_jobs: int = 1

    def __post_init__(self) -> None:
        for name in ("num_trees", "num_jobs"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}: expected at least 1, found {getattr(self, name)}")


class TreeMethod:
    """A forest of trees on features that need no learning.

    Args:
        name: Name for tables.
        features: What the trees see; options and arrays in its attributes are part of the method's identity.
        learner: "extra" (extremely randomised trees) or "random" (random forest).
        target: "label" to classify, "log_ratio" to regress log(CPU time / GPU time).
        config: Size of the forest; None for the defaults.
    """

    def __init__(
        self,
        name: str,
        features: Features,
        *,
        learner: Literal["extra", "random"],
        target: Target = "label",
        config: TreeConfig | None = None,
    ) -> None:
        self.name = name
        self._features = features
        self._learner = learner
        self._target = target
        self._config = config or TreeConfig()
        if target == "label":
            self._kind = ExtraTreesClassifier if learner == "extra" else RandomForestClassifier
        else:
            self._kind = ExtraTreesRegressor if learner == "extra" else RandomForestRegressor

    @property
    def identity(self) -> Any:
        """Features, with what they were given, and what the forest is; not how many cores grow it."""
        return self._features, self._learner, self._target, self._config.num_trees

    def fit(self, samples: DeviceMappingSamples, train_idx: NDArray[np.int64], rng: np.random.Generator, /) -> None:
        """Grow a new forest on the training rows."""
        self._feature_seed, seed = (int(value) for value in rng.integers(2**31, size=2))
        features = self._features(samples, self._feature_seed)[train_idx]
        answers = samples.is_gpu if self._target == "label" else samples.log_ratio
        model = self._kind(self._config.num_trees, random_state=seed, n_jobs=self._config.num_jobs)
        self._model = model.fit(features, answers[train_idx])

    def predict(self, samples: DeviceMappingSamples, test_idx: NDArray[np.int64], /) -> NDArray[np.float64]:
        """Return predicted log ratios, or the probability of GPU less one half, (m,) float64."""
        features = self._features(samples, self._feature_seed)[test_idx]
        if self._target == "log_ratio":
            return np.asarray(self._model.predict(features), dtype=np.float64)
        classes = list(self._model.classes_)
        if True not in classes:  # only CPU rows in training
            return np.full(len(test_idx), -0.5)
        probability = self._model.predict_proba(features)[:, classes.index(True)]
        return np.asarray(probability - 0.5, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _OpcodeCounts:
    histograms: NDArray[np.floating]

    def __call__(self, samples: DeviceMappingSamples, _seed: int) -> NDArray[np.float64]:
        if self.histograms.ndim != 2 or len(self.histograms) != len(samples):
            raise InputError(f"histograms: expected ({len(samples)}, k), found {self.histograms.shape}")
        return np.hstack([self.histograms, _auxiliary(samples)])


@dataclass(frozen=True)
class _RandomVectors:
    dim: int

    def __call__(self, samples: DeviceMappingSamples, seed: int) -> NDArray[np.float64]:
        names, codes = np.unique(samples.benchmark, return_inverse=True)
        vectors = [np.random.default_rng((seed, zlib.crc32(name.encode()))).normal(size=self.dim) for name in names]
        return np.hstack([np.stack(vectors)[codes], _auxiliary(samples)])


def _auxiliary(samples: DeviceMappingSamples, _seed: int = 0) -> NDArray[np.float64]:
    return np.stack([np.log1p(samples.transfer_bytes), np.log1p(samples.wgsize)], axis=1)


def _numeric(samples: DeviceMappingSamples, _seed: int) -> NDArray[np.float64]:
    return np.log1p(samples.counts)


def auxiliary_trees(config: TreeConfig | None = None, target: Target = "label") -> TreeMethod:
    """Return the control that knows transfer size and work-group size, and no code at all."""
    return TreeMethod(f"auxiliary only ({target})", _auxiliary, learner="extra", target=target, config=config)


def numeric_trees(config: TreeConfig | None = None, target: Target = "label") -> TreeMethod:
    """Return the control on the 8 numeric columns of Grewe et al., as log(1 + count)."""
    return TreeMethod(f"8 numeric columns ({target})", _numeric, learner="extra", target=target, config=config)


def opcode_forest(
    histograms: NDArray[np.floating], config: TreeConfig | None = None, target: Target = "label"
) -> TreeMethod:
    """Return the control on counts of opcodes with transfer and work-group size.

    Args:
        histograms: One row of counts per sample, in the samples' order, (n, k).
        config: Size of the forest; None for the defaults.
        target: "label" or "log_ratio".

    Raises:
        InputError: On `fit`, if the histograms are not one row per sample.
    """
    name, features = f"opcode histogram + auxiliary ({target})", _OpcodeCounts(histograms)
    return TreeMethod(name, features, learner="random", target=target, config=config)


def random_vector_forest(dim: int = 32, config: TreeConfig | None = None, target: Target = "label") -> TreeMethod:
    """Return the control with a meaningless vector per kernel and transfer and work-group size.

    It tells what recognising a kernel is worth: any embedding does that much.

    Args:
        dim: Length of the vectors.
        config: Size of the forest; None for the defaults.
        target: "label" or "log_ratio".
    """
    name, features = f"random vector per kernel + auxiliary ({target})", _RandomVectors(dim)
    return TreeMethod(name, features, learner="random", target=target, config=config)


def standard_controls(
    histograms: NDArray[np.floating] | None = None, config: TreeConfig | None = None
) -> tuple[DeviceMethod, ...]:
    """Return every control, to be put beside every score.

    Args:
        histograms: As for `opcode_forest`; None leaves that control out.
        config: Size of the forests; None for the defaults.
    """
    constants: tuple[DeviceMethod, ...] = (Majority(), Constant(is_gpu=False), Constant(is_gpu=True))
    targets: tuple[Target, ...] = ("label", "log_ratio")
    learned: list[DeviceMethod] = []
    for target in targets:
        learned += [auxiliary_trees(config, target), numeric_trees(config, target)]
        learned += [random_vector_forest(config=config, target=target)]
        if histograms is not None:
            learned += [opcode_forest(histograms, config, target)]
    return (*constants, *learned)
