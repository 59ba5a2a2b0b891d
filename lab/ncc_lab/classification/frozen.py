"""Classifiers on vectors that have learned nothing from the labels: a linear model on what ``ncc embed`` gives.

With few labels a class, this says what vectors are worth to those who take them as they are.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ncc.arrays import Floats32, Ints
from ncc.ir.frontend.options import CompileOptions
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.pooling import POOLERS, load_pooler
from ncc.learning.programs.ir_cache import ProgramReader
from ncc.learning.programs.labelled import LabelledFiles, ProgramSamples
from ncc_lab.classification.classify import ClassificationMethod, labels_of
from ncc_lab.classification.methods import NgramMethod, SummedMethod
from ncc_lab.classification.patterns import LinearMachine, PatternMachine
from ncc_lab.controls import sklearn_method
from ncc_lab.frame import Method
from ncc_lab.retrieval.methods import Pooled, Representation
from ncc_lab.retrieval.metrics import unit_rows
from ncc_lab.retrieval.programs import at_all_levels


class FrozenVectors:
    """Vectors of programs, (n, dim) float32 of length 1, made once, when they are first asked for."""

    def __init__(
        self, method: Representation, key: Any, files: LabelledFiles, readers: Sequence[ProgramReader]
    ) -> None:
        self.name, self.kind, self.key = method.name, method.kind, key
        self._of = method, files, readers
        self._made: Floats32 | None = None

    def __call__(self, samples: ProgramSamples, _seed: int = 0) -> Floats32:
        """Return the vectors of the samples."""
        if self._made is None:
            method, files, readers = self._of
            self._made = unit_rows(at_all_levels(method, files, samples, readers))[0]
        return self._made


class VectorMachine(LinearMachine):
    """On vectors that are made once; the penalty was chosen for the encoder's beside n-grams.

    That was on 100 programs of each of POJ-104's classes 65 to 80, which the encoder that ships has not seen, ten of
    each to learn from.
    """

    penalty = 3.0
    name = "ncc, --pooling encoder + linear machine"

    def __init__(self, vectors: FrozenVectors) -> None:
        self._vectors = vectors

    @property
    def identity(self) -> Any:
        """What the vectors depend on."""
        return self._vectors.key, self.penalty

    def features(self, samples: ProgramSamples, rows: Ints) -> Floats32:
        """Vectors of some rows, (m, dim) float32."""
        return self._vectors(samples)[rows]


def frozen_methods(
    files: LabelledFiles, levels: Sequence[str], embedding: Embedding, cache: Path
) -> list[ClassificationMethod]:
    """Classifiers on the vectors of each way of pooling that ``ncc embed`` has and on the encoder's patterns.

    Vectors and patterns have n-grams beside them, too.
    """
    from sklearn.linear_model import LogisticRegression

    readers = [ProgramReader(CompileOptions(optimization=level), embedding.abstraction, cache) for level in levels]
    found = {}
    for pooler in (load_pooler(name, embedding) for name in POOLERS):
        found[pooler.name] = FrozenVectors(Pooled(pooler), (pooler.id, tuple(levels)), files, readers)
    model = LogisticRegression(C=100.0, max_iter=1000)
    patterns = PatternMachine(files, readers[0], embedding.abstraction)
    machines = (
        SummedMethod(
            "ncc, --pooling encoder, and n-grams + linear models",
            {VectorMachine(found["encoder"]): 1.0, NgramMethod(embedding): 1.0},
        ),
        patterns,
        SummedMethod("patterns of code, and n-grams + linear models", {patterns: 1.0, NgramMethod(embedding): 1.0}),
    )
    return [
        *(
            sklearn_method(
                f"{vectors.name} + linear model", vectors, model, labels=labels_of, kind=vectors.kind, key=vectors.key
            )
            for vectors in found.values()
        ),
        *map(Method.of, machines),
    ]
