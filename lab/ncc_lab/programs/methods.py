"""Ncc's classifiers as methods, and linear models on vectors and patterns that no label has changed.

With few labels per class, the latter show what unchanged vectors are worth.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ncc.arrays import Floats, Floats32, Ints
from ncc.errors import NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.reader import read_module
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.linear import pattern_values
from ncc.learning.encoder.patterns import PatternCounts, count_patterns
from ncc.learning.encoder.pooling import POOLINGS, load_pooler
from ncc.learning.programs.ir_cache import CachingCompiler
from ncc.learning.programs.labelled import LabelledFiles, ProgramSamples
from ncc.system.files.reading import InputFile
from ncc.tasks.classification.config import NetworkTraining
from ncc.tasks.classification.network import fit_network
from ncc.tasks.classification.ngrams import BUCKETS, fit_ngrams, ngram_scores
from ncc.tasks.classification.train import NGRAM_WEIGHT, probabilities
from ncc_lab.controls import sklearn_method
from ncc_lab.frame import Kind, Method, Subset
from ncc_lab.retrieval.methods import Representation, pooled
from ncc_lab.retrieval.metrics import unit_rows
from ncc_lab.retrieval.programs import ReadIR, at_all_levels

Scores = Callable[[str, Ints], Floats]
"""From a level and m rows to scores of the classes, (m, num_classes)."""

_NGRAM_SHARPNESS = 5.0
"""Factor of margins that alone give probabilities."""
_VECTOR_PENALTY = 3.0
"""Weight of mistakes on the encoder's vectors beside n-grams, chosen on 100 programs of each of POJ-104's classes 65 to
80, which the encoder that ships has not seen, ten of each to learn from."""


@dataclass(frozen=True, eq=False)
class Scorer:
    """A classifier whose scores of a program at all levels are averaged."""

    name: str
    fit: Callable[[ProgramSamples, Ints, np.random.Generator], Scores]
    key: Any
    kind: Kind = "ours"
    is_slow: bool = False
    levels: Callable[[ProgramSamples], Sequence[str]] = lambda samples: list(samples.variants)
    sharpness: float = 1.0

    @property
    def method(self) -> Method[ProgramSamples]:
        """The classifier as a method of probabilities."""

        def predict(train: Subset[ProgramSamples], test: Subset[ProgramSamples], rng: np.random.Generator) -> Floats:
            scores = self.fit(train.table, train.rows, rng)
            return probabilities([self.sharpness * scores(level, test.rows) for level in self.levels(test.table)])

        return Method(self.name, self.kind, predict, self.key, version="3", is_slow=self.is_slow)


def network(
    embedding: Embedding, training: NetworkTraining, name: str = "ncc's network", kind: Kind = "ours"
) -> Scorer:
    """Return the encoder with a head for classes."""

    def fit(samples: ProgramSamples, train: Ints, rng: np.random.Generator) -> Scores:
        trained = fit_network(samples, train, embedding, training, rng)
        return lambda level, rows: trained.scores(samples.variants[level].rows(rows))

    key = embedding.vectors, asdict(training)
    return Scorer(name, fit, key, kind, is_slow=True, levels=training.levels)


def ngrams(embedding: Embedding, buckets: int = BUCKETS, penalty: float = 1.0) -> Scorer:
    """Return the linear model on n-grams hashed into buckets; the penalty is the weight of mistakes."""

    def fit(samples: ProgramSamples, train: Ints, rng: np.random.Generator) -> Scores:
        model = fit_ngrams(samples, train, embedding, rng, buckets=buckets, penalty=penalty)
        return lambda level, rows: ngram_scores(model, samples.variants[level].rows(rows), embedding)

    name = "n-grams of statements and literals + linear model"
    return Scorer(name, fit, (embedding.vectors, buckets, penalty), sharpness=_NGRAM_SHARPNESS)


def summed(name: str, parts: Mapping[Scorer, float]) -> Scorer:
    """Return the weighted sum of scorers that are trained in sequence."""

    def fit(samples: ProgramSamples, train: Ints, rng: np.random.Generator) -> Scores:
        fitted = [(part.fit(samples, train, rng), weight) for part, weight in parts.items()]
        return lambda level, rows: np.sum([weight * scores(level, rows) for scores, weight in fitted], axis=0)

    key = tuple((part.key, weight) for part, weight in parts.items())
    return Scorer(name, fit, key, is_slow=any(part.is_slow for part in parts))


def whole_classifier(embedding: Embedding, training: NetworkTraining) -> Scorer:
    """Return the network and the n-grams as they ship together."""
    return summed("ncc", {network(embedding, training): 1.0, ngrams(embedding): NGRAM_WEIGHT})


def linear_machine(
    name: str, learn: Callable[[ProgramSamples, Ints], Callable[[Ints], Any]], key: Any, penalty: float = 1.0
) -> Scorer:
    """Return a linear support vector machine on features that are the same for all levels.

    ``learn`` gives, from samples and training rows, what makes features of any rows: (m, k) dense or sparse.
    """

    def fit(samples: ProgramSamples, train: Ints, rng: np.random.Generator) -> Scores:
        from sklearn.svm import LinearSVC

        features = learn(samples, train)
        machine = LinearSVC(C=penalty, random_state=int(rng.integers(2**31)))
        machine.fit(features(train), samples.label[train])

        def scores(_level: str, rows: Ints) -> Floats:
            margins = machine.decision_function(features(rows))
            if margins.ndim == 1:  # of two classes
                margins = np.stack([-margins, margins], axis=1)
            whole = np.full((len(margins), len(samples.classes)), margins.min())  # of those that were not learned
            whole[:, machine.classes_] = margins
            return whole

        return scores

    return Scorer(name, fit, (key, penalty))


def patterns(files: LabelledFiles, read: ReadIR, abstraction: Abstraction, key: Any) -> Scorer:
    """Return a machine on programs' patterns, weighted by how rare they are among those of training."""
    bags: list[PatternCounts] = []

    def bag(path: InputFile) -> PatternCounts:
        try:
            module = read_module(read(path)[0], abstraction=abstraction)
        except NccError:  # it can't be read again
            return PatternCounts(np.zeros(2, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.int32))
        return count_patterns(module, np.zeros(len(module.function_node), np.int64))

    def learn(samples: ProgramSamples, train: Ints) -> Callable[[Ints], Any]:
        from scipy.sparse import csr_matrix

        if not bags:
            bags.extend(bag(InputFile(files.paths[row], files.folder)) for row in samples.row.tolist())
        keys, spread = np.unique(np.concatenate([bags[row].key for row in train]), return_counts=True)
        rarity = np.where(spread > 1, np.log((1 + len(train)) / (1 + spread)), 0).astype(np.float32)

        def features(rows: Ints) -> Any:
            start, column, values = pattern_values(PatternCounts.joined([bags[row] for row in rows]), keys, rarity)
            return csr_matrix((values, column, start), shape=(len(rows), len(keys)))

        return features

    return linear_machine("patterns of code + linear model", learn, key)


class FrozenVectors:
    """Vectors of programs, (n, dim) float32 of length 1, made once, when they are first asked for."""

    def __init__(self, made_by: Representation, files: LabelledFiles, readers: Sequence[ReadIR]) -> None:
        self._made_by = made_by, files, readers
        self._vectors: Floats32 | None = None

    def __call__(self, samples: ProgramSamples, _seed: int = 0) -> Floats32:
        """Return the vectors of the samples."""
        if self._vectors is None:
            representation, files, readers = self._made_by
            self._vectors = unit_rows(at_all_levels(representation, files, samples, readers))[0]
        return self._vectors


def frozen_methods(
    files: LabelledFiles, levels: Sequence[str], embedding: Embedding, cache: Path
) -> list[Method[ProgramSamples]]:
    """Return classifiers on vectors of each way of pooling that ``ncc embed`` has and on the encoder's patterns."""
    from sklearn.linear_model import LogisticRegression

    from ncc_lab.programs.classify import labels_of

    compiler = CachingCompiler.below(cache)
    options = [CompileOptions(optimization=level) for level in levels]
    readers = [partial(compiler.program_ir, options=each) for each in options]
    model = LogisticRegression(C=100.0, max_iter=1000)
    methods = []
    for name in POOLINGS:
        pooler = load_pooler(name, embedding)
        representation, key = pooled(pooler), (pooler.id, tuple(levels))
        vectors = FrozenVectors(representation, files, readers)
        title = f"{representation.name} + linear model"
        methods.append(sklearn_method(title, vectors, model, labels=labels_of, kind=representation.kind, key=key))
        if name == "encoder":
            frozen, of_encoder = vectors, key
    by_vectors = linear_machine(
        "ncc, --pooling encoder + linear machine",
        lambda samples, _train: lambda rows: frozen(samples)[rows],
        of_encoder,
        _VECTOR_PENALTY,
    )
    by_patterns = patterns(files, readers[0], embedding.abstraction, (options[0], embedding.abstraction))
    return [
        *methods,
        summed("ncc, --pooling encoder, and n-grams + linear models", {by_vectors: 1.0, ngrams(embedding): 1.0}).method,
        by_patterns.method,
        summed("patterns of code, and n-grams + linear models", {by_patterns: 1.0, ngrams(embedding): 1.0}).method,
    ]
