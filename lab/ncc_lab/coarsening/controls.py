"""Controls for thread coarsening: what is reached without a model, without code, or with opcode counts."""

from typing import Any, Final, Literal

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc.tasks.coarsening.samples import FACTORS, CoarseningSamples, complete_log_speedups
from ncc_lab.coarsening.task import CoarseningMethod
from ncc_lab.controls import Constant, FeatureModel, Features, Majority, RandomVectors, WithInputs, forest_of
from ncc_lab.runs import Kind, fitted

NUM_TREES = 300

Target = Literal["label", "log_speedup"]


def constant_factor(factor: int) -> Constant[CoarseningSamples]:
    """Return the control that always chooses the same one of `FACTORS`.

    Raises:
        InputError: It is none of these.
    """
    if factor not in FACTORS:
        raise InputError(f"no factor {factor}; expected one of {', '.join(map(str, FACTORS))}")
    return Constant(f"always {factor}", [float(one == factor) for one in FACTORS])


class BestConstant:
    """The factor of highest mean speedup over the training rows, for all devices or each; see `complete_log_speedups`.

    Args:
        per_device: Whether each device has its own.
    """

    kind: Final = "control"
    slow = False
    version = "1"

    def __init__(self, *, per_device: bool) -> None:
        self.name = "best constant per device" if per_device else "best constant"
        self.identity: Any = per_device
        self._mean: dict[str, Floats] | None = None

    def fit(self, samples: CoarseningSamples, train_idx: Ints, _rng: np.random.Generator, /) -> None:
        """Average the speedups of the training rows."""
        speedup = np.exp(complete_log_speedups(samples.runtime[train_idx]))
        self._mean = {"": speedup.mean(axis=0)}
        if self.identity:
            device = samples.device[train_idx]
            self._mean |= {str(name): speedup[device == name].mean(axis=0) for name in np.unique(device)}

    def predict(self, samples: CoarseningSamples, test_idx: Ints, /) -> Floats:
        """Return the mean speedups, those of all devices where training had no row of a row's, (m, 6) float64."""
        mean = fitted(self._mean)
        return np.stack([mean.get(str(name), mean[""]) for name in samples.device[test_idx]])


def labels_of(samples: CoarseningSamples) -> tuple[Ints, int]:
    """The number of the best factor of each row, (n,), and how many factors there are."""
    return samples.best, len(FACTORS)


def _log_speedup(samples: CoarseningSamples) -> Floats:
    return complete_log_speedups(samples.runtime)


def _kernel(samples: CoarseningSamples) -> np.ndarray:
    return samples.kernel


def device_inputs(samples: CoarseningSamples) -> Floats:
    """Return a column per device with 1 in its rows and 0 in others, (n, devices) float64."""
    return (samples.device[:, None] == np.array(samples.devices)).astype(np.float64)


def forest(
    name: str,
    features: Floats | Features[CoarseningSamples],
    target: Target = "label",
    num_trees: int = NUM_TREES,
    *,
    kind: Kind = "control",
) -> FeatureModel[CoarseningSamples]:
    """Return a random forest on features that need no learning, and the device.

    Args:
        name: Name for tables.
        features: A row per sample, (n, k) float64, or what makes it.
        target: "label" to classify the best factor, "log_speedup" to regress the logarithms of all six speedups.
        num_trees: Trees of the forest.
        kind: Whose the features are.
    """
    model = forest_of(RandomForestClassifier if target == "label" else RandomForestRegressor, num_trees)
    values = None if target == "label" else _log_speedup
    inputs = WithInputs(features, device_inputs)
    return FeatureModel(f"{name} ({target})", inputs, model, labels=labels_of, values=values, kind=kind)


def standard_controls(histograms: Floats | None = None, num_trees: int = NUM_TREES) -> tuple[CoarseningMethod, ...]:
    """Return every control that is not a published method, to be put beside every score.

    Args:
        histograms: Counts of opcodes, one row per sample, (n, k) float64; None leaves that control out.
        num_trees: Trees of each forest.
    """
    targets: tuple[Target, ...] = ("label", "log_speedup")
    features: dict[str, Floats | Features[CoarseningSamples]] = {"random vector per kernel": RandomVectors(_kernel)}
    if histograms is not None:
        features["opcode histogram"] = histograms
    forests = [forest(name, made, target, num_trees) for name, made in features.items() for target in targets]
    best = (Majority(labels_of), BestConstant(per_device=False), BestConstant(per_device=True))
    return (*map(constant_factor, FACTORS), *best, *forests)
