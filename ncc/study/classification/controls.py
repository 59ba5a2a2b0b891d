"""Controls of algorithm classification: what a learned representation has to beat.

References: "A Game-Based Framework to Compare Program Classifiers and Evaders" (CGO 2023) found histograms of opcodes
with random forests on a par with learned embeddings.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.classification.samples import ProgramSamples, ProgramTable
from ncc.ir import OPCODES

__all__ = ["CountsClassifier", "Majority", "count_controls"]


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


class CountsClassifier:
    """A model of scikit-learn on counts of something, at the first level that samples have."""

    def __init__(
        self, name: str, counts: Callable[[ProgramTable], Any], make: Callable[..., Any], **options: float
    ) -> None:
        """Keeps what to count and which model to make.

        Args:
            name: For tables.
            counts: From a table of n programs to (n, k) counts, dense or sparse.
            make: Makes the model from `options` and `random_state`.
            options: Of the model.
        """
        self.name = name
        self._counts = counts
        self._make = make
        self._options = options

    @property
    def identity(self) -> Any:
        """The name, which stands for what is counted, and the model's options."""
        return self.name, self._options

    def fit(self, samples: ProgramSamples, train_idx: NDArray[np.int64], rng: np.random.Generator, /) -> None:
        """Fits the model to counts."""
        counts = self._counts(next(iter(samples.views.values())))
        model = self._make(random_state=int(rng.integers(2**31)), **self._options)
        self._model = model.fit(counts[train_idx], samples.label[train_idx])

    def predict(self, samples: ProgramSamples, test_idx: NDArray[np.int64], /) -> NDArray[np.float64]:
        """Probabilities of the classes: (m, num_classes) float64."""
        counts = self._counts(next(iter(samples.views.values())))
        found = np.zeros((len(test_idx), len(samples.classes)))
        found[:, self._model.classes_] = self._model.predict_proba(counts[test_idx])
        return found


def count_controls(num_trees: int = 300) -> tuple[CountsClassifier, ...]:
    """Forests on opcodes and on statements, and a linear model on statements.

    Args:
        num_trees: Trees of the forests.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    return (
        CountsClassifier(
            "opcode histogram + random forest", _opcodes, RandomForestClassifier, n_estimators=num_trees, n_jobs=1
        ),
        CountsClassifier(
            "bag of statements + random forest", _statements, RandomForestClassifier, n_estimators=num_trees, n_jobs=1
        ),
        CountsClassifier(
            "bag of statements + linear model", _log_statements, LogisticRegression, C=10.0, tol=1e-3, max_iter=1000
        ),
    )


def _opcodes(table: ProgramTable) -> NDArray[np.float32]:
    """How often each opcode occurs."""
    owner = np.repeat(np.arange(len(table)), np.diff(table.start))
    counts = np.zeros((len(table), len(OPCODES)), np.float32)
    np.add.at(counts, (owner, table.opcode), 1)
    return counts


def _statements(table: ProgramTable) -> Any:
    """How often each abstracted statement occurs, as a sparse matrix."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(table.text_id), np.float32)
    # a copy, since sorting the matrix sorts what it was made of
    counts = csr_matrix((ones, table.text_id.copy(), table.start), shape=(len(table), len(table.texts)))
    counts.sum_duplicates()
    return counts


def _log_statements(table: ProgramTable) -> Any:
    return _statements(table).log1p()
