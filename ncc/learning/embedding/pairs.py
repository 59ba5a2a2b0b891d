"""Pairs of words with their weights, sorted by centre, and cut into blocks for training.

Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", sections 2 (skip-gram, full softmax)
and 2.3 (subsampling).
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ncc.arrays import Floats, Ints, Ints32

if TYPE_CHECKING:
    import torch


def pair_weights(center: Ints32, context: Ints32, count: Ints, num_words: int, subsample: float) -> Floats:
    """Expected counts of pairs after subsampling frequent words, (num_pairs,) float64.

    Reference: Mikolov et al. 2013, equation 5, in expectation instead of by drawing.
    """
    weight = count.astype(np.float64)
    if not subsample:
        return weight
    mass = np.bincount(center, weights=weight, minlength=num_words)
    share = mass / mass.sum()
    keep = np.minimum(1.0, np.sqrt(subsample / np.maximum(share, 1e-300)))
    return weight * keep[center] * keep[context]


@dataclass(frozen=True)
class PairBlock:
    """Some centre words with all their pairs: a slice of the count matrix, held sparse.

    Attributes:
        rows: (n,) int64 centre words.
        row: (num_pairs,) int64 place of each pair's centre among them.
        context: (num_pairs,) int64.
        weight: (num_pairs,) float32.
        mass: (n,) float32 weight of all pairs of a centre.
    """

    rows: "torch.Tensor"
    row: "torch.Tensor"
    context: "torch.Tensor"
    weight: "torch.Tensor"
    mass: "torch.Tensor"

    def within(self, words: slice) -> "PairBlock":
        """The pairs whose contexts are some of the words, these numbered from 0."""
        kept = (self.context >= words.start) & (self.context < words.stop)
        return PairBlock(self.rows, self.row[kept], self.context[kept] - words.start, self.weight[kept], self.mass)


class WeightedPairs:
    """Pairs sorted by centre, with weights that add up to 1."""

    def __init__(self, center: Ints32, context: Ints32, weight: Floats, num_words: int) -> None:
        self.center, self.context, self.weight = center, context, weight
        self.mass = np.bincount(center, weights=weight, minlength=num_words).astype(np.float64)
        self.start = np.searchsorted(center, np.arange(num_words + 1))
        self.centers = np.flatnonzero(self.mass > 0)
        self._kept: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

    @classmethod
    def weighted(
        cls,
        center: Ints32,
        context: Ints32,
        count: Ints,
        num_words: int,
        subsample: float,
    ) -> "WeightedPairs":
        """From counts, frequent words thinned."""
        weight = pair_weights(center, context, count, num_words, subsample)
        return cls(center, context, weight / weight.sum(), num_words)

    def of_contexts(self, rank: int, world: int) -> "WeightedPairs":
        """The pairs whose contexts a rank holds, every world-th word, these numbered anew; centres keep their mass."""
        if world == 1:
            return self
        kept = self.context % world == rank
        part = WeightedPairs(self.center[kept], self.context[kept] // world, self.weight[kept], len(self.mass))
        part.mass, part.centers = self.mass, self.centers
        return part

    def entropy(self) -> float:
        """The least cross-entropy that any model could reach, in nats a pair."""
        return float(-(self.weight * np.log(self.weight / self.mass[self.center])).sum())

    def digest(self) -> bytes:
        """A hash of all pairs."""
        digest = hashlib.sha256()
        for column in (self.center, self.context, self.weight):
            digest.update(np.ascontiguousarray(column).data)
        return digest.digest()

    def _on(self, device: str) -> tuple["torch.Tensor", "torch.Tensor"]:
        """Contexts and weights where blocks are cut: brought there once."""
        import torch

        if device not in self._kept:
            arrays = self.context, self.weight.astype(np.float32)
            self._kept[device] = torch.tensor(arrays[0], device=device), torch.tensor(arrays[1], device=device)
        return self._kept[device]

    def block(self, centers: Ints, device: str) -> PairBlock:
        """The pairs of some centres, as tensors on a device."""
        import torch

        contexts, weights = self._on(device)
        length = self.start[centers + 1] - self.start[centers]
        number, skipped = int(length.sum()), self.start[centers] - (np.cumsum(length) - length)
        rows, lengths, before = (torch.from_numpy(array).to(device) for array in (centers, length, skipped))
        row = torch.repeat_interleave(lengths, output_size=number)
        at = torch.arange(number, device=device) + before[row]
        mass = torch.from_numpy(self.mass[centers]).float().to(device)
        return PairBlock(rows, row, contexts[at].long(), weights[at], mass)
