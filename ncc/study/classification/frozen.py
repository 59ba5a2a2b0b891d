"""Classifiers on vectors that learn nothing from the labels: what ``ncc embed`` gives, and a linear model.

With few labels a class, this says what vectors are worth to those who take them as they are.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ncc.arrays import Floats, Floats32, Ints
from ncc.classification.reading import ProgramReader
from ncc.classification.samples import LabelledFiles, ProgramSamples
from ncc.embedding import Embedding
from ncc.encoder.pooling import POOLERS, load_pooler
from ncc.frontend import CompileOptions
from ncc.study.classification.patterns import PatternMachine, margins_of
from ncc.study.classification.task import ClassificationMethod
from ncc.study.controls import FeatureModel
from ncc.study.retrieval.methods import Pooled, Representation
from ncc.study.retrieval.metrics import unit_rows
from ncc.study.retrieval.programs import at_all_levels
from ncc.study.runs import fitted

if TYPE_CHECKING:
    from ncc.classification.ngram_fit import NgramMethod

_PENALTY = 3.0
"""Weight of mistakes beside that of the squared weights."""


class FrozenVectors(FeatureModel[ProgramSamples]):
    """Logistic regression on vectors of programs, which are made once.

    Args:
        method: What makes the vectors.
        identity: What they depend on, beside the programs.
        files: All programs that were asked for.
        readers: One for each level.
    """

    def __init__(
        self, method: Representation, identity: Any, files: LabelledFiles, readers: Sequence[ProgramReader]
    ) -> None:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=100.0, max_iter=1000)
        super().__init__(f"{method.name} + linear model", self._vectors, model, labels=_labels, kind=method.kind)
        self._of = method, files, readers
        self._depends_on = identity
        self._made: Floats32 | None = None

    @property
    def identity(self) -> Any:
        """What the vectors depend on, and the model's options."""
        return self._depends_on, self._model.get_params()

    def _vectors(self, samples: ProgramSamples, _seed: int) -> Floats32:
        return self.of(samples)

    def of(self, samples: ProgramSamples) -> Floats32:
        """(n, dim) float32 vectors of the samples, of length 1."""
        if self._made is None:
            method, files, readers = self._of
            self._made = unit_rows(at_all_levels(method, files, samples, readers))[0]
        return self._made


class PatternsAndNgrams:
    """Two views of a program that both learn from its labels alone: margins on patterns, and on n-grams, added."""

    kind: Final = "ours"
    slow = False
    version = "1"
    name = "patterns of code, and n-grams + linear models"

    def __init__(self, patterns: PatternMachine, ngrams: "NgramMethod") -> None:
        """Keeps both; nothing is fitted before `fit`."""
        self._patterns, self._ngrams = patterns, ngrams

    @property
    def identity(self) -> Any:
        """Those of both."""
        return self._patterns.identity, self._ngrams.identity

    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator) -> None:
        """Fits both to some rows."""
        self._patterns.fit(samples, train_idx, rng)
        self._ngrams.fit(samples, train_idx, rng)

    def predict(self, samples: ProgramSamples, test_idx: Ints) -> Floats:
        """Probabilities of the classes, not calibrated: (m, num_classes) float64."""
        from ncc.classification.network_fit import probabilities  # with torch

        scores = self._patterns.scores(samples, test_idx)
        return probabilities([scores + self._ngrams.scores(samples, level, test_idx) for level in samples.views])


class VectorsAndNgrams:
    """Two views of a program: margins on the encoder's vectors, which carry over from other classes, and on n-grams.

    Their weights were chosen on 100 programs of each of POJ-104's classes 65 to 80, which the encoder that ships has
    not seen, ten of each to learn from.
    """

    kind: Final = "ours"
    slow = False
    version = "1"
    name = "ncc, --pooling encoder, and n-grams + linear models"

    def __init__(self, vectors: FrozenVectors, ngrams: "NgramMethod") -> None:
        """Keeps both; nothing is fitted before `fit`."""
        self._vectors, self._ngrams = vectors, ngrams
        self._machine: Any = None

    @property
    def identity(self) -> Any:
        """Those of both."""
        return self._vectors.identity[0], self._ngrams.identity, _PENALTY

    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator) -> None:
        """Fits both to some rows."""
        from sklearn.svm import LinearSVC

        machine = LinearSVC(C=_PENALTY, random_state=int(rng.integers(2**31)))
        self._machine = machine.fit(self._vectors.of(samples)[train_idx], samples.label[train_idx])
        self._ngrams.fit(samples, train_idx, rng)

    def predict(self, samples: ProgramSamples, test_idx: Ints) -> Floats:
        """Probabilities of the classes, not calibrated: (m, num_classes) float64."""
        from ncc.classification.network_fit import probabilities  # with torch

        vectors = self._vectors.of(samples)[test_idx]
        scores = margins_of(fitted(self._machine), vectors, len(samples.classes))
        return probabilities([scores + self._ngrams.scores(samples, level, test_idx) for level in samples.views])


def frozen_methods(
    files: LabelledFiles, levels: Sequence[str], embedding: Embedding, cache: Path
) -> list[ClassificationMethod]:
    """Classifiers on the vectors of each way of pooling that ``ncc embed`` has and on the encoder's patterns.

    Vectors and patterns have n-grams beside them, too.
    """
    from ncc.classification.ngram_fit import NgramMethod

    readers = [ProgramReader(CompileOptions(optimization=level), embedding.abstraction, cache) for level in levels]
    poolers = [load_pooler(name, embedding) for name in POOLERS]
    found = {
        pooler.name: FrozenVectors(Pooled(pooler), (pooler.id, tuple(levels)), files, readers) for pooler in poolers
    }
    patterns = PatternMachine(files, readers[0], embedding.abstraction)
    return [
        *found.values(),
        VectorsAndNgrams(found["encoder"], NgramMethod(embedding)),
        patterns,
        PatternsAndNgrams(patterns, NgramMethod(embedding)),
    ]


def _labels(samples: ProgramSamples) -> tuple[Ints, int]:
    return samples.label, len(samples.classes)
