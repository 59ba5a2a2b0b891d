"""Controls that every task has: the majority, and scikit-learn models on features that need no learning.

Every learned result must stand beside its task's controls. A method sees the answers of training rows only.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc_lab.runs import Kind, Samples, fitted

S = TypeVar("S", bound=Samples)

Features = Callable[[S, int], Any]
"""From samples and a seed to a matrix, (n, k), dense or sparse. It must read no answers, and be picklable."""

Labels = Callable[[S], tuple[Ints, int]]
"""From samples to the number of each row's class, (n,), and how many classes there are."""


class Constant(Generic[S]):
    """Always the same answer.

    Args:
        name: Name for tables.
        answer: The numbers predicted for every row.
    """

    kind: Final = "control"
    slow = False
    version = "1"

    def __init__(self, name: str, answer: Sequence[float]) -> None:
        self.name = name
        self.identity: Any = tuple(answer)

    def fit(self, _samples: S, _train_idx: Ints, _rng: np.random.Generator, /) -> None:
        """Learn nothing."""

    def predict(self, _samples: S, test_idx: Ints, /) -> Floats:
        """Return the answer for each row, (m, k) float64."""
        return np.tile(np.array(self.identity, np.float64), (len(test_idx), 1))


class Majority(Generic[S]):
    """The class of most training rows; the first in a tie.

    Args:
        labels: What counts as a class.
    """

    name = "majority"
    kind: Final = "control"
    slow = False
    version = "1"
    identity: Any = ()

    def __init__(self, labels: Labels[S]) -> None:
        self._labels = labels
        self._share: Floats | None = None

    def fit(self, samples: S, train_idx: Ints, _rng: np.random.Generator, /) -> None:
        """Count the classes of the training rows."""
        labels, num_classes = self._labels(samples)
        self._share = np.bincount(labels[train_idx], minlength=num_classes) / len(train_idx)

    def predict(self, _samples: S, test_idx: Ints, /) -> Floats:
        """Return each class's share of the training rows, (m, num_classes) float64."""
        return np.tile(fitted(self._share), (len(test_idx), 1))


class FeatureModel(Generic[S]):
    """A model of scikit-learn on features that need no learning.

    Args:
        name: Name for tables.
        features: What the model sees; options and arrays in its attributes are part of the method's identity.
        model: The model, not fitted: a classifier, or a regressor.
        labels: What a classifier learns.
        values: What a regressor learns: from samples to (n,) or (n, c) float64; None for a classifier.
        kind: Whose the features are.
        draws: Whether the features draw from a seed, too.
    """

    slow = False
    version = "1"

    def __init__(
        self,
        name: str,
        features: Features[S],
        model: Any,
        *,
        labels: Labels[S],
        values: Callable[[S], Floats] | None = None,
        kind: Kind = "control",
        draws: bool = True,
    ) -> None:
        self.name = name
        self.kind = kind
        self._features = features
        self._model = model
        self._labels = labels
        self._values = values
        self._draws = draws
        self._fitted: Any = None
        self._seed = 0

    @property
    def identity(self) -> Any:
        """Features, with what they were given, and the model's options."""
        return self._features, type(self._model).__name__, self._model.get_params()

    def fit(self, samples: S, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Fit a new model to the training rows."""
        self._seed, seed = rng.integers(2**31, size=2).tolist() if self._draws else (0, int(rng.integers(2**31)))
        features = self._features(samples, self._seed)[train_idx]
        answers = self._values(samples) if self._values else self._labels(samples)[0]
        self._fitted = clone(self._model).set_params(random_state=seed).fit(features, answers[train_idx])

    def predict(self, samples: S, test_idx: Ints, /) -> Floats:
        """Return the probability of each class, (m, num_classes), or the predicted values, (m,) or (m, c) float64."""
        model = fitted(self._fitted)
        features = self._features(samples, self._seed)[test_idx]
        if self._values:
            return np.asarray(model.predict(features), dtype=np.float64)
        probability = np.zeros((len(test_idx), self._labels(samples)[1]))
        # not all classes were there; of one alone, boosted trees give two columns, and the first is its
        probability[:, model.classes_] = model.predict_proba(features)[:, : len(model.classes_)]
        return probability


def forest_of(kind: type, num_trees: int) -> Any:
    """Return a forest of scikit-learn's, not grown yet.

    Raises:
        InputError: It would have no tree.
    """
    if num_trees < 1:
        raise InputError(f"num_trees: expected at least 1, found {num_trees}")
    return kind(num_trees)


@dataclass(frozen=True, eq=False)
class WithInputs(Generic[S]):
    """Features with a task's own inputs beside them.

    Args:
        features: One row for each sample, (n, k), or what makes such rows.
        inputs: From samples to the columns beside them, (n, c).
    """

    features: NDArray[np.floating] | Features[S]
    inputs: Callable[[S], Floats]

    def __call__(self, samples: S, seed: int) -> Floats:
        """Return all columns, (n, k + c) float64.

        Raises:
            InputError: The features are not one row for each sample.
        """
        features = self.features(samples, seed) if callable(self.features) else self.features
        if features.ndim != 2 or len(features) != len(samples):
            raise InputError(f"features: expected ({len(samples)}, k), found {features.shape}")
        return np.hstack([features, self.inputs(samples)])


@dataclass(frozen=True)
class RandomVectors(Generic[S]):
    """A meaningless vector per kernel: what recognising a kernel is worth, as any embedding does that much.

    Args:
        names: From samples to the name of each row's kernel, (n,).
        dim: Number of dimensions.
    """

    names: Callable[[S], np.ndarray]
    dim: int = 32

    def __call__(self, samples: S, seed: int) -> Floats:
        """Return the vector of each row's kernel, (n, dim) float64."""
        names, codes = np.unique(self.names(samples), return_inverse=True)
        vectors = [np.random.default_rng((seed, zlib.crc32(name.encode()))).normal(size=self.dim) for name in names]
        return np.stack(vectors)[codes]
