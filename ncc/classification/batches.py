"""Programs as batches for networks: rows of vectors and of literals, padded, programs of like length together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ncc.classification.samples import ProgramTable
from ncc.embedding import Embedding
from ncc.encoder.program_lstm import ProgramBatch

__all__ = ["LONGEST", "EncodedPrograms", "PlainData", "ProgramData", "encode_programs", "plain_inputs"]

LONGEST = 768
"""Statements of a program that a network reads."""


@dataclass(frozen=True, eq=False)
class EncodedPrograms:
    """Programs of a table as rows of an embedding and of a table of literals.

    Attributes:
        start: (n + 1,) int64 offsets of the programs' statements.
        word: int32 row of the vectors of each statement.
        literal_start: (num_statements + 1,) int64 offsets into `literal`.
        literal: int64 bucket of each literal.
    """

    start: NDArray[np.int64]
    word: NDArray[np.int32]
    literal_start: NDArray[np.int64]
    literal: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) statements of each program that are read: the first 768."""
        return np.minimum(np.diff(self.start), LONGEST)

    @cached_property
    def _literal_counts(self) -> NDArray[np.int64]:
        return np.diff(self.literal_start)

    def batch(self, rows: NDArray[np.int64]) -> ProgramBatch:
        """Some programs side by side."""
        lengths = self.lengths[rows]
        time = int(lengths.max())
        place = self.start[rows][:, None] + np.arange(time)[None, :]
        inside = np.arange(time)[None, :] < lengths[:, None]
        place = np.where(inside, place, 0)
        counts = np.where(inside, self._literal_counts[place], 0).ravel()
        offsets = np.cumsum(counts) - counts
        within = np.arange(counts.sum()) - np.repeat(offsets, counts)
        literals = self.literal[np.repeat(self.literal_start[place].ravel(), counts) + within]
        return ProgramBatch(
            torch.from_numpy(np.where(inside, self.word[place], 0).astype(np.int64)),
            torch.from_numpy(lengths),
            torch.from_numpy(literals),
            torch.from_numpy(offsets),
        )


def encode_programs(
    table: ProgramTable, embedding: Embedding, buckets: int, row: NDArray[np.int32] | None = None
) -> EncodedPrograms:
    """Looks up the statements of a table in an embedding, and hashes its literals into buckets.

    Args:
        table: The programs.
        embedding: Where statements are looked up.
        buckets: Rows of the table that literals are hashed into; 0 reads none.
        row: (num_words,) int32 row of a network's vectors for each word; None where it has those of the embedding.
    """
    word = embedding.look_up(table.texts).word
    word = (word if row is None else row[word])[table.text_id]
    if not buckets:
        none = np.zeros(len(table.text_id) + 1, np.int64)
        return EncodedPrograms(table.start, word, none, np.zeros(0, np.int64))
    return EncodedPrograms(table.start, word, table.literal_start, (table.literal % buckets).astype(np.int64))


def plain_inputs(batch: ProgramBatch) -> tuple[Tensor, ...]:
    """The inputs of `LSTMHead` for programs that bring no auxiliary numbers."""
    count = len(batch.lengths)
    return batch.words, batch.lengths, torch.zeros(count, 0), torch.arange(count)


class ProgramData:
    """Programs as training data, each at one of its levels each time it is drawn."""

    def __init__(self, views: Sequence[EncodedPrograms], label: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        self.views, self.label, self.rows = views, label, rows
        self._level = np.zeros(len(rows), np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """Batches of programs of about the same length, in random order, at levels drawn anew."""
        self._level = rng.integers(len(self.views), size=len(self.rows))
        lengths = np.stack([view.lengths[self.rows] for view in self.views])[self._level, np.arange(len(self.rows))]
        order = np.argsort(np.log(lengths) + rng.normal(0, 0.1, len(lengths)))
        cut = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
        if len(cut) > 1 and len(cut[-1]) == 1:  # batch normalisation, in the paper's head, can't do with one
            cut[-2:] = [np.concatenate(cut[-2:])]
        return [cut[i] for i in rng.permutation(len(cut))]

    def batch(self, samples: NDArray[np.int64], rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:  # noqa: ARG002
        """The inputs of `ProgramLSTM` for some of the rows, and their classes."""
        # programs of one batch may be at different levels: each level gives its own part, padded to one length
        drawn = self._level[samples]
        parts = [(view, self.rows[samples[drawn == level]]) for level, view in enumerate(self.views)]
        parts = [(view, rows) for view, rows in parts if len(rows)]
        target = torch.from_numpy(np.concatenate([self.label[rows] for _, rows in parts]))
        return _side_by_side([view.batch(rows) for view, rows in parts]), target


class PlainData(ProgramData):
    """The same for `LSTMHead`."""

    def batch(self, samples: NDArray[np.int64], rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:
        """The inputs of `LSTMHead` for some of the rows, and their classes."""
        inputs, target = super().batch(samples, rng)
        return plain_inputs(ProgramBatch(*inputs)), target


def _side_by_side(batches: Sequence[ProgramBatch]) -> ProgramBatch:
    """Batches as one, padded to the longest."""
    if len(batches) == 1:
        return batches[0]
    time = max(batch.words.shape[1] for batch in batches)
    words = torch.cat([nn.functional.pad(batch.words, (0, time - batch.words.shape[1])) for batch in batches])
    starts, offset = [], 0
    for batch in batches:
        count, width = batch.words.shape
        # places of the padding begin where the next program's literals do
        start = torch.cat([batch.literal_start, torch.tensor([len(batch.literals)])])
        index = torch.arange(count)[:, None] * width + torch.arange(time)[None, :].clamp(max=width)
        starts.append(start[index].ravel() + offset)
        offset += len(batch.literals)
    return ProgramBatch(
        words,
        torch.cat([batch.lengths for batch in batches]),
        torch.cat([batch.literals for batch in batches]),
        torch.cat(starts),
    )
