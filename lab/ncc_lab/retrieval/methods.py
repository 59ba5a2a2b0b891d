"""Methods that turn code into vectors to compare: statement vectors' means, bags, histograms, an untrained encoder.

None of them learns from labels. Document frequencies are those of the code that is compared, which favors controls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from ncc.errors import NccError
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.pooling import POOLERS, Pooler, load_pooler
from ncc.learning.programs.table import ProgramTable
from ncc.tasks.classification.ngrams import ngram_counts
from ncc_lab.classification.classify import opcode_counts, statement_counts
from ncc_lab.frame import Kind
from ncc_lab.retrieval.metrics import Matrix

_BUCKETS = 1 << 18
_LONGEST = 1024
"""Statements of a program that the encoder reads."""


@dataclass(frozen=True, eq=False)
class Units:
    """What is compared: programs, or functions.

    Attributes:
        table: Their statements, n of them.
        ir: From a unit's number to the text of its module and the name of its function there, or None for all of them.
    """

    table: ProgramTable
    ir: Callable[[int], tuple[bytes, str | None]]


class Representation(Protocol):
    """A way to make vectors of code."""

    @property
    def name(self) -> str:
        """Name for tables."""

    @property
    def kind(self) -> Kind:
        """Whose it is."""

    def vectors(self, units: Units, /) -> Matrix:
        """Returns (n, dim) vectors, an array or a sparse matrix; a row of zeros for what it can't read."""


@dataclass(frozen=True)
class _Counted:
    """A control that is a function of the table alone."""

    name: str
    of_table: Callable[[ProgramTable], Matrix]
    kind: Final = "control"

    def vectors(self, units: Units, /) -> Matrix:
        return self.of_table(units.table)


@dataclass(frozen=True)
class Pooled:
    """Vectors as ``ncc embed`` gives them, by a way of pooling.

    Attributes:
        pooler: The way.
        called: Its name in tables; default as options name it.
    """

    pooler: Pooler
    called: str = ""
    kind: Final = "ours"

    @property
    def name(self) -> str:
        """For tables."""
        return self.called or f"ncc, --pooling {self.pooler.name}"

    def vectors(self, units: Units, /) -> Matrix:
        """Returns (n, dim) float32; zeros for what can't be read again."""
        found = np.zeros((len(units.table), self.pooler.dim), np.float32)
        begin, following = 0, units.ir(0)
        while begin < len(found):
            ir, first = following
            names, end = [first], begin + 1
            while end < len(found) and (following := units.ir(end))[0] is ir:  # functions of a module lie together
                names.append(following[1])
                end += 1
            if module := self._read(ir):
                place = {name: number for number, name in enumerate(module.function_names)}
                numbers = None if first is None else [place[name] for name in names if name is not None]
                found[begin:end] = self.pooler.vectors(module, numbers)
            begin = end
        return found

    def _read(self, ir: bytes) -> Module | None:
        try:
            return read_module(ir, abstraction=self.pooler.abstraction)
        except NccError:
            return None


def all_representations(embedding: Embedding, seed: int = 204) -> tuple[Representation, ...]:
    """Every way to make vectors that can be measured, in the order of tables."""
    from ncc_lab.retrieval.ir2vec import IR2VecWheel, is_installed

    return (
        _Counted("opcode histogram", opcode_counts),
        _Counted("TF-IDF bag of statements", lambda table: _rarity_weighted(statement_counts(table))),
        _Counted(
            "TF-IDF n-grams of statements and literals",
            lambda table: _rarity_weighted(_ngrams(table, embedding)),
        ),
        _Counted("mean of statement vectors", lambda table: _mean(table, embedding)),
        _Counted("idf-weighted mean", lambda table: _mean(table, embedding, weighted=True)),
        _Counted("idf-weighted mean, centred", lambda table: _centered(_mean(table, embedding, weighted=True))),
        *(Pooled(load_pooler(name, embedding)) for name in POOLERS if name != "mean"),
        *([IR2VecWheel()] if is_installed() else []),
        _Counted("encoder, not trained", lambda table: _untrained(table, embedding, seed)),
    )


def _ngrams(table: ProgramTable, embedding: Embedding) -> Any:
    return ngram_counts(table, embedding, _BUCKETS)


def _rarity_weighted(counts: Any) -> Any:
    """1 + log count, by how few have it."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer(sublinear_tf=True).fit_transform(counts)


def _mean(table: ProgramTable, embedding: Embedding, *, weighted: bool = False) -> Matrix:
    from scipy.sparse import diags_array

    words = embedding.look_up(table.texts).word
    counts = statement_counts(table, words)
    if weighted:
        spread = np.bincount(counts.indices, minlength=counts.shape[1])
        counts = counts @ diags_array(np.log((1 + counts.shape[0]) / (1 + spread)))
    total = np.asarray(counts.sum(axis=1)).ravel()
    sums = counts @ embedding.vectors[: counts.shape[1]].astype(np.float32)
    return sums / np.where(total > 0, total, 1)[:, None]


def _centered(vectors: Matrix) -> Matrix:
    """Less the mean of all; what has no vector still has none."""
    there = vectors.any(axis=1)
    return np.where(there[:, None], vectors - vectors[there].mean(axis=0), 0)


def _untrained(table: ProgramTable, embedding: Embedding, seed: int) -> Matrix:
    """What the shape of the encoder is worth by itself: an LSTM with weights as they were drawn."""
    import torch

    from ncc.learning.encoder.batches import Sequences
    from ncc.learning.encoder.config import EncoderConfig
    from ncc.learning.encoder.network import Encoder

    config = EncoderConfig(hidden=128, layers=1, bidirectional=True, pooling=("mean", "max"), buckets=8192)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = Encoder(embedding.vectors.astype(np.float32), config).eval()
    words = embedding.look_up(table.texts).word[table.text_id]
    literals = (table.literal % config.buckets).astype(np.int64)
    sequences = Sequences(table.start, words, table.literal_start, literals, _LONGEST)
    vectors = np.zeros((len(table), config.vector_size(embedding.dim)), np.float32)
    order = np.argsort(sequences.lengths, kind="stable")
    order = order[sequences.lengths[order] > 0]
    with torch.inference_mode():
        for rows in np.array_split(order, -(-len(order) // 64) or 1):
            if len(rows):
                vectors[rows] = encoder(*sequences.batch(rows)[:4]).numpy()
    return vectors
