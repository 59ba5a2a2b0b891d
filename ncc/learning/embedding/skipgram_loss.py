"""The loss of skip-gram: cross-entropy of the full softmax over all context words, in parts that fit into memory.

Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", section 2 (skip-gram, full softmax).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncc.arrays import Floats, Floats32, Ints32
from ncc.learning.embedding.pairs import PairBlock, WeightedPairs
from ncc.learning.training.ranks import all_gather_rows

if TYPE_CHECKING:
    import torch


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
            every = all_gather_rows(torch.cat([highest, total], dim=1), sizes).view(blocks.world, len(u), 2)
            top = every[:, :, :1].amax(dim=0)
            whole = (every[:, :, 1:] * (every[:, :, :1] - top).exp()).sum(dim=0)
        loss = (block.mass * (top + whole.log())[:, 0]).sum() / blocks.world - observed
        return cls(loss, highest, (highest - top).exp() / whole, exponential)


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
