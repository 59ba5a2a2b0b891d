"""Exact skip-gram on counts: full softmax over the vocabulary, as matrix products over the distinct pairs.

With counts C the likelihood of a corpus is the sum of C[i, j] log softmax(U V^T)[i, j]; an epoch costs what the
distinct pairs cost, however often each was seen. Pairs are never sampled and negatives never drawn: a step takes some
of the centre words with all their contexts. Ranks share the tables of both (see
`ncc.learning.embedding.skipgram_model`).

Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases", sections 2 (skip-gram, full softmax)
and 2.3 (subsampling); Ben-Nun et al. 2018, section 4.2.
"""

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ncc.arrays import Floats, Floats32, Ints, Ints32
from ncc.errors import InputError
from ncc.learning.embedding.config import SkipGramConfig
from ncc.learning.embedding.pairs import WeightedPairs
from ncc.learning.training.ranks import check_consistent, rank_and_world

logger = logging.getLogger(__name__)


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

    vectors: Floats32
    contexts: Floats32
    losses: Floats
    loss: float
    entropy: float


def train_skipgram(
    center: Ints32,
    context: Ints32,
    count: Ints,
    words: Sequence[str],
    config: SkipGramConfig | None = None,
    *,
    device: str = "cpu",
    progress: Callable[[int, float], None] | None = None,
) -> SkipGramResult:
    """Trains vectors on the counts of distinct pairs, sorted by centre.

    Deterministic on a CPU for a seed and a number of threads. Inside a process group, every rank holds its part of the
    tables and ends with the result that one rank alone would have had, to rounding.

    Args:
        center: (num_pairs,) int32 words in the middle.
        context: (num_pairs,) int32 words near them.
        count: (num_pairs,) int64.
        words: The vocabulary.
        config: How to train.
        device: A torch device.
        progress: Called with the number of epochs done and the loss.

    Raises:
        InputError: There are no pairs.
    """
    from ncc.learning.embedding.skipgram_model import SkipGramModel

    config = config or SkipGramConfig()
    if not len(count):
        raise InputError("there are no pairs of statements to train on")
    pairs = WeightedPairs.weighted(center, context, count, len(words), config.subsample)
    num_steps = min(config.steps_per_epoch, len(pairs.centers))
    if rank_and_world()[1] > 1:
        check_consistent({"counts, words and options of digest": _fingerprint(pairs, words, config)})
    model = SkipGramModel(words, pairs, replace(config, steps_per_epoch=num_steps), device)
    losses: list[float] = []
    while len(losses) < config.epochs:
        rng = np.random.default_rng((config.seed, len(losses)))
        losses.append(sum(map(model.step, np.array_split(rng.permutation(pairs.centers), num_steps))))
        if progress:
            progress(len(losses), losses[-1])
    vectors, contexts = model.numpy()
    vectors[pairs.mass == 0] = 0
    final = model.loss()
    entropy = pairs.entropy()
    logger.info("skip-gram: loss %.4f after %d epochs, entropy %.4f", final, config.epochs, entropy)
    return SkipGramResult(vectors, contexts, np.array(losses), final, entropy)


def _fingerprint(pairs: WeightedPairs, words: Sequence[str], config: SkipGramConfig) -> str:
    """A digest of what ranks must have in common; how products are cut into blocks does not matter."""
    text = "\0".join((repr(replace(config, rows=1, columns=1)), *words))
    return hashlib.sha256(pairs.digest() + text.encode()).hexdigest()[:32]
