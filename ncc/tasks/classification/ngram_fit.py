"""A linear model on n-grams of statements and their literals, as a method that `evaluate` can measure."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.programs.table import EncodedProgram, ProgramTable
from ncc.tasks.classification.ngrams import NgramModel, hashed_ngrams, ngram_values
from ncc.tasks.classification.scoring import ScoringMethod


class NgramMethod(ScoringMethod):
    """A linear support vector machine for each class, on hashed n-grams weighted by how rare they are.

    References: Joulin et al. 2017 (hashed n-grams); Fan et al. 2008 (LIBLINEAR).
    """

    sharpness = 5.0
    """Of margins, where they alone are to give probabilities."""

    def __init__(
        self,
        embedding: Embedding,
        buckets: int = 32768,
        penalty: float = 1.0,
        name: str = "n-grams of statements and literals + linear model",
    ) -> None:
        """Trains on all levels that samples have; a program's scores at all of them are averaged.

        Args:
            embedding: Its vocabulary, with the back-off of unknown statements, is where words come from.
            buckets: That n-grams are hashed into.
            penalty: Weight of mistakes beside that of the squared weights ("C").
            name: For tables.
        """
        self.name = name
        self.embedding = embedding
        self.buckets = buckets
        self.penalty = penalty
        self.model: NgramModel | None = None

    @property
    def identity(self) -> Any:
        """Vocabulary and options."""
        return self.embedding.vectors, self.buckets, self.penalty

    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator) -> None:
        """Fits the model to some rows."""
        from scipy.sparse import vstack
        from sklearn.svm import LinearSVC

        counts = vstack(
            [ngram_counts(table.rows(train_idx), self.embedding, self.buckets) for table in samples.views.values()]
        ).tocsr()
        spread = np.bincount(counts.indices, minlength=self.buckets)
        rarity = np.where(spread > 1, np.log((1 + counts.shape[0]) / (1 + spread)) + 1, 0).astype(np.float32)
        label = np.tile(samples.label[train_idx], len(samples.views))
        counts.data = ngram_values(counts.data, rarity[counts.indices])
        norms = np.sqrt(counts.multiply(counts).sum(axis=1)).A1
        counts.data /= np.repeat(np.maximum(norms, np.finfo(np.float32).tiny), np.diff(counts.indptr))
        machine = LinearSVC(C=self.penalty, random_state=int(rng.integers(2**31))).fit(counts, label)
        if len(machine.classes_) == 2:  # one machine tells two classes apart
            machine.coef_ = np.concatenate([-machine.coef_, machine.coef_])
            machine.intercept_ = np.concatenate([-machine.intercept_, machine.intercept_])
        # a class that has no program here is lower than any other can get
        lowest = (machine.intercept_ - np.linalg.norm(machine.coef_, axis=1)).min() - 1
        weights, bias = np.zeros((len(samples.classes), self.buckets)), np.full(len(samples.classes), lowest)
        weights[machine.classes_], bias[machine.classes_] = machine.coef_, machine.intercept_
        self.model = NgramModel.rounded(weights, bias, rarity)

    def scores(self, samples: ProgramSamples, level: str, rows: Ints) -> Floats:
        """Margins."""
        if self.model is None:
            raise InputError("fit the method before predicting")
        table = samples.views[level].rows(rows)
        found = np.zeros((len(rows), len(samples.classes)))
        for row, program in enumerate(encoded_programs(table, self.embedding)):
            found[row] = self.model.scores(program)
        return found


def ngram_counts(table: ProgramTable, embedding: Embedding, buckets: int) -> Any:
    """How often each n-gram occurs in each program, as a sparse matrix, (n, buckets)."""
    from scipy.sparse import csr_matrix

    words = embedding.look_up(table.texts).word[table.text_id]
    owner, bucket = hashed_ngrams(words, table.start, table.literal, table.literal_start, buckets)
    counts = csr_matrix((np.ones(len(owner), np.float32), (owner, bucket)), shape=(len(table), buckets))
    counts.sum_duplicates()
    return counts


def encoded_programs(table: ProgramTable, embedding: Embedding) -> Iterator[EncodedProgram]:
    """The programs of a table, one after the other, in the words of an embedding."""
    words = embedding.look_up(table.texts).word[table.text_id]
    for begin, end in pairwise(table.start.tolist()):
        first, last = table.literal_start[begin], table.literal_start[end]
        offsets = (table.literal_start[begin : end + 1] - first).astype(np.int32)
        yield EncodedProgram(words[begin:end], table.literal[first:last], offsets)
