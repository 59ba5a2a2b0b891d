"""gensim's Word2Vec on pairs sampled from counts: the streaming trainer to compare the exact one with.

Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases" (negative sampling).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Floats, Ints, Ints32
from ncc.errors import InputError
from ncc.learning.embedding.pairs import WeightedPairs
from ncc.learning.embedding.skipgram import SkipGramResult
from ncc.learning.embedding.skipgram_loss import skipgram_loss

_CHUNK = 1 << 16


@dataclass(frozen=True, kw_only=True)
class GensimConfig:
    """How to train with gensim.

    Attributes:
        dim: Number of dimensions.
        epochs: Passes over the pairs.
        num_pairs: Unordered pairs an epoch, drawn by their weight, the same every epoch; gensim trains both orders.
        negative: Words drawn against each pair.
        subsample: As in `SkipGramConfig`, done when pairs are drawn.
        threads: gensim's workers; with more than one, runs differ.
        seed: Of pairs and vectors.
    """

    dim: int = 200
    epochs: int = 5
    num_pairs: int = 20_000_000
    negative: int = 5
    subsample: float = 1e-3
    threads: int = 1
    seed: int = 204

    def __post_init__(self) -> None:
        """Checks the ranges."""
        if min(self.dim, self.epochs, self.num_pairs, self.negative, self.threads) < 1 or self.subsample < 0:
            raise InputError("dim, epochs, num_pairs, negative and threads must be 1 or more, subsample 0 or more")


class PairStream:
    """Pairs of words drawn by weight, as gensim's sentences of two words; the same at every pass."""

    def __init__(
        self,
        center: Ints32,
        context: Ints32,
        weight: Floats,
        words: Sequence[str],
        num_pairs: int,
        seed: int,
    ) -> None:
        self.center, self.context, self.words = center, context, words
        self.cumulative = np.cumsum(weight) / weight.sum()
        self.num_pairs, self.seed = num_pairs, seed

    def __iter__(self) -> Iterator[list[str]]:
        rng = np.random.default_rng(self.seed)
        for start in range(0, self.num_pairs, _CHUNK):
            drawn = rng.random(min(_CHUNK, self.num_pairs - start))
            pair = np.searchsorted(self.cumulative, drawn, side="right").clip(max=len(self.center) - 1)
            for a, b in zip(self.center[pair].tolist(), self.context[pair].tolist(), strict=True):
                yield [self.words[a], self.words[b]]


def train_gensim(
    center: Ints32,
    context: Ints32,
    count: Ints,
    words: Sequence[str],
    config: GensimConfig | None = None,
    *,
    progress: Callable[[int, float], None] | None = None,
) -> SkipGramResult:
    """Trains vectors with gensim on pairs drawn from counts; arguments and result as for `train_skipgram`.

    Losses are those of the full softmax, as for the exact trainer, so that the two can be compared; gensim's own, of
    negative sampling, loses precision after some million pairs.

    Raises:
        InputError: There are no pairs.
    """
    from gensim.models import Word2Vec

    config = config or GensimConfig()
    if not len(count):
        raise InputError("there are no pairs of statements to train on")
    pairs = WeightedPairs.weighted(center, context, count, len(words), config.subsample)
    stream = PairStream(center, context, pairs.weight, words, config.num_pairs, config.seed)
    # what a stream of this length holds of each word; gensim draws its negatives by it
    seen = np.maximum(np.rint(2 * config.num_pairs * pairs.mass), 1).astype(np.int64)
    model = Word2Vec(
        vector_size=config.dim,
        sg=1,
        window=1,
        negative=config.negative,
        sample=0,
        min_count=1,
        workers=config.threads,
        seed=config.seed,
    )
    rows = pairs.centers
    model.build_vocab_from_freq({words[row]: int(seen[row]) for row in rows.tolist()})
    known = [model.wv.key_to_index[words[row]] for row in rows.tolist()]
    vectors, contexts = (np.zeros((len(words), config.dim), np.float32) for _ in range(2))
    losses = []
    for epoch in range(config.epochs):
        # the learning rate falls along all epochs, as it would in one call
        high, low = (0.025 - (0.025 - 1e-4) * done / config.epochs for done in (epoch, epoch + 1))
        model.train(stream, total_examples=config.num_pairs, epochs=1, start_alpha=high, end_alpha=low)
        vectors[rows], contexts[rows] = model.wv.vectors[known], model.syn1neg[known]
        losses.append(skipgram_loss(center, context, pairs.weight, vectors, contexts))
        if progress:
            progress(epoch + 1, losses[-1])
    return SkipGramResult(vectors, contexts, np.array(losses), losses[-1], pairs.entropy())
