"""The skip-gram's tables and steps; of W ranks, each holds the centres and contexts of every W-th word.

A step's centre vectors are gathered from all ranks; each multiplies them by its own contexts. What ranks then send each
other are the softmax's denominators and the gradients of these vectors, never a table or its gradient: the memory of
tables and moments falls with the number of ranks, and the bytes of a step do not grow with the vocabulary, but with the
words of a step. Vectors of parts, which are few, are on all ranks.

References: those of `ncc.learning.embedding.skipgram`; Shoeybi et al. 2019 ("Megatron-LM"), section 3, for sharded
softmax; Rajbhandari et al. 2020 ("ZeRO"), for sharded moments.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from ncc.arrays import Floats32, Ints
from ncc.learning.embedding.config import SkipGramConfig
from ncc.learning.embedding.pairs import PairBlock, WeightedPairs
from ncc.learning.embedding.skipgram_loss import Blocks, Softmax
from ncc.learning.embedding.subwords import PartMatrix, part_matrix
from ncc.learning.training.ranks import all_gather_rows, rank_and_world, sum_over_ranks


class SkipGramModel:
    """This rank's part of the tables, its gradients and its optimiser; all ranks call the same methods."""

    def __init__(self, words: Sequence[str], pairs: WeightedPairs, config: SkipGramConfig, device: str) -> None:
        """Draws the tables, which follow from the seed alone.

        Args:
            words: The vocabulary.
            pairs: All of them.
            config: How to train, with no more steps than there are centre words.
            device: A torch device.
        """
        self.config, self.device = config, device
        self._rank, self._world = rank_and_world()
        self._order = self._by_rank(np.arange(len(words)))
        self._pairs = pairs.of_contexts(self._rank, self._world)
        generator = torch.Generator().manual_seed(config.seed)

        def matrix(rows: int, scale: float) -> torch.Tensor:
            return torch.randn(rows, config.dim, generator=generator) * scale * config.dim**-0.5

        own = matrix(len(words), 1.0), matrix(len(words), 0.1 if config.share_parts else 1.0)
        self.contexts, self.own = (table[self._rank :: self._world].contiguous().to(device) for table in own)
        groups = [{"params": [self.contexts]}, {"params": [self.own]}]
        self.parts = None
        if config.share_parts:
            self._has = part_matrix(words)
            self.parts = matrix(self._has.num_parts, 1.0).to(device)
            groups[1]["weight_decay"] = config.own_decay  # type: ignore[assignment]
            groups.append({"params": [self.parts]})
        low = config.mixed_precision and _has_bfloat16(device)
        self._blocks = Blocks(columns=config.columns, low=low, world=self._world)
        self._optimizer = torch.optim.AdamW(groups, lr=config.learning_rate, weight_decay=0.0, fused=True)
        for trained in self._matrices.values():
            trained.grad = torch.zeros_like(trained)
        self._num_steps = 0

    @property
    def _tables(self) -> dict[str, torch.Tensor]:
        """Those whose rows are words, dealt out to ranks."""
        return {"contexts": self.contexts, "own": self.own}

    @property
    def _matrices(self) -> dict[str, torch.Tensor]:
        return self._tables if self.parts is None else self._tables | {"parts": self.parts}

    def _by_rank(self, words: Ints) -> Ints:
        """Words in the order in which ranks, one after the other, hold them."""
        return words[np.lexsort((words, words % self._world))]

    def _vectors(self, centers: Ints) -> torch.Tensor:
        """(n, dim) of words by rank, gathered from all: their own vectors and those of their parts."""
        mine = centers[centers % self._world == self._rank]
        vectors = self.own[torch.from_numpy(mine // self._world)]
        if self.parts is not None:
            vectors = vectors + torch.sparse.mm(_rows(self._has, mine, self.device), self.parts)
        return all_gather_rows(vectors, np.bincount(centers % self._world, minlength=self._world).tolist())

    def _whole(self, found: torch.Tensor) -> Floats32:
        """(num_words, dim) from all words by rank."""
        whole = np.empty(found.shape, np.float32)
        whole[self._order] = found.detach().cpu().numpy()
        return whole

    def _gathered(self, table: torch.Tensor) -> Floats32:
        sizes = np.bincount(self._order % self._world, minlength=self._world)
        return self._whole(all_gather_rows(table, sizes.tolist()))

    def step(self, centers: Ints) -> float:
        """One step on some centre words; returns their part of the loss."""
        centers = self._by_rank(centers)
        with torch.no_grad():
            vectors = self._vectors(centers)
            gradient, context_gradient = torch.zeros_like(vectors), _cleared(self.contexts)
            loss = torch.zeros(1, dtype=torch.float64, device=self.device)
            for start in range(0, len(centers), self.config.rows):
                block = self._pairs.block(centers[start : start + self.config.rows], self.device)
                rows = torch.arange(start, start + len(block.rows), device=self.device)
                block = replace(block, rows=rows)
                loss += _add_gradients(block, vectors, self.contexts, gradient, context_gradient, self._blocks)
            sum_over_ranks((gradient, loss))
            mine = centers % self._world == self._rank
            _cleared(self.own)[torch.from_numpy(centers[mine] // self._world)] = gradient[torch.from_numpy(mine)]
            if self.parts is not None:
                self.parts.grad = torch.sparse.mm(_rows(self._has, centers, self.device).t().coalesce(), gradient)
        self._set_learning_rate()
        self._optimizer.step()
        self._num_steps += 1
        return float(loss)

    def _set_learning_rate(self) -> None:
        """A half cosine to a tenth over all steps."""
        last = max(self.config.epochs * self.config.steps_per_epoch - 1, 1)
        share = 0.55 + 0.45 * np.cos(np.pi * min(self._num_steps / last, 1.0))
        for group in self._optimizer.param_groups:
            group["lr"] = self.config.learning_rate * share

    @torch.no_grad()
    def loss(self) -> float:
        """Cross-entropy of all pairs, in nats a pair, in float32."""
        centers, blocks = self._by_rank(self._pairs.centers), replace(self._blocks, low=False)
        total = torch.zeros(1, dtype=torch.float64, device=self.device)
        for start in range(0, len(centers), self.config.rows):
            some = centers[start : start + self.config.rows]
            total += Softmax.of(self._pairs.block(some, self.device), self._vectors(some), self.contexts, blocks).loss
        sum_over_ranks([total])
        return float(total)

    def numpy(self) -> tuple[Floats32, Floats32]:
        """Centre and context vectors of all words, on all ranks."""
        return self._whole(self._vectors(self._order)), self._gathered(self.contexts)


def _rows(has: PartMatrix, words: Ints, device: str) -> torch.Tensor:
    """Some rows of a matrix of parts, sparse."""
    start = np.searchsorted(has.row, [words, words + 1])
    length = start[1] - start[0]
    row = np.repeat(np.arange(len(words)), length)
    at = np.arange(len(row)) + (start[0] - (np.cumsum(length) - length))[row]
    entries, weight = torch.from_numpy(np.stack([row, has.column[at]])), torch.from_numpy(has.weight[at])
    shape = (len(words), has.num_parts)
    return torch.sparse_coo_tensor(entries, weight, shape, check_invariants=False).to(device).coalesce()


def _cleared(matrix: torch.Tensor) -> torch.Tensor:
    """The gradient of a matrix, whose memory stays, with zeros."""
    assert matrix.grad is not None
    return matrix.grad.zero_()


def _has_bfloat16(device: str) -> bool:
    """Whether a device multiplies in bfloat16 and adds up in float32."""
    return device.startswith("cuda") and torch.cuda.is_bf16_supported(including_emulation=False)


def _add_gradients(
    block: PairBlock,
    vectors: torch.Tensor,
    contexts: torch.Tensor,
    gradient: torch.Tensor,
    context_gradient: torch.Tensor,
    blocks: Blocks,
) -> torch.Tensor:
    """Adds the gradients of one block, by hand, so that only one matrix of logits is ever held; returns its loss."""
    u = vectors[block.rows]
    softmax = Softmax.of(block, u, contexts, blocks)
    parts = blocks.parts(len(contexts))
    for part in reversed(parts):  # the last one's exponentials are at hand, those of others are made again
        exponential = softmax.exponential
        if part is not parts[-1]:
            exponential = blocks.product(u, contexts[part].T).sub_(softmax.highest).exp_()
        # d loss / d logits = mass * softmax - counts, written over the logits
        slope = exponential.mul_(block.mass[:, None] * softmax.scale)
        pairs = block if len(parts) == 1 else block.within(part)
        slope.index_put_((pairs.row, pairs.context), -pairs.weight, accumulate=True)
        gradient.index_add_(0, block.rows, blocks.product(slope, contexts[part]))
        context_gradient[part] += blocks.product(slope.T, u)
    return softmax.loss
