"""Controls of algorithm classification: what a learned representation has to beat.

References: "A Game-Based Framework to Compare Program Classifiers and Evaders" (CGO 2023) found histograms of opcodes
with random forests on a par with learned embeddings.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.ir import OPCODES
from ncc.tasks.classification.samples import ProgramSamples, ProgramTable

__all__ = ["Majority", "OpcodeForest", "StatementForest", "StatementRegression"]


class Majority:
    """Every program is of the class that is most frequent in training."""

    name = "majority"
    identity: Any = ()

    def fit(self, samples: ProgramSamples, train_idx: NDArray[np.int64], _rng: np.random.Generator, /) -> None:
        """Counts the classes."""
        counts = np.bincount(samples.label[train_idx], minlength=len(samples.classes))
        self._share = counts / counts.sum()

    def predict(self, _samples: ProgramSamples, test_idx: NDArray[np.int64], /) -> NDArray[np.float64]:
        """Shares of the classes in training: (m, num_classes) float64."""
        return np.tile(self._share, (len(test_idx), 1))


class _Fitted:
    """A model of scikit-learn on counts of something, at the first level that samples have."""

    def __init__(self, num_trees: int = 300) -> None:
        """Keeps the number of trees, for forests."""
        self.num_trees = num_trees

    @property
    def identity(self) -> Any:
        """The number of trees."""
        return self.num_trees

    def fit(self, samples: ProgramSamples, train_idx: NDArray[np.int64], rng: np.random.Generator, /) -> None:
        """Fits the model to counts."""
        counts = self._counts(next(iter(samples.views.values())))
        self._model = self._make(int(rng.integers(2**31))).fit(counts[train_idx], samples.label[train_idx])

    def predict(self, samples: ProgramSamples, test_idx: NDArray[np.int64], /) -> NDArray[np.float64]:
        """Probabilities of the classes: (m, num_classes) float64."""
        counts = self._counts(next(iter(samples.views.values())))
        found = np.zeros((len(test_idx), len(samples.classes)))
        found[:, self._model.classes_] = self._model.predict_proba(counts[test_idx])
        return found

    def _counts(self, table: ProgramTable) -> Any:
        raise NotImplementedError

    def _make(self, seed: int) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(self.num_trees, random_state=seed, n_jobs=1)


class OpcodeForest(_Fitted):
    """A random forest on how often each opcode occurs."""

    name = "opcode histogram + random forest"

    def _counts(self, table: ProgramTable) -> Any:
        owner = np.repeat(np.arange(len(table)), np.diff(table.start))
        counts = np.zeros((len(table), len(OPCODES)), np.float32)
        np.add.at(counts, (owner, table.opcode), 1)
        return counts


class StatementForest(_Fitted):
    """A random forest on how often each abstracted statement occurs."""

    name = "bag of statements + random forest"

    def _counts(self, table: ProgramTable) -> Any:
        from scipy.sparse import csr_matrix

        ones = np.ones(len(table.text_id), np.float32)
        # a copy, since sorting the matrix sorts what it was made of
        counts = csr_matrix((ones, table.text_id.copy(), table.start), shape=(len(table), len(table.texts)))
        counts.sum_duplicates()
        return counts


class StatementRegression(StatementForest):
    """Logistic regression on the logarithm of how often each abstracted statement occurs."""

    name = "bag of statements + linear model"

    def _counts(self, table: ProgramTable) -> Any:
        return super()._counts(table).log1p()

    def _make(self, seed: int) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=10.0, tol=1e-3, max_iter=1000, random_state=seed)
