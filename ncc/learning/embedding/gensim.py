"""gensim's Word2Vec on pairs sampled from counts: a streaming baseline for the exact trainer.

Reference: Mikolov et al. 2013, "Distributed Representations of Words and Phrases" (negative sampling).
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ncc.arrays import Ints, Ints32
from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.embedding.skipgram import SkipGramResult, WeightedPairs, skipgram_loss

_CHUNK = 1 << 16
_NUM_NEGATIVE = 5
"""Words drawn against each pair: gensim's default."""
_LEARNING_RATES = 0.025, 1e-4
"""First and last learning rate: gensim's defaults."""


class PairStream:
    """Pairs of words drawn by weight, as gensim's sentences of two words; the same at every pass."""

    def __init__(self, pairs: WeightedPairs, words: Sequence[str], num_pairs: int, seed: int) -> None:
        self.pairs, self.words, self.num_pairs, self.seed = pairs, words, num_pairs, seed
        self.cumulative = np.cumsum(pairs.weight) / pairs.weight.sum()

    def __iter__(self) -> Iterator[list[str]]:
        rng = np.random.default_rng(self.seed)
        center, context = self.pairs.center, self.pairs.context
        for start in range(0, self.num_pairs, _CHUNK):
            drawn = rng.random(min(_CHUNK, self.num_pairs - start))
            pair = np.searchsorted(self.cumulative, drawn, side="right").clip(max=len(center) - 1)
            for a, b in zip(center[pair].tolist(), context[pair].tolist(), strict=True):
                yield [self.words[a], self.words[b]]


def train_gensim(
    center: Ints32,
    context: Ints32,
    count: Ints,
    words: Sequence[str],
    config: EmbeddingConfig,
    *,
    threads: int = 1,
    progress: Callable[[int, float], None] | None = None,
) -> SkipGramResult:
    """Train vectors with gensim on pairs drawn from counts; arguments as of `train_skipgram`.

    With more than one thread, runs differ. Losses are of the full softmax, as of the exact trainer; gensim's own loses
    precision after some million pairs.
    """
    from gensim.models import Word2Vec

    pairs = WeightedPairs.from_counts(center, context, count, len(words), config.subsample)
    stream = PairStream(pairs, words, config.num_pairs, config.seed)
    # expected occurrences of each word, from which gensim draws negatives
    seen = np.maximum(np.rint(2 * config.num_pairs * pairs.marginal), 1).astype(np.int64)
    options = {"vector_size": config.dim, "negative": _NUM_NEGATIVE, "workers": threads, "seed": config.seed}
    model = Word2Vec(sg=1, window=1, sample=0, min_count=1, **options)
    rows = pairs.centers
    model.build_vocab_from_freq({words[row]: int(seen[row]) for row in rows.tolist()})
    keys = [model.wv.key_to_index[words[row]] for row in rows.tolist()]
    vectors, contexts = (np.zeros((len(words), config.dim), np.float32) for _ in range(2))
    losses = []
    high, low = _LEARNING_RATES
    for epoch in range(config.epochs):
        # the learning rate decays over all epochs, as in a single call
        start, end = (high - (high - low) * done / config.epochs for done in (epoch, epoch + 1))
        model.train(stream, total_examples=config.num_pairs, epochs=1, start_alpha=start, end_alpha=end)
        vectors[rows], contexts[rows] = model.wv.vectors[keys], model.syn1neg[keys]
        losses.append(skipgram_loss(pairs, vectors, contexts))
        if progress:
            progress(epoch + 1, losses[-1])
    return SkipGramResult(vectors, contexts, np.array(losses), losses[-1], pairs.entropy())
