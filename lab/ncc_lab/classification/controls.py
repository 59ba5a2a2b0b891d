"""Controls of algorithm classification: what a learned representation has to beat.

Reference: "A Game-Based Framework to Compare Program Classifiers and Evaders" (CGO 2023) found histograms of opcodes
with random forests on a par with learned embeddings.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints
from ncc.ir.reader.native import OPCODES
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.programs.table import ProgramTable
from ncc_lab.controls import FeatureModel, Features, forest_of


def count_controls(num_trees: int = 300) -> tuple[FeatureModel[ProgramSamples], ...]:
    """Forests on opcodes and on statements, and a linear model on statements, all at the first level."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    models: dict[str, tuple[Features[ProgramSamples], Any]] = {
        "opcode histogram + random forest": (_opcodes, forest_of(RandomForestClassifier, num_trees)),
        "bag of statements + random forest": (_statements, forest_of(RandomForestClassifier, num_trees)),
        "bag of statements + linear model": (_log_statements, LogisticRegression(C=10.0, tol=1e-3, max_iter=1000)),
    }
    return tuple(
        FeatureModel(name, counts, model, labels=labels_of, draws=False) for name, (counts, model) in models.items()
    )


def labels_of(samples: ProgramSamples) -> tuple[Ints, int]:
    """The number of each program's class, (n,), and how many classes there are."""
    return samples.label, len(samples.classes)


def _opcodes(samples: ProgramSamples, _seed: int) -> Floats32:
    return opcode_counts(next(iter(samples.views.values())))


def _statements(samples: ProgramSamples, _seed: int) -> Any:
    return statement_counts(next(iter(samples.views.values())))


def _log_statements(samples: ProgramSamples, _seed: int) -> Any:
    return _statements(samples, 0).log1p()


def opcode_counts(table: ProgramTable) -> Floats32:
    """How often each opcode occurs in each program, (n, opcodes)."""
    owner = np.repeat(np.arange(len(table)), np.diff(table.start))
    counts = np.zeros((len(table), len(OPCODES)), np.float32)
    np.add.at(counts, (owner, table.opcode), 1)
    return counts


def statement_counts(table: ProgramTable, numbers: NDArray[np.integer] | None = None) -> Any:
    """How often each abstracted statement occurs in each program, as a sparse matrix.

    Args:
        table: The programs.
        numbers: What to count in place of the statements of ``table.texts``: a number for each of these.
    """
    from scipy.sparse import csr_matrix

    column = table.text_id.copy() if numbers is None else numbers[table.text_id]  # sorting the matrix sorts this
    width = len(table.texts) if numbers is None else int(numbers.max(initial=0)) + 1
    counts = csr_matrix((np.ones(len(column), np.float32), column, table.start), shape=(len(table), width))
    counts.sum_duplicates()
    return counts
