"""Pairs of words with their weights, sorted by centre: cut into blocks for training, and the softmax loss on a block.

Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", sections 2 (skip-gram, full softmax)
and 2.3 (subsampling).
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ncc.arrays import Floats, Floats32, Ints, Ints32
from ncc.runtime.ranks import gathered_rows

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


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """How the products of a softmax over all words are cut, and what they are made in.

    Attributes:
        columns: Context words at a time, to bound memory; sums over them are put together as they come.
        low: Multiply in bfloat16 and add up in float32; on CUDA devices alone.
        world: Ranks that have contexts of their own, all of which ask for the softmax of the same centres.
    """

    columns: int = 32768
    low: bool = False
    world: int = 1

    def parts(self, num_words: int) -> list[slice]:
        """All context words, cut into parts of like size."""
        number = -(-num_words // self.columns)
        return [slice(num_words * i // number, num_words * (i + 1) // number) for i in range(number)]

    def product(self, left: "torch.Tensor", right: "torch.Tensor") -> "torch.Tensor":
        """Of two float32 matrices, in float32."""
        import torch

        if not self.low:
            return left @ right
        return torch.mm(left.bfloat16(), right.bfloat16(), out_dtype=torch.float32)


@dataclass(frozen=True)
class Softmax:
    """The denominators of the softmax of some centre words over all contexts.

    Attributes:
        loss: () this rank's part of the cross-entropy, times the block's share of all pairs.
        highest: (n, 1) largest logit of each, of this rank's words.
        scale: (n, 1) what the exponentials of logits less the highest are multiplied by to be probabilities.
        exponential: (n, words) these exponentials, of the last part of the words.
    """

    loss: "torch.Tensor"
    highest: "torch.Tensor"
    scale: "torch.Tensor"
    exponential: "torch.Tensor"

    @classmethod
    def of(cls, block: PairBlock, u: "torch.Tensor", contexts: "torch.Tensor", blocks: Blocks) -> "Softmax":
        """Goes over all context words once, part by part.

        Args:
            block: The pairs.
            u: (n, dim) float32 vectors of its centre words.
            contexts: (num_words, dim) float32, of this rank.
            blocks: How to cut.

        Reference: Milakov and Gimelshein 2018 ("Online normalizer calculation for softmax"), algorithm 3.
        """
        import torch

        highest, total = torch.full_like(u[:, :1], -torch.inf), torch.zeros_like(u[:, :1])
        observed = torch.zeros((), device=u.device)
        exponential = highest
        parts = blocks.parts(len(contexts))
        for part in parts:
            pairs = block if len(parts) == 1 else block.within(part)
            logits = blocks.product(u, contexts[part].T)
            observed = observed + (pairs.weight * logits[pairs.row, pairs.context]).sum()
            before, highest = highest, torch.maximum(highest, logits.amax(dim=1, keepdim=True))
            exponential = logits.sub_(highest).exp_()
            total = total * (before - highest).exp() + exponential.sum(dim=1, keepdim=True)
        top, whole = highest, total
        if blocks.world > 1:
            sizes = [len(u)] * blocks.world
            every = gathered_rows(torch.cat([highest, total], dim=1), sizes).view(blocks.world, len(u), 2)
            top = every[:, :, :1].amax(dim=0)
            whole = (every[:, :, 1:] * (every[:, :, :1] - top).exp()).sum(dim=0)
        loss = (block.mass * (top + whole.log())[:, 0]).sum() / blocks.world - observed
        return cls(loss, highest, (highest - top).exp() / whole, exponential)


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


def skipgram_loss(
    center: Ints32,
    context: Ints32,
    weight: Floats,
    vectors: Floats32,
    contexts: Floats32,
    *,
    rows: int = 2048,
    columns: int = 32768,
    device: str = "cpu",
) -> float:
    """Cross-entropy of contexts given centres under vectors, in nats a pair, for pairs sorted by centre.

    Args:
        center: (num_pairs,) int32.
        context: (num_pairs,) int32.
        weight: (num_pairs,) float64, how much each pair counts.
        vectors: (num_words, dim) float32.
        contexts: (num_words, dim) float32.
        rows: Centre words a block.
        columns: Context words a block.
        device: A torch device.
    """
    import torch

    pairs = WeightedPairs(center, context, weight / weight.sum(), len(vectors))
    u, v = (torch.from_numpy(matrix).to(device) for matrix in (vectors, contexts))
    total = 0.0
    for start in range(0, len(pairs.centers), rows):
        block = pairs.block(pairs.centers[start : start + rows], device)
        total += float(Softmax.of(block, u[block.rows], v, Blocks(columns=columns)).loss)
    return total
