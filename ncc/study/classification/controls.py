"""Controls of algorithm classification: what a learned representation has to beat.

Reference: "A Game-Based Framework to Compare Program Classifiers and Evaders" (CGO 2023) found histograms of opcodes
with random forests on a par with learned embeddings.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.classification.samples import ProgramSamples
from ncc.ir import OPCODES
from ncc.study import controls
from ncc.study.controls import FeatureModel, Features, forest_of

__all__ = ["Majority", "count_controls"]


class Majority(controls.Majority[ProgramSamples]):
    """Every program is of the class that is most frequent in training."""

    def __init__(self) -> None:
        super().__init__(_labels)


class _CountsClassifier(FeatureModel[ProgramSamples]):
    """A model on counts of something, which leave nothing to draw but the model's own seed."""

    def draw_seeds(self, rng: np.random.Generator) -> tuple[int, int]:
        return 0, int(rng.integers(2**31))


def count_controls(num_trees: int = 300) -> tuple[FeatureModel[ProgramSamples], ...]:
    """Forests on opcodes and on statements, and a linear model on statements, all at the first level.

    Args:
        num_trees: Trees of the forests.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    models: dict[str, tuple[Features[ProgramSamples], Any]] = {
        "opcode histogram + random forest": (_opcodes, forest_of(RandomForestClassifier, num_trees)),
        "bag of statements + random forest": (_statements, forest_of(RandomForestClassifier, num_trees)),
        "bag of statements + linear model": (_log_statements, LogisticRegression(C=10.0, tol=1e-3, max_iter=1000)),
    }
    return tuple(_CountsClassifier(name, counts, model, labels=_labels) for name, (counts, model) in models.items())


def _labels(samples: ProgramSamples) -> tuple[NDArray[np.int64], int]:
    return samples.label, len(samples.classes)


def _opcodes(samples: ProgramSamples, _seed: int) -> NDArray[np.float32]:
    """How often each opcode occurs."""
    table = next(iter(samples.views.values()))
    owner = np.repeat(np.arange(len(table)), np.diff(table.start))
    counts = np.zeros((len(table), len(OPCODES)), np.float32)
    np.add.at(counts, (owner, table.opcode), 1)
    return counts


def _statements(samples: ProgramSamples, _seed: int) -> Any:
    """How often each abstracted statement occurs, as a sparse matrix."""
    from scipy.sparse import csr_matrix

    table = next(iter(samples.views.values()))
    ones = np.ones(len(table.text_id), np.float32)
    # a copy, since sorting the matrix sorts what it was made of
    counts = csr_matrix((ones, table.text_id.copy(), table.start), shape=(len(table), len(table.texts)))
    counts.sum_duplicates()
    return counts


def _log_statements(samples: ProgramSamples, _seed: int) -> Any:
    return _statements(samples, 0).log1p()
