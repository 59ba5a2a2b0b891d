"""Pairs of words with their weights, sorted by centre: cut into blocks for training, and what a model makes of them.

Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", sections 2 (skip-gram, full softmax)
and 2.3 (subsampling).
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

__all__ = ["PairBlock", "WeightedPairs", "pair_weights", "skipgram_loss"]


def pair_weights(
    center: NDArray[np.int32], context: NDArray[np.int32], count: NDArray[np.int64], num_words: int, subsample: float
) -> NDArray[np.float64]:
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
    """Some centre words with all their pairs: a slice of the count matrix, held sparse."""

    rows: "torch.Tensor"
    row: "torch.Tensor"
    context: "torch.Tensor"
    weight: "torch.Tensor"
    mass: "torch.Tensor"


class WeightedPairs:
    """Pairs sorted by centre, with weights that add up to 1."""

    def __init__(
        self, center: NDArray[np.int32], context: NDArray[np.int32], weight: NDArray[np.float64], num_words: int
    ) -> None:
        self.center, self.context, self.weight = center, context, weight
        self.mass = np.bincount(center, weights=weight, minlength=num_words).astype(np.float64)
        self.start = np.searchsorted(center, np.arange(num_words + 1))
        self.centers = np.flatnonzero(self.mass > 0)

    @classmethod
    def weighted(
        cls,
        center: NDArray[np.int32],
        context: NDArray[np.int32],
        count: NDArray[np.int64],
        num_words: int,
        subsample: float,
    ) -> "WeightedPairs":
        """From counts, frequent words thinned."""
        weight = pair_weights(center, context, count, num_words, subsample)
        return cls(center, context, weight / weight.sum(), num_words)

    def entropy(self) -> float:
        """The least cross-entropy that any model could reach, in nats a pair."""
        return float(-(self.weight * np.log(self.weight / self.mass[self.center])).sum())

    def digest(self) -> bytes:
        """A hash of all pairs."""
        digest = hashlib.sha256()
        for column in (self.center, self.context, self.weight):
            digest.update(np.ascontiguousarray(column).data)
        return digest.digest()

    def block(self, centers: NDArray[np.int64], device: str) -> PairBlock:
        """The pairs of some centres, as tensors on a device."""
        import torch

        length = self.start[centers + 1] - self.start[centers]
        first = np.cumsum(length) - length
        at = np.arange(length.sum()) + np.repeat(self.start[centers] - first, length)
        return PairBlock(
            rows=torch.from_numpy(centers).to(device),
            row=torch.from_numpy(np.repeat(np.arange(len(centers)), length)).to(device),
            context=torch.from_numpy(self.context[at].astype(np.int64)).to(device),
            weight=torch.from_numpy(self.weight[at]).float().to(device),
            mass=torch.from_numpy(self.mass[centers]).float().to(device),
        )


def skipgram_loss(
    center: NDArray[np.int32],
    context: NDArray[np.int32],
    weight: NDArray[np.float64],
    vectors: NDArray[np.float32],
    contexts: NDArray[np.float32],
    *,
    rows: int = 2048,
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
        device: A torch device.
    """
    import torch

    pairs = WeightedPairs(center, context, weight / weight.sum(), len(vectors))
    u, v = (torch.from_numpy(matrix).to(device) for matrix in (vectors, contexts))
    total = 0.0
    for start in range(0, len(pairs.centers), rows):
        block = pairs.block(pairs.centers[start : start + rows], device)
        logits = u[block.rows] @ v.T
        observed = logits[block.row, block.context]
        total += float((block.mass * torch.logsumexp(logits, dim=1)).sum() - (block.weight * observed).sum())
    return total
