"""A linear model on the n-grams of a program, in NumPy, with one byte per weight; and its fit.

N-grams are runs of one, two and three statements, and statements with their literals, hashed into a fixed number of
buckets.

References: Joulin et al. 2017 ("Bag of tricks for efficient text classification"), who hash runs of words; a statement
is the word here, and its literals give it a second spelling. Fan et al. 2008 (LIBLINEAR, which fits it).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Floats32, Ints, Ints32
from ncc.errors import InputError
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.patterns import hash_combine
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.programs.table import EncodedProgram, ProgramTable

BUCKETS = 32768
_MAX_WEIGHT = 127
_MAX_LENGTH = 3
_WORD, _LITERAL, _WORD_WITH_LITERAL, _WORD_WITH_LITERALS = (np.uint64(salt) for salt in range(4, 8))


@dataclass(frozen=True, eq=False)
class NgramModel:
    """Margins of classes from the n-grams of `hashed_ngrams`."""

    weights: NDArray[np.int8]  # (buckets, num_classes)
    scale: Floats32  # (num_classes,) factor of a class's weights
    bias: Floats32  # (num_classes,)
    idf: Floats32  # (buckets,) factor of a bucket's counts; 0 if it occurs in only one training program

    def __post_init__(self) -> None:
        """Check shapes and types."""
        buckets, classes = self.weights.shape if self.weights.ndim == 2 else (0, 0)
        shapes = [self.scale.shape, self.bias.shape, self.idf.shape]
        types = [str(array.dtype) for array in (self.weights, self.scale, self.bias, self.idf)]
        if types != ["int8", *["float32"] * 3] or shapes != [(classes,), (classes,), (buckets,)] or not buckets:
            raise InputError(f"n-grams have shapes {self.weights.shape} and {shapes}, {types}; these don't match")

    @classmethod
    def rounded(cls, weights: Floats, bias: Floats, idf: Floats32) -> Self:
        """Round (num_classes, buckets) weights to 1/127 of the largest of each class."""
        scale = np.maximum(np.abs(weights).max(axis=1), np.finfo(np.float32).tiny) / _MAX_WEIGHT
        whole = np.round(weights / scale[:, None]).astype(np.int8)
        return cls(np.ascontiguousarray(whole.T), scale.astype(np.float32), bias.astype(np.float32), idf)

    def scores(self, program: EncodedProgram) -> Floats32:
        """Return the margins of the classes, (num_classes,) float32."""
        start = np.array([0, len(program.words)])
        _, bucket = hashed_ngrams(program.words, start, program.literals, program.literal_start, len(self.weights))
        used, count = np.unique(bucket, return_counts=True)
        value = _values(count, self.idf[used])
        norm = np.sqrt(value @ value) or np.float32(1)
        return (value / norm) @ self.weights[used].astype(np.float32) * self.scale + self.bias


def fit_ngrams(
    samples: ProgramSamples,
    rows: Ints,
    embedding: Embedding,
    rng: np.random.Generator,
    *,
    buckets: int = BUCKETS,
    penalty: float = 1.0,
) -> NgramModel:
    """Fit a linear support vector machine per class to (m,) int64 rows, at all levels of the samples."""
    from scipy.sparse import vstack
    from sklearn.svm import LinearSVC

    counts = vstack([ngram_counts(table.rows(rows), embedding, buckets) for table in samples.variants.values()]).tocsr()
    frequency = np.bincount(counts.indices, minlength=buckets)
    idf = np.where(frequency > 1, np.log((1 + counts.shape[0]) / (1 + frequency)) + 1, 0).astype(np.float32)
    counts.data = _values(counts.data, idf[counts.indices])
    norms = np.sqrt(counts.multiply(counts).sum(axis=1)).A1
    counts.data /= np.repeat(np.maximum(norms, np.finfo(np.float32).tiny), np.diff(counts.indptr))
    machine = LinearSVC(C=penalty, random_state=int(rng.integers(2**31)))
    machine.fit(counts, np.tile(samples.label[rows], len(samples.variants)))
    coef, intercept = machine.coef_, machine.intercept_
    if len(machine.classes_) == 2:  # two classes need only one machine
        coef, intercept = np.concatenate([-coef, coef]), np.concatenate([-intercept, intercept])
    # a class without programs gets a lower margin than any other
    lowest = (intercept - np.linalg.norm(coef, axis=1)).min() - 1
    weights, bias = np.zeros((len(samples.classes), buckets)), np.full(len(samples.classes), lowest)
    weights[machine.classes_], bias[machine.classes_] = coef, intercept
    return NgramModel.rounded(weights, bias, idf)


def ngram_counts(table: ProgramTable, embedding: Embedding, buckets: int) -> Any:
    """Count each n-gram in each program, as a sparse matrix, (n, buckets)."""
    from scipy.sparse import csr_matrix

    words = embedding.look_up(table.texts).word[table.text_id]
    owner, bucket = hashed_ngrams(words, table.start, table.literal, table.literal_start, buckets)
    counts = csr_matrix((np.ones(len(owner), np.float32), (owner, bucket)), shape=(len(table), buckets))
    counts.sum_duplicates()
    return counts


def ngram_scores(model: NgramModel, table: ProgramTable, embedding: Embedding) -> Floats:
    """Return the margins of programs, (n, num_classes) float64."""
    scores = [model.scores(program) for program in encoded_programs(table, embedding)]
    return np.array(scores, np.float64).reshape(len(table), len(model.bias))


def encoded_programs(table: ProgramTable, embedding: Embedding) -> Iterator[EncodedProgram]:
    """Yield the programs of a table in the words of an embedding."""
    words = embedding.look_up(table.texts).word[table.text_id]
    for start, end in pairwise(table.start.tolist()):
        first, last = table.literal_start[start], table.literal_start[end]
        offsets = (table.literal_start[start : end + 1] - first).astype(np.int32)
        yield EncodedProgram(words[start:end], table.literal[first:last], offsets)


def _values(count: Ints, idf: Floats32) -> Floats32:
    """Weight the counts of n-grams of a program, before its vector is scaled to length 1."""
    return ((1 + np.log(count)) * idf).astype(np.float32)


def hashed_ngrams(
    words: Ints32, start: Ints, literals: NDArray[np.uint32], literal_start: Ints32 | Ints, buckets: int
) -> tuple[Ints, Ints]:
    """Program and bucket of every occurrence of an n-gram in n concatenated programs.

    N-grams are runs of up to three words of a program, each statement's word with all its literals together, each
    literal, and each literal with its statement's word. Arrays are as in `ProgramTable`.
    """
    programs = np.repeat(np.arange(len(start) - 1), np.diff(start))
    word = words.astype(np.uint64)
    owner = np.repeat(np.arange(len(words)), np.diff(literal_start))
    literal = literals.astype(np.uint64)
    spelled = hash_combine(word, _WORD_WITH_LITERALS)
    np.add.at(spelled, owner, hash_combine(literal, _LITERAL))  # whatever the order of literals
    run = hash_combine(word, _WORD)
    ngrams = [
        (programs, spelled),
        (programs[owner], hash_combine(literal, _LITERAL)),
        (programs[owner], hash_combine(hash_combine(word, _WORD_WITH_LITERAL)[owner], literal)),
        (programs, run),
    ]
    for length in range(1, _MAX_LENGTH):
        run = hash_combine(run[:-1], word[length:])
        inside = programs[:-length] == programs[length:]
        ngrams.append((programs[:-length][inside], run[inside]))
    bucket = np.concatenate([hashes for _, hashes in ngrams]) % np.uint64(buckets)
    return np.concatenate([owners for owners, _ in ngrams]), bucket.astype(np.int64)
