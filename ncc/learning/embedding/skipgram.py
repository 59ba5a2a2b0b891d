"""Exact skip-gram on counts: full softmax over the vocabulary, as matrix products over the distinct pairs.

With counts C the likelihood of a corpus is the sum of C[i, j] log softmax(U V^T)[i, j]; an epoch costs what the
distinct pairs cost, however often each was seen. Nothing is sampled: a step takes some center words with all their
contexts.

Of W ranks each holds the rows of every W-th word. A step's center vectors are gathered from all ranks, and each rank
multiplies them by its own contexts. Ranks then send each other the softmax's denominators and the gradients of these
vectors, never a table or its gradient: memory falls with the number of ranks, and bytes do not grow with the
vocabulary. The vectors of subwords, which are few, are on all ranks.

References: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", sections 2 and 2.3; Ben-Nun et al.
2018, section 4.2; Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", algorithm 3; Shoeybi et al.
2019, "Megatron-LM", section 3, for sharded softmax; Rajbhandari et al. 2020, "ZeRO", for sharded moments.
"""

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from ncc.arrays import Floats, Floats32, Ints, Ints32
from ncc.errors import InputError
from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.embedding.subwords import subword_matrix
from ncc.learning.training.ranks import all_gather_rows, check_consistent, rank_and_world, sum_over_ranks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

logger = logging.getLogger(__name__)

ROWS, COLUMNS = 2048, 32768
"""Center and context words at a time, which bounds memory at 256 MB of logits; with more context words than that,
logits are computed twice. The result is the same."""


@dataclass(frozen=True, eq=False)
class SkipGramResult:
    """Trained (num_words, dim) vectors, zero for words without a pair, and cross-entropies in nats per pair."""

    vectors: Floats32
    contexts: Floats32
    losses: Floats  # (epochs,), of each step before it
    loss: float
    entropy: float  # lower bound of any model's loss on these counts


def train_skipgram(
    center: Ints32,
    context: Ints32,
    count: Ints,
    words: Sequence[str],
    config: EmbeddingConfig,
    *,
    device: str = "cpu",
    progress: Callable[[int, float], None] | None = None,
) -> SkipGramResult:
    """Train vectors on (num_pairs,) distinct pairs of words, sorted by center, with their counts.

    Deterministic on a CPU for a seed and a number of threads. Ranks end with the result of one rank, up to rounding.
    """
    pairs = WeightedPairs.from_counts(center, context, count, len(words), config.subsample)
    num_steps = min(config.steps_per_epoch, len(pairs.centers))
    if rank_and_world()[1] > 1:
        text = "\0".join((repr(config), *words))
        digest = hashlib.sha256(text.encode())
        for column in (center, context, count):
            digest.update(np.ascontiguousarray(column).data)
        check_consistent({"counts, words and options of digest": digest.hexdigest()[:32]})
    model = _Model(words, pairs, replace(config, steps_per_epoch=num_steps), device)
    losses: list[float] = []
    for epoch in range(config.epochs):
        rng = np.random.default_rng((config.seed, epoch))
        losses.append(sum(map(model.step, np.array_split(rng.permutation(pairs.centers), num_steps))))
        if progress:
            progress(len(losses), losses[-1])
    vectors, contexts = model.numpy()
    vectors[pairs.marginal == 0] = 0
    final = skipgram_loss(pairs, vectors, contexts, device)
    entropy = pairs.entropy()
    logger.info("skip-gram: loss %.4f after %d epochs, entropy %.4f", final, config.epochs, entropy)
    return SkipGramResult(vectors, contexts, np.array(losses), final, entropy)


class WeightedPairs:
    """(num_pairs,) pairs of words sorted by center, with weights that add up to 1, and (num_words,) marginals."""

    def __init__(self, center: Ints32, context: Ints32, weight: Floats, marginal: Floats) -> None:
        from scipy.sparse import csr_array

        self.center, self.context, self.weight, self.marginal = center, context, weight, marginal
        self.centers = np.flatnonzero(marginal > 0)
        columns = weight.astype(np.float32), context, np.searchsorted(center, np.arange(len(marginal) + 1))
        self._matrix = csr_array(columns, shape=(len(marginal), len(marginal)))

    @classmethod
    def from_counts(
        cls, center: Ints32, context: Ints32, count: Ints | Floats, num_words: int, subsample: float = 0.0
    ) -> "WeightedPairs":
        """Weigh pairs by their expected counts after subsampling frequent words (Mikolov et al., equation 5)."""
        if not len(count):
            raise InputError("no pairs of statements to train on")
        weight = count.astype(np.float64)
        if subsample:
            marginal = np.bincount(center, weight, num_words)
            keep = np.minimum(1.0, np.sqrt(subsample / np.maximum(marginal / marginal.sum(), 1e-300)))
            weight = weight * keep[center] * keep[context]
        weight = weight / weight.sum()
        return cls(center, context, weight, np.bincount(center, weight, num_words).astype(np.float64))

    def entropy(self) -> float:
        """Lower bound of the cross-entropy of any model, in nats per pair."""
        return float(-(self.weight * np.log(self.weight / self.marginal[self.center])).sum())

    def tile(self, centers: Ints, device: str) -> "_Tile":
        """All pairs of some centers, on a device."""
        rows = self._matrix[centers]
        row = np.repeat(np.arange(len(centers)), np.diff(rows.indptr))
        marginal = self.marginal[centers].astype(np.float32)
        arrays = row, rows.indices.astype(np.int64), rows.data, marginal
        return _Tile(*(torch.from_numpy(array).to(device) for array in arrays))


@dataclass(frozen=True, eq=False)
class _Tile:
    """Rows of the count matrix: (num_pairs,) rows, contexts and weights of pairs, and (n,) marginals of centers."""

    row: torch.Tensor
    context: torch.Tensor
    weight: torch.Tensor
    marginal: torch.Tensor

    def within(self, words: slice) -> "_Tile":
        """Pairs whose contexts are in a range of words, renumbered from 0."""
        mask = (self.context >= words.start) & (self.context < words.stop)
        return replace(self, row=self.row[mask], context=self.context[mask] - words.start, weight=self.weight[mask])


def _parts(num_words: int) -> list[slice]:
    """All context words in parts of nearly equal size."""
    num_parts = -(-num_words // COLUMNS)
    return [slice(num_words * i // num_parts, num_words * (i + 1) // num_parts) for i in range(num_parts)]


@dataclass(frozen=True, eq=False)
class _Softmax:
    """Denominators of the softmax of n centers over all contexts."""

    loss: torch.Tensor  # () this rank's part of the cross-entropy, times the tile's weight
    max_logit: torch.Tensor  # (n, 1) largest logit over this rank's words
    scale: torch.Tensor  # (n, 1) factor from exponentials of logits minus the largest to probabilities
    exp_logits: torch.Tensor  # (n, words) these exponentials for the last part of the words

    @classmethod
    def of(cls, tile: _Tile, u: torch.Tensor, contexts: torch.Tensor, world_size: int = 1) -> "_Softmax":
        """Compute one pass over the context words of all ranks for (n, dim) center vectors."""
        max_logit, total = torch.full_like(u[:, :1], -torch.inf), torch.zeros_like(u[:, :1])
        observed = torch.zeros((), device=u.device)
        exp_logits = max_logit
        for part in _parts(len(contexts)):
            pairs = tile.within(part)
            logits = u @ contexts[part].T
            observed = observed + (pairs.weight * logits[pairs.row, pairs.context]).sum()
            before, max_logit = max_logit, torch.maximum(max_logit, logits.amax(dim=1, keepdim=True))
            exp_logits = logits.sub_(max_logit).exp_()
            total = total * (before - max_logit).exp() + exp_logits.sum(dim=1, keepdim=True)
        top, whole = max_logit, total
        if world_size > 1:
            gathered = all_gather_rows(torch.cat([max_logit, total], dim=1), [len(u)] * world_size)
            gathered = gathered.view(world_size, len(u), 2)
            top = gathered[:, :, :1].amax(dim=0)
            whole = (gathered[:, :, 1:] * (gathered[:, :, :1] - top).exp()).sum(dim=0)
        loss = (tile.marginal * (top + whole.log())[:, 0]).sum() / world_size - observed
        return cls(loss, max_logit, (max_logit - top).exp() / whole, exp_logits)


def skipgram_loss(pairs: WeightedPairs, vectors: Floats32, contexts: Floats32, device: str = "cpu") -> float:
    """Cross-entropy of contexts given centers, in nats per pair, in float32."""
    u, v = (torch.from_numpy(table).to(device) for table in (vectors, contexts))
    total = torch.zeros((), dtype=torch.float64, device=device)
    for start in range(0, len(pairs.centers), ROWS):
        centers = pairs.centers[start : start + ROWS]
        total += _Softmax.of(pairs.tile(centers, device), u[torch.from_numpy(centers)], v).loss
    return float(total)


class _Model:
    """This rank's rows of the tables, with gradients and optimizer; all ranks call the same methods."""

    def __init__(self, words: Sequence[str], pairs: WeightedPairs, config: EmbeddingConfig, device: str) -> None:
        self.config, self.device = config, device
        self._rank, self._world_size = rank_and_world()
        self._order = self._by_rank(np.arange(len(words)))
        # pairs whose contexts are on this rank, renumbered; centers keep their marginals
        mine = pairs.context % self._world_size == self._rank
        context = pairs.context[mine] // np.int32(self._world_size)
        self._pairs = WeightedPairs(pairs.center[mine], context, pairs.weight[mine], pairs.marginal)
        generator = torch.Generator().manual_seed(config.seed)

        def matrix(rows: int, scale: float) -> torch.Tensor:
            return torch.randn(rows, config.dim, generator=generator) * scale * config.dim**-0.5

        tables = matrix(len(words), 1.0), matrix(len(words), 0.1 if config.subwords else 1.0)
        self.contexts, self.words = (table[self._rank :: self._world_size].contiguous().to(device) for table in tables)
        self.contexts.grad, self.words.grad = torch.zeros_like(self.contexts), torch.zeros_like(self.words)
        groups = [{"params": [self.contexts]}, {"params": [self.words]}]
        self.subwords = None
        if config.subwords:
            self._has = subword_matrix(words)
            self.subwords = matrix(self._has.shape[1], 1.0).to(device)
            groups[1]["weight_decay"] = config.word_decay  # type: ignore[assignment]
            groups.append({"params": [self.subwords]})
        self._optimizer = torch.optim.AdamW(groups, lr=config.learning_rate, weight_decay=0.0, fused=True)
        self._num_steps = 0

    def _by_rank(self, words: Ints) -> Ints:
        """Words in the order in which ranks hold them."""
        return words[np.lexsort((words, words % self._world_size))]

    def _sizes(self, words: Ints) -> list[int]:
        return np.bincount(words % self._world_size, minlength=self._world_size).tolist()

    def _vectors(self, centers: Ints) -> torch.Tensor:
        """(n, dim) vectors of words ordered by rank: each is the sum of its word vector and its subwords' vectors."""
        mine = centers[centers % self._world_size == self._rank]
        vectors = self.words[torch.from_numpy(mine // self._world_size)]
        if self.subwords is not None:
            vectors = vectors + torch.sparse.mm(_rows(self._has, mine, self.device), self.subwords)
        return all_gather_rows(vectors, self._sizes(centers))

    def step(self, centers: Ints) -> float:
        """Take one step on center words; return their part of the loss."""
        centers = self._by_rank(centers)
        assert self.contexts.grad is not None and self.words.grad is not None
        with torch.no_grad():
            vectors = self._vectors(centers)
            gradient = torch.zeros_like(vectors)
            self.contexts.grad.zero_()
            loss = torch.zeros(1, dtype=torch.float64, device=self.device)
            for start in range(0, len(centers), ROWS):
                rows = slice(start, start + ROWS)
                tile = self._pairs.tile(centers[rows], self.device)
                loss += self._add_gradients(tile, vectors[rows], gradient[rows], self.contexts.grad)
            sum_over_ranks((gradient, loss))
            mine = centers % self._world_size == self._rank
            word_rows = torch.from_numpy(centers[mine] // self._world_size)
            self.words.grad.zero_()[word_rows] = gradient[torch.from_numpy(mine)]
            if self.subwords is not None:
                has = _rows(self._has, centers, self.device)
                self.subwords.grad = torch.sparse.mm(has.t().coalesce(), gradient)
        last = max(self.config.epochs * self.config.steps_per_epoch - 1, 1)
        decay = 0.55 + 0.45 * np.cos(np.pi * min(self._num_steps / last, 1.0))  # half a cosine to a tenth
        for group in self._optimizer.param_groups:
            group["lr"] = self.config.learning_rate * decay
        self._optimizer.step()
        self._num_steps += 1
        return float(loss)

    def _add_gradients(
        self, tile: _Tile, u: torch.Tensor, gradient: torch.Tensor, context_gradient: torch.Tensor
    ) -> torch.Tensor:
        """Add a tile's gradients, computed by hand so that only one matrix of logits is held; return its loss."""
        softmax = _Softmax.of(tile, u, self.contexts, self._world_size)
        last, *others = reversed(_parts(len(self.contexts)))
        for part in (last, *others):  # the last part's exponentials are kept, others are recomputed
            exp_logits = softmax.exp_logits
            if part is not last:
                exp_logits = (u @ self.contexts[part].T).sub_(softmax.max_logit).exp_()
            # d loss / d logits = marginal * softmax - counts, written over the logits
            slope = exp_logits.mul_(tile.marginal[:, None] * softmax.scale)
            pairs = tile.within(part)
            slope.index_put_((pairs.row, pairs.context), -pairs.weight, accumulate=True)
            gradient += slope @ self.contexts[part]
            context_gradient[part] += slope.T @ u
        return softmax.loss

    @torch.no_grad()
    def numpy(self) -> tuple[Floats32, Floats32]:
        """(num_words, dim) center and context vectors, on all ranks."""
        by_rank = self._vectors(self._order), all_gather_rows(self.contexts, self._sizes(self._order))
        vectors, contexts = (table.cpu().numpy()[np.argsort(self._order)] for table in by_rank)
        return vectors, contexts


def _rows(has: "csr_array", words: Ints, device: str) -> torch.Tensor:
    """Rows of a matrix of subwords, sparse."""
    rows = has[words].tocoo()
    entries, weight = torch.from_numpy(np.stack([rows.row, rows.col]).astype(np.int64)), torch.from_numpy(rows.data)
    return torch.sparse_coo_tensor(entries, weight, rows.shape, check_invariants=False).to(device).coalesce()
