"""Batches of sequences of different lengths for the encoder and the training loop."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ncc.arrays import Floats, Floats32, Ints, Ints32, offsets, positions
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.encoder.network_numpy import MAX_LENGTH
from ncc.learning.heads.files import fingerprint
from ncc.learning.programs.table import ProgramTable

_BATCH = 64

_BUCKET_RATIO = 1.1
"""Maximum ratio of sequence lengths in a bucket, from which batches of similar numbers of words are cut."""


class SequenceBatch(NamedTuple):
    """Padded sequences and the samples that they belong to: inputs of an `EncoderNetwork`."""

    words: Tensor  # (batch, time) int64 rows of the vectors; entries after a sequence's end are ignored
    lengths: Tensor  # (batch,) int64, at least 1
    literals: Tensor  # int64 buckets of all literals
    literal_start: Tensor  # (batch * time,) int64 offsets into `literals` for each entry of `words`
    auxiliary: Tensor  # (samples, num_auxiliary) float32
    owner: Tensor  # (samples,) int64 sequence of each sample


@dataclass(frozen=True, eq=False)
class Sequences:
    """Concatenated sequences of words, with the literals of each word."""

    start: Ints  # (n + 1,) offsets of the n sequences
    word: NDArray[np.integer]  # row of the vectors of each word
    literal_start: Ints  # (num_words + 1,) offsets into `literal`
    literal: Ints  # bucket of each literal
    max_length: int | None = None  # words that are read from the start of a sequence; None for all

    @classmethod
    def of(cls, words: Sequence[NDArray[np.integer]]) -> Self:
        """Sequences without literals."""
        start = np.cumsum([0, *map(len, words)])
        return cls(start, np.concatenate(words), np.zeros(start[-1] + 1, np.int64), np.zeros(0, np.int64))

    @classmethod
    def joined(cls, parts: Sequence["Sequences"]) -> Self:
        """Concatenate sequences."""
        return cls(
            offsets(np.concatenate([np.diff(part.start) for part in parts])),
            np.concatenate([part.word for part in parts]),
            offsets(np.concatenate([np.diff(part.literal_start) for part in parts])),
            np.concatenate([part.literal for part in parts]),
            parts[0].max_length,
        )

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def arrays(self) -> tuple[NDArray[np.integer], ...]:
        """Everything that batches depend on, for hashes."""
        return np.array([self.max_length or 0]), self.start, self.word, self.literal_start, self.literal

    @cached_property
    def lengths(self) -> Ints:
        """(n,) words of each sequence that are read."""
        lengths = np.diff(self.start)
        return lengths if self.max_length is None else np.minimum(lengths, self.max_length)

    def rows_read(self, rows: Ints) -> tuple[Ints, Ints]:
        """Distinct words of some sequences, and their distinct literals."""
        words = positions(self.start[rows], self.lengths[rows])
        literals = positions(self.literal_start[words], np.diff(self.literal_start)[words])
        return np.unique(self.word[words]), np.unique(self.literal[literals])

    def batch(self, rows: Ints, auxiliary: Floats32 | None = None, owner: Ints | None = None) -> SequenceBatch:
        """Pad some sequences to a batch; by default each is one sample without auxiliary numbers."""
        lengths = self.lengths[rows]
        time = np.arange(lengths.max())
        inside = time < lengths[:, None]
        position = np.where(inside, self.start[rows][:, None] + time, 0)
        counts = np.where(inside, self.literal_start[position + 1] - self.literal_start[position], 0).ravel()
        literal_start = np.cumsum(counts) - counts
        literals = self.literal[positions(self.literal_start[position].ravel(), counts)]
        words = np.where(inside, self.word[position], 0).astype(np.int64)
        owner = np.arange(len(rows)) if owner is None else owner
        auxiliary = np.zeros((len(owner), 0), np.float32) if auxiliary is None else auxiliary
        return SequenceBatch(*map(torch.from_numpy, (words, lengths, literals, literal_start, auxiliary, owner)))


def encode_programs(table: ProgramTable, embedding: Embedding, buckets: int, row: Ints32 | None = None) -> Sequences:
    """Look up a table's statements and hash its literals; `row` is a network's row of vectors for each word."""
    word = embedding.look_up(table.texts).word
    word = (word if row is None else row[word])[table.text_id]
    literals = (table.literal % max(buckets, 1)).astype(np.int64)  # an encoder without buckets does not read them
    return Sequences(table.start, word, table.literal_start, literals, MAX_LENGTH)


class SequenceData:
    """Samples as training data, in batches of similar length; a sequence that samples share is in a batch once.

    A sample's sequence can have variants (a program at several optimization levels): each epoch draws one of them.
    """

    def __init__(
        self,
        sequences: Sequences,
        target: NDArray[np.generic],
        *,
        auxiliary: Floats32 | None = None,
        owner: Ints | None = None,
        variants: Ints | None = None,
        noise: float = 0.1,
        batch_by: str = "samples",
    ) -> None:
        """Targets are (n, …), auxiliary numbers (n, m); `owner` is each sample's row of the (…, k) variants."""
        self._sequences, self._target = sequences, torch.from_numpy(target)
        self._noise, self._batch_by = noise, batch_by
        self._auxiliary = np.zeros((len(target), 0), np.float32) if auxiliary is None else auxiliary
        self._owner = np.arange(len(target)) if owner is None else owner
        self._variants = np.arange(len(sequences))[:, None] if variants is None else variants
        self._drawn = self._variants[:, 0]

    def __len__(self) -> int:
        return len(self._target)

    def digest(self) -> str:
        """A hash of all samples."""
        own = self._auxiliary, self._owner, self._variants, self._target.numpy()
        return fingerprint((self._noise, self._batch_by), *self._sequences.arrays, *own)

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[Ints]:
        """All samples once, in batches of similar size, in random order, with newly drawn sequences."""
        num, num_variants = self._variants.shape
        self._drawn = self._variants[np.arange(num), rng.integers(np.full(num, num_variants))]
        if self._batch_by == "tokens":
            batches = self._cut_by_words(batch_size, rng)
        else:
            batches = self._cut_in_order(batch_size, np.asarray(rng.normal(0, self._noise, num)))
        if len(batches) > 1 and min(map(len, batches)) == 1:  # batch normalization needs two samples
            batches[-2:] = [np.concatenate(batches[-2:])]
        return [batches[i] for i in rng.permutation(len(batches))]

    def in_order(self, batch_size: int) -> list[Ints]:
        """All samples once, the shortest first, each with its first variant."""
        self._drawn = self._variants[:, 0]
        return self._cut_in_order(batch_size, np.zeros(len(self._drawn)))

    def _cut_in_order(self, batch_size: int, noise: Floats) -> list[Ints]:
        """Samples by the lengths of their sequences times exp(noise), those of one sequence side by side."""
        rank = np.argsort(np.argsort(np.log(self._sequences.lengths[self._drawn]) + noise, kind="stable"))
        order = np.argsort(rank[self._owner], kind="stable")
        return np.array_split(order, -(-len(order) // batch_size))

    def _cut_by_words(self, batch_size: int, rng: np.random.Generator) -> list[Ints]:
        """The same number of batches with similar numbers of words, each from one bucket of lengths, reshuffled.

        Buckets of less than a batch join the next longer one; a batch has at least two samples.
        """
        lengths = self._sequences.lengths[self._drawn]
        bucket = np.ceil(np.log(lengths) / math.log(_BUCKET_RATIO))[self._owner]
        order = np.lexsort((rng.permutation(len(lengths))[self._owner], bucket))
        words = np.cumsum((lengths / np.bincount(self._owner, minlength=len(lengths)))[self._owner[order]])
        ends = np.flatnonzero(np.diff(bucket[order], append=np.inf)) + 1
        num_batches = np.rint(words[ends - 1] / words[-1] * -(-len(order) // batch_size)).astype(int)
        batches: list[Ints] = []
        start = before = 0
        for end, done in zip(ends.tolist(), num_batches.tolist(), strict=True):
            if done > before and end - start > 1:
                batches += np.array_split(order[start:end], min(done - before, (end - start) // 2))
                start, before = end, done
        return [*batches[:-1], np.concatenate([*batches[-1:], order[start:]])]  # the remainder is under half a batch

    def sparse_rows(self, samples: Ints) -> dict[str, Ints]:
        """Rows of an `EncoderNetwork`'s tables that some samples read."""
        words, literals = self._sequences.rows_read(self._drawn[np.unique(self._owner[samples])])
        return {"encoder.vectors": words, "encoder.literals.weight": literals}

    def batch(self, samples: Ints, _rng: np.random.Generator | None = None) -> tuple[SequenceBatch, Tensor]:
        """The network's inputs and targets for some samples."""
        owners, owner = np.unique(self._owner[samples], return_inverse=True)
        inputs = self._sequences.batch(self._drawn[owners], self._auxiliary[samples], owner)
        return inputs, self._target[torch.from_numpy(samples)]


def network_outputs(network: EncoderNetwork, data: SequenceData) -> Floats:
    """A network's outputs for all samples, (n, num_outputs) float64; restores its mode."""
    device, was_training = next(network.parameters()).device, network.training
    network.eval()
    batches = data.in_order(_BATCH)
    with torch.inference_mode():
        parts = [network(*(tensor.to(device) for tensor in data.batch(rows)[0])).double().cpu() for rows in batches]
    network.train(was_training)
    return np.asarray(torch.cat(parts).numpy()[np.argsort(np.concatenate(batches))])
