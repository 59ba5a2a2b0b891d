"""Sequences of different lengths as batches for the encoder, and as data for the training loop."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ncc.arrays import Floats, Floats32, Ints, Ints32
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.encoder.network_numpy import LONGEST
from ncc.learning.programs.table import ProgramTable

CUTS = ("samples", "tokens")
"""What batches have alike: samples, or words with padding; then lengths in a batch differ by `_BUCKET` at most."""

_BATCH = 64

_BUCKET = 1.1
"""Ratio of the longest to the shortest sequence of a bucket, which batches of like numbers of words are cut from."""

_WORDS_STEP = 16
"""Where batches are to have few shapes, sequences are padded to multiples of so many words,"""

_LITERALS_STEPS = 4
"""and their literals to so many different numbers between a power of 2 and the next."""

_PADDING_SHARE = 64
"""Literals of a batch for each place, behind those of words, that padding is dealt out to: a GPU adds up the literals
of a place one after the other."""


class SequenceBatch(NamedTuple):
    """Sequences side by side, and samples that they belong to: the inputs of an `EncoderNetwork`.

    Attributes:
        words: (batch, time) int64 rows of the vectors; what lies behind a sequence's end is ignored.
        lengths: (batch,) int64, at least 1.
        literals: int64 buckets of all literals.
        literal_start: (batch * time,) int64 offsets into `literals` for each place of `words`; then those of literals
            that belong to none, in the padding of batches on GPUs.
        auxiliary: (samples, num_auxiliary) float32.
        owner: (samples,) int64 sequence of each sample.
    """

    words: Tensor
    lengths: Tensor
    literals: Tensor
    literal_start: Tensor
    auxiliary: Tensor
    owner: Tensor


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of words, one after the other, with the literals of each word.

    Attributes:
        start: (n + 1,) int64 offsets of the n sequences.
        word: Row of the vectors of each word, integers.
        literal_start: (num_words + 1,) int64 offsets into `literal`.
        literal: int64 bucket of each literal.
        longest: Words of a sequence that are read, the first ones; None for all.
        device: Where they are kept, and batches are made.
        few_shapes: Pad words and literals of batches, so that few differ in shape: CUDA graphs are made for shapes.
    """

    start: Ints
    word: NDArray[np.integer]
    literal_start: Ints
    literal: Ints
    longest: int | None = None
    device: str = "cpu"
    few_shapes: bool = False

    @classmethod
    def of(cls, words: Sequence[NDArray[np.integer]]) -> Self:
        """Sequences without literals."""
        start = np.cumsum([0, *map(len, words)])
        return cls(start, np.concatenate(words), np.zeros(start[-1] + 1, np.int64), np.zeros(0, np.int64))

    @classmethod
    def joined(cls, parts: Sequence["Sequences"]) -> Self:
        """The sequences of several, one after the other."""

        def offsets(arrays: Sequence[Ints]) -> Ints:
            ends = np.cumsum([0, *(array[-1] for array in arrays)])
            return np.concatenate([[0], *(array[1:] + end for array, end in zip(arrays, ends[:-1], strict=True))])

        return cls(
            offsets([part.start for part in parts]),
            np.concatenate([part.word for part in parts]),
            offsets([part.literal_start for part in parts]),
            np.concatenate([part.literal for part in parts]),
            parts[0].longest,
        )

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def lengths(self) -> Ints:
        """(n,) words of each sequence that are read."""
        lengths = np.diff(self.start)
        return lengths if self.longest is None else np.minimum(lengths, self.longest)

    @cached_property
    def _num_literals(self) -> Ints:
        """(n,) literals of each sequence that are read; known on the host, so that no device is waited for."""
        return self.literal_start[self.start[:-1] + self.lengths] - self.literal_start[self.start[:-1]]

    @cached_property
    def _tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        """Words, literals and their offsets on the device, where all batches are cut from."""
        arrays = self.word, self.literal, self.literal_start
        words, literals, start = (torch.tensor(array, device=self.device) for array in arrays)
        return words, literals, start

    def read(self, rows: Ints) -> tuple[Ints, Ints]:
        """Different words of some sequences, and different literals of theirs."""
        ends = self.start[rows] + self.lengths[rows]
        spans = [slice(*span) for span in zip(self.start[rows].tolist(), ends.tolist(), strict=True)]
        literals = [slice(*self.literal_start[[span.start, span.stop]].tolist()) for span in spans]
        return _different([self.word[span] for span in spans]), _different([self.literal[span] for span in literals])

    def batch(self, rows: Ints, auxiliary: Floats32 | None = None, owner: Ints | None = None) -> SequenceBatch:
        """Some sequences side by side; without an owner each is a sample, without auxiliary numbers there are none."""
        time, number = int(self.lengths[rows].max()), int(self._num_literals[rows].sum())
        if self.few_shapes:
            time += -time % _WORDS_STEP
        words, literals, literal_start = self._tensors
        owner = np.arange(len(rows)) if owner is None else owner
        auxiliary = np.zeros((len(owner), 0), np.float32) if auxiliary is None else auxiliary
        given = self.lengths[rows], self.start[rows], owner, auxiliary
        lengths, start, owners, numbers = (torch.from_numpy(array).to(self.device) for array in given)
        inside = torch.arange(time, device=self.device)[None, :] < lengths[:, None]
        place = torch.where(inside, start[:, None] + torch.arange(time, device=self.device)[None, :], 0)
        first = literal_start[place].ravel()
        counts = torch.where(inside, literal_start[place + 1] - literal_start[place], 0).ravel()
        offsets = counts.cumsum(0) - counts
        # each literal's place among all: where those of its statement begin, and how many of these come before it
        at = torch.repeat_interleave(first - offsets, counts, output_size=number)
        found = literals[at + torch.arange(number, device=self.device)]
        if self.few_shapes:
            found, offsets = _padded(found, offsets)
        return SequenceBatch(torch.where(inside, words[place], 0).long(), lengths, found, offsets, numbers, owners)


def encode_programs(table: ProgramTable, embedding: Embedding, buckets: int, row: Ints32 | None = None) -> Sequences:
    """Look up the statements of a table in an embedding, and hash its literals into buckets.

    Arrays:
        row: (num_words,) int32 row of a network's vectors for each word; None where it has those of the embedding.
    """
    word = embedding.look_up(table.texts).word
    word = (word if row is None else row[word])[table.text_id]
    if not buckets:
        none = np.zeros(len(table.text_id) + 1, np.int64)
        return Sequences(table.start, word, none, np.zeros(0, np.int64), LONGEST)
    return Sequences(table.start, word, table.literal_start, (table.literal % buckets).astype(np.int64), LONGEST)


def _padded(literals: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """Literals and offsets with so many more that few batches differ in their number."""
    number = len(literals)
    step = max(1, (1 << max(0, number.bit_length() - 1)) // _LITERALS_STEPS)
    more = -number % step
    places = -(-(number + more) // _PADDING_SHARE)
    starts = number + torch.arange(places, device=literals.device) * more // max(1, places)
    return nn.functional.pad(literals, (0, more)), torch.cat([offsets, starts])


def _different(parts: Sequence[NDArray[np.integer]]) -> Ints:
    return np.flatnonzero(np.bincount(np.concatenate(parts)))


def distinct_sequences(words: Sequence[Ints]) -> tuple[list[Ints], Ints]:
    """The different ones among some sequences, in order of appearance, and the number of each one's equal, (n,)."""
    known = {sequence.tobytes(): sequence for sequence in words}
    number = {key: i for i, key in enumerate(known)}
    return list(known.values()), np.array([number[sequence.tobytes()] for sequence in words], np.int64)


class SequenceData:
    """Samples as training data: sequences in batches of about the same length, those that samples share but once.

    What a sample is about can come as several sequences (a program at several optimization levels, a kernel from
    several compilers): in each epoch one of them is drawn.
    """

    def __init__(
        self,
        sequences: Sequences,
        target: NDArray[np.generic],
        *,
        auxiliary: Floats32 | None = None,
        owner: Ints | None = None,
        forms: Sequence[Sequence[int]] | Ints | None = None,
        noise: float = 0.1,
        cut: str = "samples",
    ) -> None:
        """Make data of n samples.

        Arrays:
            target: (n, …) what the network is to say.
            auxiliary: (n, num_auxiliary) float32; None for none.
            owner: (n,) int64 what each sample is about; None: something of its own.
        """
        self._sequences, self._target = sequences, torch.from_numpy(target)
        self._noise, self._cut = noise, cut
        self._auxiliary = np.zeros((len(target), 0), np.float32) if auxiliary is None else auxiliary
        self._owner = np.arange(len(target)) if owner is None else owner
        forms = np.arange(len(sequences))[:, None] if forms is None else forms
        self._num_forms = np.array([len(numbers) for numbers in forms])
        self._first_form = np.cumsum(self._num_forms) - self._num_forms
        self._forms = np.concatenate([np.asarray(numbers, np.int64) for numbers in forms])
        self._drawn = self._forms[self._first_form]

    def __len__(self) -> int:
        return len(self._target)

    def to(self, device: str, *, few_shapes: bool | None = None) -> Self:
        """Keep sequences and targets on a device, where batches are then made; returns the data."""
        few_shapes = device.startswith("cuda") if few_shapes is None else few_shapes
        self._sequences = replace(self._sequences, device=device, few_shapes=few_shapes)
        self._target = self._target.to(device)
        return self

    def digest(self) -> str:
        """A hash of all samples."""
        some = self._sequences
        arrays = (some.start, some.word, some.literal_start, some.literal, self._auxiliary, self._owner, self._forms)
        digest = hashlib.sha256(repr((some.longest, self._noise, self._cut)).encode())
        for array in (*arrays, self._num_forms, self._target.cpu().numpy()):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[Ints]:
        """All samples once, in batches of like size, in random order, with their sequences drawn anew."""
        self._drawn = self._forms[self._first_form + rng.integers(self._num_forms)]
        if self._cut == "tokens":
            cut = self._by_words(batch_size, rng)
        else:
            cut = self._in_order(batch_size, rng.normal(0, self._noise, len(self._drawn)))
        if len(cut) > 1 and min(map(len, cut)) == 1:  # batch normalization can't do with one
            cut[-2:] = [np.concatenate(cut[-2:])]
        return [cut[i] for i in rng.permutation(len(cut))]

    def in_order(self, batch_size: int) -> list[Ints]:
        """All samples once, the shortest first, each with the sequence to answer from."""
        self._drawn = self._forms[self._first_form]
        return self._in_order(batch_size, np.zeros(len(self._drawn)))

    def _in_order(self, batch_size: int, noise: Floats) -> list[Ints]:
        """Samples by the lengths of their sequences times exp(noise), those of one sequence next to each other."""
        lengths = self._sequences.lengths[self._drawn]
        place = np.argsort(np.argsort(np.log(lengths) + noise, kind="stable"))
        order = np.argsort(place[self._owner], kind="stable")
        return np.array_split(order, -(-len(order) // batch_size))

    def _by_words(self, batch_size: int, rng: np.random.Generator) -> list[Ints]:
        """As many batches of about as many words, each of a bucket of lengths, which is dealt out anew.

        Buckets of less than a batch join the next longer one; they are the same in all epochs, so that batches have few
        different shapes. A batch has two samples at least.
        """
        lengths = self._sequences.lengths[self._drawn]
        bucket = np.ceil(np.log(lengths) / math.log(_BUCKET))
        order = np.lexsort((rng.permutation(len(lengths))[self._owner], bucket[self._owner]))
        words = np.cumsum((lengths / np.bincount(self._owner, minlength=len(lengths)))[self._owner[order]])
        ends = np.flatnonzero(np.diff(bucket[self._owner[order]], append=np.inf)) + 1
        number = -(-len(order) // batch_size)
        cut: list[Ints] = []
        begin = before = 0
        for end, done in zip(ends.tolist(), np.rint(words[ends - 1] / words[-1] * number).astype(int), strict=True):
            if done > before and end - begin > 1:
                cut += np.array_split(order[begin:end], min(done - before, (end - begin) // 2))
                begin, before = end, done
        left = order[begin:]  # less than half a batch
        return [*cut[:-1], np.concatenate([*cut[-1:], left])]

    def sparse_rows(self, samples: Ints) -> dict[str, Ints]:
        """Rows of an `EncoderNetwork`'s tables that some samples read."""
        words, literals = self._sequences.read(self._drawn[np.unique(self._owner[samples])])
        return {"encoder.vectors": words, "encoder.literals.weight": literals}

    def batch(self, samples: Ints, _rng: np.random.Generator | None = None) -> tuple[SequenceBatch, Tensor]:
        """The network's inputs for some samples, and what it is to say."""
        things, owner = np.unique(self._owner[samples], return_inverse=True)
        inputs = self._sequences.batch(self._drawn[things], self._auxiliary[samples], owner)
        return inputs, self._target[torch.from_numpy(samples).to(self._target.device)]


def network_outputs(network: EncoderNetwork, data: SequenceData) -> Floats:
    """What a network says of all samples, (n, num_outputs) float64; whether it is in training is left as it is."""
    device, was_training = next(network.parameters()).device, network.training
    network.eval()
    parts = data.in_order(_BATCH)
    with torch.inference_mode():
        found = [network(*(tensor.to(device) for tensor in data.batch(rows)[0])).double().cpu() for rows in parts]
    network.train(was_training)
    outputs = np.empty((len(data), found[0].shape[1]))
    outputs[np.concatenate(parts)] = torch.cat(found).numpy()
    return outputs
