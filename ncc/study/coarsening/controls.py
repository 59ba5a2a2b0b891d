"""Controls for thread coarsening: what is reached without a model, without code, or with opcode counts.

Every learned result must stand beside these. A method sees the answers of training rows only.
"""

import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from ncc.coarsening.curves import complete_log_speedups
from ncc.coarsening.samples import DEVICES, FACTORS, CoarseningSamples
from ncc.errors import InputError
from ncc.study.coarsening.evaluation import CoarseningMethod

__all__ = [
    "BestConstant",
    "ConstantFactor",
    "ForestConfig",
    "ForestMethod",
    "Majority",
    "device_inputs",
    "opcode_forest",
    "random_vector_forest",
    "standard_controls",
]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
Target = Literal["label", "log_speedup"]


class ConstantFactor:
    """Always the same factor.

    Args:
        factor: One of `FACTORS`.

    Raises:
        InputError: It is none of these.
    """

    def __init__(self, factor: int) -> None:
        if factor not in FACTORS:
            raise InputError(f"no factor {factor}; expected one of {', '.join(map(str, FACTORS))}")
        self.name = f"always {factor}"
        self._factor = factor

    @property
    def identity(self) -> Any:
        """The factor."""
        return self._factor

    def fit(self, _samples: CoarseningSamples, _train_idx: Rows, _rng: np.random.Generator, /) -> None:
        """Learn nothing."""

    def predict(self, _samples: CoarseningSamples, test_idx: Rows, /) -> Array:
        """Return 1 for the factor and 0 for all others, (m, 6) float64."""
        return np.tile(np.array(FACTORS) == self._factor, (len(test_idx), 1)).astype(np.float64)


class Majority:
    """The factor that is the best of most training rows, whatever is gained by it; the smaller one in a tie."""

    name = "majority"

    def __init__(self) -> None:
        self._share = np.zeros(len(FACTORS))

    @property
    def identity(self) -> Any:
        """Nothing: it has no options."""
        return ()

    def fit(self, samples: CoarseningSamples, train_idx: Rows, _rng: np.random.Generator, /) -> None:
        """Count the best factors of the training rows."""
        self._share = np.bincount(samples.best[train_idx], minlength=len(FACTORS)) / len(train_idx)

    def predict(self, _samples: CoarseningSamples, test_idx: Rows, /) -> Array:
        """Return each factor's share of the training rows, (m, 6) float64."""
        return np.tile(self._share, (len(test_idx), 1))


class BestConstant:
    """The factor of highest mean speedup over the training rows, for all devices or each; see `complete_log_speedups`.

    Args:
        per_device: Whether each device has its own.
    """

    def __init__(self, *, per_device: bool) -> None:
        self.name = "best constant per device" if per_device else "best constant"
        self._per_device = per_device
        self._mean: dict[str, Array] = {}

    @property
    def identity(self) -> Any:
        """Whether each device has its own."""
        return self._per_device

    def fit(self, samples: CoarseningSamples, train_idx: Rows, _rng: np.random.Generator, /) -> None:
        """Average the speedups of the training rows."""
        speedup = np.exp(complete_log_speedups(samples.runtime[train_idx]))
        self._mean = {"": speedup.mean(axis=0)}
        if self._per_device:
            device = samples.device[train_idx]
            self._mean |= {str(name): speedup[device == name].mean(axis=0) for name in np.unique(device)}

    def predict(self, samples: CoarseningSamples, test_idx: Rows, /) -> Array:
        """Return the mean speedups, those of all devices where training had no row of a row's, (m, 6) float64."""
        return np.stack([self._mean.get(str(name), self._mean[""]) for name in samples.device[test_idx]])


@dataclass(frozen=True, kw_only=True)
class ForestConfig:
    """Size of the forests.

    Args:
        num_trees: Trees per forest, at least 1.

    Raises:
        InputError: A value is out of range.
    """

    num_trees: int = 300

    def __post_init__(self) -> None:
        if self.num_trees < 1:
            raise InputError(f"num_trees: expected at least 1, found {self.num_trees}")


class ForestMethod:
    """A random forest on features that need no learning, and the device.

    Args:
        name: Name for tables.
        features: A row per sample, (n, k) float64, or a function that makes it of samples and a seed and reads no
            answers.
        target: "label" to classify the best factor, "log_speedup" to regress the logarithms of all six speedups.
        config: Size of the forest; None for the defaults.
    """

    def __init__(
        self,
        name: str,
        features: Array | Callable[[CoarseningSamples, int], Array],
        *,
        target: Target,
        config: ForestConfig | None = None,
    ) -> None:
        self.name = f"{name} ({target})"
        self._features = features
        self._target = target
        self._config = config or ForestConfig()
        self._seed = 0

    @property
    def identity(self) -> Any:
        """Features, target and size."""
        return self._features, self._target, asdict(self._config)

    def fit(self, samples: CoarseningSamples, train_idx: Rows, rng: np.random.Generator, /) -> None:
        """Grow a new forest on the training rows.

        Raises:
            InputError: The features are not one row per sample.
        """
        self._seed, seed = (int(value) for value in rng.integers(2**31, size=2))
        kind = RandomForestClassifier if self._target == "label" else RandomForestRegressor
        label = self._target == "label"
        answers = samples.best[train_idx] if label else complete_log_speedups(samples.runtime[train_idx])
        model = kind(self._config.num_trees, random_state=seed)
        self._model = model.fit(self._inputs(samples)[train_idx], answers)

    def predict(self, samples: CoarseningSamples, test_idx: Rows, /) -> Array:
        """Return each factor's probability or log speedup, (m, 6) float64."""
        inputs = self._inputs(samples)[test_idx]
        if self._target == "log_speedup":
            return np.asarray(self._model.predict(inputs), dtype=np.float64)
        probability = np.zeros((len(test_idx), len(FACTORS)))
        probability[:, self._model.classes_] = self._model.predict_proba(inputs)
        return probability

    def _inputs(self, samples: CoarseningSamples) -> Array:
        features = self._features(samples, self._seed) if callable(self._features) else self._features
        if features.ndim != 2 or len(features) != len(samples):
            raise InputError(f"method {self.name!r}: expected features ({len(samples)}, k), found {features.shape}")
        return np.hstack([features, device_inputs(samples)])


def device_inputs(samples: CoarseningSamples) -> Array:
    """Return a column per device with 1 in its rows and 0 in others, (n, 4) float64."""
    return (samples.device[:, None] == np.array(DEVICES)).astype(np.float64)


def opcode_forest(histograms: Array, target: Target = "label", config: ForestConfig | None = None) -> ForestMethod:
    """Return the control on counts of opcodes.

    Args:
        histograms: One row of counts per sample, (n, k) float64.
        target: "label" or "log_speedup".
        config: Size of the forest; None for the defaults.
    """
    return ForestMethod("opcode histogram", histograms, target=target, config=config)


def random_vectors(samples: CoarseningSamples, seed: int) -> Array:
    """Return a meaningless vector for each row's kernel, (n, 32) float64."""
    vectors = {
        name: np.random.default_rng((seed, zlib.crc32(name.encode()))).normal(size=32)
        for name in np.unique(samples.kernel).tolist()
    }
    return np.stack([vectors[name] for name in samples.kernel.tolist()])


def random_vector_forest(target: Target = "label", config: ForestConfig | None = None) -> ForestMethod:
    """Return the control with a meaningless vector per kernel.

    It tells what recognising a kernel is worth: any embedding does that much.

    Args:
        target: "label" or "log_speedup".
        config: Size of the forest; None for the defaults.
    """
    return ForestMethod("random vector per kernel", random_vectors, target=target, config=config)


def standard_controls(
    histograms: Array | None = None, config: ForestConfig | None = None
) -> tuple[CoarseningMethod, ...]:
    """Return every control that is no published method, to be put beside every score.

    Args:
        histograms: As for `opcode_forest`; None leaves that control out.
        config: Size of the forests; None for the defaults.
    """
    targets: tuple[Target, ...] = ("label", "log_speedup")
    forests = [random_vector_forest(target, config) for target in targets]
    if histograms is not None:
        forests += [opcode_forest(histograms, target, config) for target in targets]
    best = (Majority(), BestConstant(per_device=False), BestConstant(per_device=True))
    return (*map(ConstantFactor, FACTORS), *best, *forests)
