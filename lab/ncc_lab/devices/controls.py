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

from ncc.arrays import Floats, Ints
from ncc.tasks.devices.published import DeviceMappingSamples
from ncc_lab import controls
from ncc_lab.controls import Constant, FeatureModel, Features, RandomVectors, WithInputs, forest_of
from ncc_lab.devices.task import DeviceMethod

NUM_TREES = 300

Target = Literal["label", "log_ratio"]


class MajorityDevice(controls.Majority[DeviceMappingSamples]):
    """The device that is faster in most training rows; the CPU in a tie."""

    def __init__(self) -> None:
        super().__init__(labels_of)

    def predict(self, samples: DeviceMappingSamples, test_idx: Ints, /) -> Floats:
        """Return the training rows' share of GPU less one half, (m,) float64."""
        return super().predict(samples, test_idx)[:, 1] - 0.5


class Trees(FeatureModel[DeviceMappingSamples]):
    """A forest that says the log ratio, or the probability of GPU less one half, (m,) float64."""

    def predict(self, samples: DeviceMappingSamples, test_idx: Ints, /) -> Floats:
        """Return a number for each row."""
        found = super().predict(samples, test_idx)
        return found[:, 1] - 0.5 if found.ndim == 2 else found


def labels_of(samples: DeviceMappingSamples) -> tuple[Ints, int]:
    """1 for the GPU and 0 for the CPU, (n,), and how many there are."""
    return samples.is_gpu.astype(np.int64), 2


def _log_ratio(samples: DeviceMappingSamples) -> Floats:
    return samples.log_ratio


def _kernel(samples: DeviceMappingSamples) -> np.ndarray:
    return samples.benchmark


def _auxiliary(samples: DeviceMappingSamples, _seed: int = 0) -> Floats:
    return np.stack([np.log1p(samples.transfer_bytes), np.log1p(samples.wgsize)], axis=1)


def _numeric(samples: DeviceMappingSamples, _seed: int) -> Floats:
    return np.log1p(samples.counts)


def learned_controls(
    target: Target, num_trees: int = NUM_TREES, histograms: NDArray[np.floating] | None = None
) -> list[Trees]:
    """Return trees that learn the label, or regress the log ratio, from what takes no learning.

    On transfer size and work-group size alone; on the 8 numeric columns of Grewe et al., as log(1 + count); on a
    meaningless vector per kernel; and on counts of opcodes, one row per sample, (n, k), where there are some.

    Raises:
        InputError: There would be no trees.
    """
    extra, forest = (ExtraTreesClassifier, ExtraTreesRegressor), (RandomForestClassifier, RandomForestRegressor)
    features: dict[str, tuple[Features[DeviceMappingSamples], tuple[type, type]]] = {
        "auxiliary only": (_auxiliary, extra),
        "8 numeric columns": (_numeric, extra),
        "random vector per kernel + auxiliary": (WithInputs(RandomVectors(_kernel), _auxiliary), forest),
    }
    if histograms is not None:
        features["opcode histogram + auxiliary"] = (WithInputs(histograms, _auxiliary), forest)
    values = None if target == "label" else _log_ratio
    return [
        Trees(
            f"{name} ({target})", made, forest_of(kinds[values is not None], num_trees), labels=labels_of, values=values
        )
        for name, (made, kinds) in features.items()
    ]


def standard_controls(
    histograms: NDArray[np.floating] | None = None, num_trees: int = NUM_TREES
) -> tuple[DeviceMethod, ...]:
    """Return every control, to be put beside every score; arguments as for `learned_controls`."""
    constants: tuple[DeviceMethod, ...] = (
        MajorityDevice(),
        Constant("always CPU", [-1.0]),
        Constant("always GPU", [1.0]),
    )
    targets: tuple[Target, ...] = ("label", "log_ratio")
    return (*constants, *(one for target in targets for one in learned_controls(target, num_trees, histograms)))
