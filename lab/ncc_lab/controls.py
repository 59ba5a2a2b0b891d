"""Controls that every task has: constants, the majority, and scikit-learn models on features that need no learning.

Every learned result must stand beside its task's controls.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc_lab.frame import Kind, Method, S, Subset

Features = Callable[[S, int], Any]
"""From a table and a seed to a matrix, (n, k), dense or sparse. It must read no answers."""

Labels = Callable[[S], tuple[Ints, int]]
"""From a table to the number of each row's class, (n,), and how many classes there are."""


def constant(name: str, answer: Sequence[float]) -> Method[Any]:
    """Return the control that always predicts the same numbers."""
    return Method(name, "control", lambda _train, test, _rng: np.tile(np.array(answer), (len(test), 1)), tuple(answer))


def majority(labels: Labels[S]) -> Method[S]:
    """Return the control that predicts each class's fraction of the training rows."""

    def predict(train: Subset[S], test: Subset[S], _rng: np.random.Generator) -> Floats:
        label, num_classes = labels(train.table)
        fraction = np.bincount(label[train.rows], minlength=num_classes) / len(train)
        return np.tile(fraction, (len(test), 1))

    return Method("majority", "control", predict)


def sklearn_method(
    name: str,
    features: Features[S],
    model: Any,
    *,
    labels: Labels[S] | None = None,
    values: Callable[[S], Floats] | None = None,
    kind: Kind = "control",
    draws: bool = True,
    key: Any = None,
) -> Method[S]:
    """Return a model of scikit-learn on features that need no learning.

    Args:
        name: Name for tables.
        features: Computes the model's inputs; options and arrays in its attributes are part of the key.
        model: The model, not fitted.
        labels: Labels that a classifier learns; it predicts the probability of each class.
        values: Values that a regressor learns, (n,) or (n, c) float64.
        kind: Whose the features are.
        draws: Whether the features draw from a seed, too.
        key: Everything that the features depend on, used in place of the features.
    """

    def predict(train: Subset[S], test: Subset[S], rng: np.random.Generator) -> Floats:
        drawn, seed = rng.integers(2**31, size=2).tolist() if draws else (0, int(rng.integers(2**31)))
        matrix = features(train.table, drawn)
        regressor = clone(model).set_params(random_state=seed)
        if values is not None:
            fitted = regressor.fit(matrix[train.rows], values(train.table)[train.rows])
            return np.asarray(fitted.predict(matrix[test.rows]), np.float64)
        assert labels is not None
        label, num_classes = labels(train.table)
        fitted = regressor.fit(matrix[train.rows], label[train.rows])
        probability = np.zeros((len(test), num_classes))
        # not all classes were there; of one alone, boosted trees give two columns, and the first is its
        probability[:, fitted.classes_] = fitted.predict_proba(matrix[test.rows])[:, : len(fitted.classes_)]
        return probability

    options = type(model).__name__, model.get_params()
    return Method(name, kind, predict, (features if key is None else key, *options))


@dataclass(frozen=True, eq=False)
class WithInputs(Generic[S]):
    """Features with a task's own inputs beside them: (n, k + c) float64.

    Attributes:
        features: A row for each sample, (n, k), or what makes such rows.
        inputs: From a table to the columns beside them, (n, c).
    """

    features: NDArray[np.floating] | Features[S]
    inputs: Callable[[S], Floats]

    def __call__(self, samples: S, seed: int) -> Floats:
        """Return all columns."""
        features = self.features(samples, seed) if callable(self.features) else self.features
        if features.ndim != 2 or len(features) != len(samples):
            raise InputError(f"features: expected ({len(samples)}, k), found {features.shape}")
        return np.hstack([features, self.inputs(samples)])


@dataclass(frozen=True)
class RandomVectors(Generic[S]):
    """A meaningless vector per kernel: what recognizing a kernel is worth, as any embedding does that much.

    Attributes:
        names: From a table to the name of each row's kernel, (n,).
        dim: Number of dimensions.
    """

    names: Callable[[S], NDArray[Any]]
    dim: int = 32

    def __call__(self, samples: S, seed: int) -> Floats:
        """Return the vector of each row's kernel, (n, dim) float64."""
        names, codes = np.unique(self.names(samples), return_inverse=True)
        vectors = [np.random.default_rng((seed, zlib.crc32(name.encode()))).normal(size=self.dim) for name in names]
        return np.stack(vectors)[codes]
