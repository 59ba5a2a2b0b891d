"""Exact skip-gram on counts: full softmax over the vocabulary, as matrix products over the distinct pairs.

With counts C the likelihood of a corpus is the sum of C[i, j] log softmax(U V^T)[i, j]; an epoch costs the same for a
thousand pairs and for a billion. Pairs are never sampled and negatives never drawn: a step takes some of the centre
words with all their contexts, and ranks of a data-parallel run share the words of a step.

Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", sections 2 (skip-gram, full softmax)
and 2.3 (subsampling); Ben-Nun et al. 2018, section 4.2.
"""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ncc.embedding.pairs import Blocks, PairBlock, Softmax, WeightedPairs, skipgram_loss
from ncc.embedding.parts import part_matrix
from ncc.errors import InputError
from ncc.runtime.ranks import check_alike, found_by_first, rank_and_world, sum_over_ranks

if TYPE_CHECKING:
    import torch

__all__ = ["SkipGramConfig", "SkipGramResult", "train_skipgram"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class SkipGramConfig:
    """How to train.

    Attributes:
        dim: Number of dimensions.
        epochs: Passes over the counts.
        steps_per_epoch: Steps that a pass is cut into; each takes other centre words, drawn anew every epoch.
        learning_rate: Of Adam, decayed to a tenth along a half cosine.
        subsample: A word with more than this share of all pairs is thinned to the square root of the excess, on both
            sides of a pair, in expectation and over the whole corpus; 0 turns it off.
        share_parts: Statements share vectors of their parts (see `ncc.embedding.parts`); False learns every statement
            by itself, as the paper does.
        own_decay: With ``share_parts``, decay of the statements' own vectors a step, times the learning rate: the
            higher, the more must be said by the parts.
        rows: Centre words a block, to bound memory at about ``rows * columns * 4`` bytes; the result is the same.
        columns: Context words a block. Where there are more words, logits are made twice.
        mixed_precision: Multiply in bfloat16, and add up in float32, on CUDA devices.
        seed: Of the initial vectors and the order of the words.
    """

    dim: int = 200
    epochs: int = 20
    steps_per_epoch: int = 8
    learning_rate: float = 0.02
    subsample: float = 1e-3
    share_parts: bool = True
    own_decay: float = 2.0
    rows: int = 2048
    columns: int = 32768
    mixed_precision: bool = True
    seed: int = 204

    def __post_init__(self) -> None:
        """Checks the ranges.

        Raises:
            InputError: A value is out of its range.
        """
        if min(self.dim, self.epochs, self.steps_per_epoch, self.rows, self.columns) < 1:
            raise InputError("dim, epochs, steps_per_epoch, rows and columns must be 1 or more")
        if self.learning_rate <= 0 or self.subsample < 0 or self.own_decay < 0:
            raise InputError("learning_rate must be above 0, subsample and own_decay 0 or more")


@dataclass(frozen=True, eq=False)
class SkipGramResult:
    """The trained vectors and how the training went.

    Attributes:
        vectors: (num_words, dim) float32 centre vectors; zero for words without a pair.
        contexts: (num_words, dim) float32 context vectors.
        losses: (epochs,) float64 cross-entropy in nats a pair, each step's before it.
        loss: Cross-entropy at the end.
        entropy: The least that any model could reach on these counts, in nats a pair.
    """

    vectors: NDArray[np.float32]
    contexts: NDArray[np.float32]
    losses: NDArray[np.float64]
    loss: float
    entropy: float


def train_skipgram(
    center: NDArray[np.int32],
    context: NDArray[np.int32],
    count: NDArray[np.int64],
    words: Sequence[str],
    config: SkipGramConfig | None = None,
    *,
    device: str = "cpu",
    checkpoint: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> SkipGramResult:
    """Trains vectors on the counts of distinct pairs, sorted by centre.

    Deterministic on a CPU for a seed and a number of threads. Inside a process group, every rank takes its part of each
    step's words and ends with the result that one rank alone would have had, to rounding.

    Args:
        center: (num_pairs,) int32 words in the middle.
        context: (num_pairs,) int32 words near them.
        count: (num_pairs,) int64.
        words: The vocabulary.
        config: How to train.
        device: A torch device.
        checkpoint: File that rank 0 writes after every epoch, and that training goes on from if it is there.
        progress: Called with the number of epochs done and the loss.

    Raises:
        InputError: There are no pairs.
        AssetError: The checkpoint is damaged, or of other counts or another configuration.
    """
    from ncc.embedding.checkpoint import save_checkpoint

    config = config or SkipGramConfig()
    if not len(count):
        raise InputError("there are no pairs of statements to train on")
    pairs = WeightedPairs.weighted(center, context, count, len(words), config.subsample)
    num_steps = min(config.steps_per_epoch, len(pairs.centers))
    model = _Model(words, replace(config, steps_per_epoch=num_steps), device)
    losses: list[float] = []
    fingerprint = ""
    if checkpoint or rank_and_world()[1] > 1:
        fingerprint = _fingerprint(pairs, words, config)
        check_alike({"counts, words and options of digest": fingerprint})
    if checkpoint:
        shapes = {name: tuple(matrix.shape) for name, matrix in model.matrices.items()}
        losses = model.resume(checkpoint, shapes, fingerprint)
    while len(losses) < config.epochs:
        rng = np.random.default_rng((config.seed, len(losses)))
        loss = sum(model.step(pairs, centers) for centers in np.array_split(rng.permutation(pairs.centers), num_steps))
        losses.append(loss)
        if checkpoint and rank_and_world()[0] == 0:
            save_checkpoint(checkpoint, model.state(), losses, fingerprint)
        if progress:
            progress(len(losses), loss)
    vectors, contexts = model.numpy()
    vectors[pairs.mass == 0] = 0
    final = skipgram_loss(
        pairs.center,
        pairs.context,
        pairs.weight,
        vectors,
        contexts,
        rows=config.rows,
        columns=config.columns,
        device=device,
    )
    entropy = pairs.entropy()
    logger.info("skip-gram: loss %.4f after %d epochs, entropy %.4f", final, config.epochs, entropy)
    return SkipGramResult(vectors, contexts, np.array(losses), final, entropy)


def _fingerprint(pairs: WeightedPairs, words: Sequence[str], config: SkipGramConfig) -> str:
    """Tells one training from another, for checkpoints; how it is cut into blocks does not matter."""
    text = "\0".join((repr(replace(config, rows=1, columns=1)), *words))
    return hashlib.sha256(pairs.digest() + text.encode()).hexdigest()[:32]


class _Model:
    """The matrices, their gradients and their optimiser."""

    def __init__(self, words: Sequence[str], config: SkipGramConfig, device: str) -> None:
        import torch

        self.config, self.device = config, device
        generator = torch.Generator().manual_seed(config.seed)

        def matrix(rows: int, scale: float) -> torch.Tensor:
            return (torch.randn(rows, config.dim, generator=generator) * scale * config.dim**-0.5).to(device)

        self.contexts = matrix(len(words), 1.0)
        self.own = matrix(len(words), 0.1 if config.share_parts else 1.0)
        groups = [{"params": [self.contexts]}, {"params": [self.own]}]
        self.parts = None
        if config.share_parts:
            some = part_matrix(words)
            shape = (some.num_words, some.num_parts)
            entries = torch.from_numpy(np.stack([some.row, some.column])).to(device)
            weight = torch.from_numpy(some.weight).to(device)
            self.has = torch.sparse_coo_tensor(entries, weight, shape, check_invariants=False).coalesce()
            self.has_transposed = self.has.t().coalesce()
            self.parts = matrix(some.num_parts, 1.0)
            groups[1]["weight_decay"] = config.own_decay  # type: ignore[assignment]
            groups.append({"params": [self.parts]})
        self.blocks = Blocks(columns=config.columns, low=config.mixed_precision and _has_bfloat16(device))
        fused = True if device.startswith("cuda") else None
        self.optimizer = torch.optim.AdamW(groups, lr=config.learning_rate, weight_decay=0.0, fused=fused)
        self.num_steps = 0

    @property
    def matrices(self) -> dict[str, "torch.Tensor"]:
        named = {"contexts": self.contexts, "own": self.own}
        return named if self.parts is None else named | {"parts": self.parts}

    def vectors(self) -> "torch.Tensor":
        """(num_words, dim): the statements' own vectors and those of their parts."""
        import torch

        return self.own if self.parts is None else self.own + torch.sparse.mm(self.has, self.parts)

    def step(self, pairs: WeightedPairs, centers: NDArray[np.int64]) -> float:
        """One step on some centre words, shared by the ranks; returns its part of the loss."""
        import torch

        rank, world = rank_and_world()
        with torch.no_grad():
            vectors = self.vectors()
            gradient, context_gradient = torch.zeros_like(vectors), torch.zeros_like(self.contexts)
            loss = torch.zeros(1, dtype=torch.float64, device=self.device)
            mine = np.sort(centers)[rank::world]
            for start in range(0, len(mine), self.config.rows):
                block = pairs.block(mine[start : start + self.config.rows], self.device)
                loss += _add_gradients(block, vectors, self.contexts, gradient, context_gradient, self.blocks)
            if world > 1:
                step = torch.from_numpy(np.sort(centers)).to(self.device)  # no other row has a gradient
                sum_over_ranks((rows := gradient[step], context_gradient, loss))
                gradient[step] = rows
            self.own.grad, self.contexts.grad = gradient, context_gradient
            if self.parts is not None:
                self.parts.grad = torch.sparse.mm(self.has_transposed, gradient)
        self._set_learning_rate()
        self.optimizer.step()
        self.num_steps += 1
        return float(loss)

    def _set_learning_rate(self) -> None:
        """A half cosine to a tenth over all steps; from the number of steps alone, so that resuming is exact."""
        last = max(self.config.epochs * self.config.steps_per_epoch - 1, 1)
        share = 0.55 + 0.45 * np.cos(np.pi * min(self.num_steps / last, 1.0))
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.learning_rate * share

    def numpy(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self.vectors().detach().cpu().numpy().copy(), self.contexts.detach().cpu().numpy().copy()

    def state(self) -> dict[str, NDArray[np.float32]]:
        """Matrices and the optimiser's moments, for a checkpoint."""
        state: dict[str, NDArray[np.float32]] = {}
        for name, matrix in self.matrices.items():
            moments = self.optimizer.state[matrix]
            named = {name: matrix, f"{name}.mean": moments["exp_avg"], f"{name}.variance": moments["exp_avg_sq"]}
            state |= {key: tensor.detach().cpu().numpy() for key, tensor in named.items()}
        return state

    def resume(self, checkpoint: Path, shapes: Mapping[str, tuple[int, ...]], fingerprint: str) -> list[float]:
        """Goes on from a checkpoint if the first rank, which alone may see it, finds one; returns its losses."""
        from ncc.embedding.checkpoint import load_checkpoint

        def load() -> tuple[dict[str, NDArray[np.float32]], list[float]] | None:
            return load_checkpoint(checkpoint, shapes, fingerprint) if checkpoint.exists() else None

        found = found_by_first(load)
        if found is None:
            return []
        state, losses = found
        self.restore(state, len(losses) * self.config.steps_per_epoch)
        return losses

    def restore(self, state: Mapping[str, NDArray[np.float32]], num_steps: int) -> None:
        """Goes back to what `state` gave after ``num_steps`` steps."""
        import torch

        self.num_steps = num_steps
        for name, matrix in self.matrices.items():
            matrix.copy_(torch.from_numpy(state[name]))
            mean, variance = (torch.from_numpy(state[f"{name}.{moment}"]).to(matrix) for moment in ("mean", "variance"))
            step = torch.tensor(float(num_steps), device=matrix.device if self.device.startswith("cuda") else "cpu")
            self.optimizer.state[matrix] = {"step": step, "exp_avg": mean, "exp_avg_sq": variance}


def _has_bfloat16(device: str) -> bool:
    """Whether a device multiplies in bfloat16 and adds up in float32."""
    import torch

    return device.startswith("cuda") and torch.cuda.is_bf16_supported(including_emulation=False)


def _add_gradients(
    block: PairBlock,
    vectors: "torch.Tensor",
    contexts: "torch.Tensor",
    gradient: "torch.Tensor",
    context_gradient: "torch.Tensor",
    blocks: Blocks,
) -> "torch.Tensor":
    """Adds the gradients of one block, by hand, so that only one matrix of logits is ever held; returns its loss."""
    u = vectors[block.rows]
    softmax = Softmax.of(block, u, contexts, blocks)
    parts = blocks.parts(len(contexts))
    for part in reversed(parts):  # the last one's exponentials are at hand, those of others are made again
        exponential = softmax.exponential
        if part is not parts[-1]:
            exponential = blocks.product(u, contexts[part].T).sub_(softmax.highest).exp_()
        # d loss / d logits = mass * softmax - counts, written over the logits
        slope = exponential.mul_(block.mass[:, None] / softmax.total)
        pairs = block if len(parts) == 1 else block.within(part)
        slope.index_put_((pairs.row, pairs.context), -pairs.weight, accumulate=True)
        gradient.index_add_(0, block.rows, blocks.product(slope, contexts[part]))
        context_gradient[part] += blocks.product(slope.T, u)
    return softmax.loss
