"""Methods that turn code into vectors to compare: statement vectors' means, bags, histograms, an untrained encoder.

None of them learns from labels. Document frequencies are those of the code that is compared, which favors controls.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ncc.errors import NccError
from ncc.ir.reader.reader import read_module
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.pooling import POOLINGS, Pooler, load_pooler
from ncc.learning.programs.table import ProgramTable
from ncc.tasks.classification.ngrams import ngram_counts
from ncc_lab.frame import Kind
from ncc_lab.programs.classify import opcode_counts, statement_counts
from ncc_lab.retrieval.metrics import Matrix

_BUCKETS = 1 << 18
_MAX_LENGTH = 1024
"""Statements of a program that the encoder reads."""


@dataclass(frozen=True, eq=False)
class Units:
    """Unit of comparison: programs, or functions."""

    table: ProgramTable
    ir: Callable[[int], tuple[bytes, str | None]]


@dataclass(frozen=True, eq=False)
class Representation:
    """A way to make vectors of code.

    Attributes:
        name: Name for tables.
        kind: Whose it is.
        vectors: From units to (n, dim) vectors, an array or a sparse matrix; zeros for what it can't read.
    """

    name: str
    kind: Kind
    vectors: Callable[[Units], Matrix]


def pooled(pooler: Pooler, name: str = "") -> Representation:
    """Return vectors as ``ncc embed`` gives them, by a way of pooling: (n, dim) float32."""

    def vectors(units: Units) -> Matrix:
        rows = np.zeros((len(units.table), pooler.dim), np.float32)
        start, following = 0, units.ir(0)
        while start < len(rows):
            ir, first = following
            names, end = [first], start + 1
            while end < len(rows) and (following := units.ir(end))[0] is ir:  # functions of a module lie together
                names.append(following[1])
                end += 1
            with suppress(NccError):  # what can't be read again has no vector
                module = read_module(ir, abstraction=pooler.abstraction)
                position = {name: index for index, name in enumerate(module.function_names)}
                functions = None if first is None else [position[name] for name in names if name is not None]
                rows[start:end] = pooler.vectors(module, functions)
            start = end
        return rows

    return Representation(name or f"ncc, --pooling {pooler.name}", "ours", vectors)


def all_representations(embedding: Embedding, seed: int = 204) -> tuple[Representation, ...]:
    """Return every way to make vectors that can be measured, in the order of tables."""
    from ncc_lab.retrieval.ir2vec import is_installed, wheel_vectors

    def control(name: str, of_table: Callable[[ProgramTable], Matrix]) -> Representation:
        return Representation(name, "control", lambda units: of_table(units.table))

    return (
        control("opcode histogram", opcode_counts),
        control("TF-IDF bag of statements", lambda table: _weight_by_rarity(statement_counts(table))),
        control(
            "TF-IDF n-grams of statements and literals",
            lambda table: _weight_by_rarity(ngram_counts(table, embedding, _BUCKETS)),
        ),
        control("mean of statement vectors", lambda table: _mean(table, embedding)),
        control("idf-weighted mean", lambda table: _mean(table, embedding, is_weighted=True)),
        control("idf-weighted mean, centred", lambda table: _center(_mean(table, embedding, is_weighted=True))),
        *(pooled(load_pooler(name, embedding)) for name in POOLINGS if name != "mean"),
        *([Representation("IR2Vec flow-aware (its wheel)", "published", wheel_vectors)] if is_installed() else []),
        control("encoder, not trained", lambda table: _untrained(table, embedding, seed)),
    )


def _weight_by_rarity(counts: Any) -> Any:
    """Return TF-IDF weights: 1 + log count, times the inverse document frequency."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer(sublinear_tf=True).fit_transform(counts)


def _mean(table: ProgramTable, embedding: Embedding, *, is_weighted: bool = False) -> Matrix:
    from scipy.sparse import diags_array

    words = embedding.look_up(table.texts).word
    counts = statement_counts(table, words)
    if is_weighted:
        spread = np.bincount(counts.indices, minlength=counts.shape[1])
        counts = counts @ diags_array(np.log((1 + counts.shape[0]) / (1 + spread)))
    total = np.asarray(counts.sum(axis=1)).ravel()
    sums = counts @ embedding.vectors[: counts.shape[1]].astype(np.float32)
    return sums / np.where(total > 0, total, 1)[:, None]


def _center(vectors: Matrix) -> Matrix:
    """Subtract the mean of all; what has no vector still has none."""
    has_vector = vectors.any(axis=1)
    return np.where(has_vector[:, None], vectors - vectors[has_vector].mean(axis=0), 0)


def _untrained(table: ProgramTable, embedding: Embedding, seed: int) -> Matrix:
    """Return vectors of an LSTM with weights as they were drawn: what the shape of the encoder is worth by itself."""
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
    sequences = Sequences(table.start, words, table.literal_start, literals, _MAX_LENGTH)
    vectors = np.zeros((len(table), config.vector_size(embedding.dim)), np.float32)
    order = np.argsort(sequences.lengths, kind="stable")
    order = order[sequences.lengths[order] > 0]
    with torch.inference_mode():
        for rows in np.array_split(order, -(-len(order) // 64) or 1):
            if len(rows):
                vectors[rows] = encoder(*sequences.batch(rows)[:4]).numpy()
    return vectors
