"""Exact skip-gram on counts: full softmax over the vocabulary, as matrix products over the distinct pairs.

With counts C the likelihood of a corpus is the sum of C[i, j] log softmax(U V^T)[i, j]; an epoch costs the same for a
thousand pairs and for a billion. Pairs are never sampled and negatives never drawn.

Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", sections 2 (skip-gram, full softmax)
and 2.3 (subsampling); Ben-Nun et al. 2018, section 4.2.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

__all__ = ["SkipGramConfig", "SkipGramResult", "train_skipgram"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class SkipGramConfig:
    """How to train.

    Attributes:
        dim: numbers a vector.
        steps: full passes over the counts.
        learning_rate: of Adam, decayed to a tenth along a half cosine.
        subsample: a word with more than this share of all statements is thinned to the square root of the excess, on
            both sides of a pair, in expectation and over the whole corpus; 0 turns it off.
        weight_decay: L2 penalty (decoupled) on both matrices a step, times the learning rate.
        rows: centre words a block, to bound memory at ``rows * num_words * 4`` bytes; the result is the same.
        seed: of the initial vectors.
    """

    dim: int = 200
    steps: int = 200
    learning_rate: float = 0.02
    subsample: float = 1e-3
    weight_decay: float = 0.0
    rows: int = 2048
    seed: int = 204

    def __post_init__(self) -> None:
        """Checks the ranges.

        Raises:
            ValueError: a value is out of its range.
        """
        if self.dim < 1 or self.steps < 1 or self.rows < 1:
            raise ValueError("dim, steps and rows must be 1 or more")
        if self.learning_rate <= 0 or self.subsample < 0 or self.weight_decay < 0:
            raise ValueError("learning_rate must be above 0, subsample and weight_decay 0 or more")


@dataclass(frozen=True, eq=False)
class SkipGramResult:
    """The trained vectors and how the training went.

    Attributes:
        vectors: (num_words, dim) float32 centre vectors; zero for words without a pair.
        contexts: (num_words, dim) float32 context vectors.
        losses: (steps,) float64 cross-entropy in nats a pair, before each step.
        entropy: the least that any model could reach on these counts, in nats a pair.
    """

    vectors: NDArray[np.float32]
    contexts: NDArray[np.float32]
    losses: NDArray[np.float64]
    entropy: float


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


def train_skipgram(
    center: NDArray[np.int32],
    context: NDArray[np.int32],
    count: NDArray[np.int64],
    num_words: int,
    config: SkipGramConfig | None = None,
    *,
    device: str = "cpu",
    progress: Callable[[int, float], None] | None = None,
) -> SkipGramResult:
    """Trains vectors on the counts of distinct pairs, sorted by centre.

    Deterministic on a CPU for a seed and a number of threads.

    Args:
        center: (num_pairs,) int32 words in the middle.
        context: (num_pairs,) int32 words near them.
        count: (num_pairs,) int64.
        num_words: size of the vocabulary.
        config: how to train.
        device: a torch device.
        progress: called with the number of steps done and the loss.

    Raises:
        ValueError: there are no pairs.
    """
    import torch

    config = config or SkipGramConfig()
    if not len(count):
        raise ValueError("there are no pairs of statements to train on")
    weight = pair_weights(center, context, count, num_words, config.subsample)
    weight /= weight.sum()
    mass = np.bincount(center, weights=weight, minlength=num_words).astype(np.float64)
    entropy = float(-(weight * np.log(weight / mass[center])).sum())
    generator = torch.Generator().manual_seed(config.seed)
    scale = config.dim**-0.5
    matrices = [
        (torch.randn(num_words, config.dim, generator=generator) * scale).to(device).requires_grad_() for _ in range(2)
    ]
    optimizer = torch.optim.AdamW(
        matrices, lr=config.learning_rate, weight_decay=config.weight_decay, fused=None if device == "cpu" else True
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.steps, config.learning_rate / 10)
    blocks = _row_blocks(center, context, weight, mass, num_words, config.rows, device)
    losses = np.empty(config.steps)
    for step in range(config.steps):
        optimizer.zero_grad(set_to_none=True)
        losses[step] = sum(_block_loss(block, *matrices) for block in blocks)
        optimizer.step()
        schedule.step()
        if progress:
            progress(step + 1, float(losses[step]))
    logger.info("skip-gram: loss %.4f after %d steps, entropy %.4f", losses[-1], config.steps, entropy)
    vectors, contexts = (matrix.detach().cpu().numpy().copy() for matrix in matrices)
    vectors[mass == 0] = 0
    return SkipGramResult(vectors, contexts, losses, entropy)


@dataclass(frozen=True)
class _Block:
    """Some centre words with all their pairs: a dense slice of the count matrix, held sparse."""

    rows: "torch.Tensor"
    row: "torch.Tensor"
    context: "torch.Tensor"
    weight: "torch.Tensor"
    mass: "torch.Tensor"


def _row_blocks(
    center: NDArray[np.int32],
    context: NDArray[np.int32],
    weight: NDArray[np.float64],
    mass: NDArray[np.float64],
    num_words: int,
    block_rows: int,
    device: str,
) -> list[_Block]:
    import torch

    present = np.flatnonzero(mass > 0)
    position = np.full(num_words, -1, np.int64)
    position[present] = np.arange(len(present))
    blocks = []
    for start in range(0, len(present), block_rows):
        rows = present[start : start + block_rows]
        begin, end = np.searchsorted(center, [rows[0], rows[-1] + 1])
        blocks.append(
            _Block(
                rows=torch.from_numpy(rows).to(device),
                row=torch.from_numpy(position[center[begin:end]] - start).to(device),
                context=torch.from_numpy(context[begin:end].astype(np.int64)).to(device),
                weight=torch.from_numpy(weight[begin:end]).float().to(device),
                mass=torch.from_numpy(mass[rows]).float().to(device),
            )
        )
    return blocks


def _block_loss(block: _Block, vectors: "torch.Tensor", contexts: "torch.Tensor") -> float:
    """Adds the gradients of one block by hand, so that only one matrix of logits is ever held."""
    import torch

    with torch.no_grad():
        u = vectors[block.rows]
        logits = u @ contexts.T
        normaliser = torch.logsumexp(logits, dim=1)
        observed = logits[block.row, block.context]
        loss = float((block.mass * normaliser).sum() - (block.weight * observed).sum())
        # d loss / d logits = mass * softmax - counts, written over the logits
        gradient = logits.sub_(normaliser[:, None]).exp_().mul_(block.mass[:, None])
        gradient.index_put_((block.row, block.context), -block.weight, accumulate=True)
        for matrix in (vectors, contexts):
            if matrix.grad is None:
                matrix.grad = torch.zeros_like(matrix)
        vectors.grad[block.rows] += gradient @ contexts  # type: ignore[index]
        contexts.grad += gradient.T @ u  # type: ignore[operator]
    return loss
