"""Controls for device mapping: what is reached without a model, without code, or with opcode counts."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from ncc.devices.samples import DeviceMappingSamples
from ncc.study import controls
from ncc.study.controls import Constant, FeatureModel, Features, RandomVectors, WithInputs, forest_of
from ncc.study.devices.task import DeviceMethod

NUM_TREES = 300

Array = NDArray[np.float64]
Target = Literal["label", "log_ratio"]


class Majority(controls.Majority[DeviceMappingSamples]):
    """The device that is faster in most training rows; the CPU in a tie."""

    def __init__(self) -> None:
        super().__init__(_labels)

    def predict(self, samples: DeviceMappingSamples, test_idx: NDArray[np.int64], /) -> Array:
        """Return the training rows' share of GPU less one half, (m,) float64."""
        return super().predict(samples, test_idx)[:, 1] - 0.5


class Trees(FeatureModel[DeviceMappingSamples]):
    """A forest that says the log ratio, or the probability of GPU less one half, (m,) float64."""

    def predict(self, samples: DeviceMappingSamples, test_idx: NDArray[np.int64], /) -> Array:
        """Return a number for each row."""
        found = super().predict(samples, test_idx)
        return found[:, 1] - 0.5 if found.ndim == 2 else found


def _labels(samples: DeviceMappingSamples) -> tuple[NDArray[np.int64], int]:
    return samples.is_gpu.astype(np.int64), 2


def _log_ratio(samples: DeviceMappingSamples) -> Array:
    return samples.log_ratio


_VALUES = {"label": None, "log_ratio": _log_ratio}


def _kernel(samples: DeviceMappingSamples) -> np.ndarray:
    return samples.benchmark


def _auxiliary(samples: DeviceMappingSamples, _seed: int = 0) -> Array:
    return np.stack([np.log1p(samples.transfer_bytes), np.log1p(samples.wgsize)], axis=1)


def _numeric(samples: DeviceMappingSamples, _seed: int) -> Array:
    return np.log1p(samples.counts)


def _extra_trees(name: str, features: Features[DeviceMappingSamples], num_trees: int, target: Target) -> Trees:
    model = forest_of(ExtraTreesClassifier if target == "label" else ExtraTreesRegressor, num_trees)
    return Trees(f"{name} ({target})", features, model, labels=_labels, values=_VALUES[target])


def _forest(name: str, features: Features[DeviceMappingSamples], num_trees: int, target: Target) -> Trees:
    model = forest_of(RandomForestClassifier if target == "label" else RandomForestRegressor, num_trees)
    return Trees(f"{name} ({target})", features, model, labels=_labels, values=_VALUES[target])


def auxiliary_trees(num_trees: int = NUM_TREES, target: Target = "label") -> Trees:
    """Return the control that knows transfer size and work-group size, and no code at all."""
    return _extra_trees("auxiliary only", _auxiliary, num_trees, target)


def numeric_trees(num_trees: int = NUM_TREES, target: Target = "label") -> Trees:
    """Return the control on the 8 numeric columns of Grewe et al., as log(1 + count)."""
    return _extra_trees("8 numeric columns", _numeric, num_trees, target)


def opcode_forest(histograms: NDArray[np.floating], num_trees: int = NUM_TREES, target: Target = "label") -> Trees:
    """Return the control on counts of opcodes, one row per sample, (n, k), with transfer and work-group size."""
    return _forest("opcode histogram + auxiliary", WithInputs(histograms, _auxiliary), num_trees, target)


def random_vector_forest(dim: int = 32, num_trees: int = NUM_TREES, target: Target = "label") -> Trees:
    """Return the control with a meaningless vector per kernel and transfer and work-group size."""
    vectors = WithInputs(RandomVectors(_kernel, dim), _auxiliary)
    return _forest("random vector per kernel + auxiliary", vectors, num_trees, target)


def standard_controls(
    histograms: NDArray[np.floating] | None = None, num_trees: int = NUM_TREES
) -> tuple[DeviceMethod, ...]:
    """Return every control, to be put beside every score.

    Args:
        histograms: As for `opcode_forest`; None leaves that control out.
        num_trees: Trees of each forest.
    """
    constants: tuple[DeviceMethod, ...] = (Majority(), Constant("always CPU", [-1.0]), Constant("always GPU", [1.0]))
    targets: tuple[Target, ...] = ("label", "log_ratio")
    learned: list[DeviceMethod] = []
    for target in targets:
        learned += [auxiliary_trees(num_trees, target), numeric_trees(num_trees, target)]
        learned += [random_vector_forest(num_trees=num_trees, target=target)]
        if histograms is not None:
            learned += [opcode_forest(histograms, num_trees, target)]
    return (*constants, *learned)
