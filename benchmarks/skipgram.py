"""Time to a held-out likelihood: the exact skip-gram on counts against gensim's Word2Vec on the same pairs, streamed.

    python benchmarks/skipgram.py CORPUS... [--pairs 1e6 1e7 1e8] [-o benchmarks/results/skipgram.json]

CORPUS are folders made by ``ncc corpus build``. For each size, that number of pairs is drawn from their counts; a tenth
is held out. gensim streams the rest, shuffled, for five epochs; ours trains on their counts for 1, 2, 4, … epochs, each
time from the start, until a run's held-out cross-entropy is no worse than gensim's. That is the full softmax over the
vocabulary; for gensim with the distribution of its negatives as a prior, or without, whichever is better for it. Times
are of training alone. gensim's runs that the output file has already are not done again.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from gensim.models import Word2Vec
from numpy.typing import NDArray

from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.embedding.counts import CorpusCounts
from ncc.learning.embedding.skipgram import WeightedPairs, skipgram_loss, train_skipgram
from ncc.learning.embedding.train import load_corpora
from ncc.learning.embedding.vocabulary import build_vocabulary
from ncc.system.files.text import command_line
from ncc_lab.environment import environment

EPOCHS = (1, 2, 4, 8, 16, 32, 48, 64, 128)
GENSIM_EPOCHS = 5


class Pairs:
    """Unordered pairs of words with counts; each stands for a pair both ways."""

    def __init__(
        self, low: NDArray[np.int32], high: NDArray[np.int32], count: NDArray[np.int64], num_words: int
    ) -> None:
        kept = count > 0
        self.low, self.high, self.count, self.num_words = low[kept], high[kept], count[kept], num_words

    def ordered(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Both ways, sorted by center, as `train_skipgram` takes them."""
        center = np.concatenate([self.low, self.high])
        context = np.concatenate([self.high, self.low])
        order = np.lexsort((context, center))
        return center[order], context[order], np.concatenate([self.count, self.count])[order]

    def mass(self) -> NDArray[np.float64]:
        """(num_words,) how often each word stands in a pair."""
        low, high = (np.bincount(side, self.count, self.num_words) for side in (self.low, self.high))
        return np.asarray(low + high, np.float64)


def draw(words: int, pairs: tuple, number: int, seed: int) -> list[Pairs]:
    """Draws ``number`` ordered pairs' worth of unordered ones; a tenth is held out."""
    center, context, count = pairs
    once = center <= context
    rng = np.random.default_rng(seed)
    weight = np.where(center == context, count / 2, count)[once].astype(float)
    drawn = rng.multinomial(number // 2, weight / weight.sum())
    test = rng.binomial(drawn, 0.1)
    return [Pairs(center[once], context[once], some, words) for some in (drawn - test, test)]


class Stream:
    """The pairs one by one as gensim's sentences, in one random order."""

    def __init__(self, pairs: Pairs, words: Sequence[str], seed: int) -> None:
        rows = np.repeat(np.arange(len(pairs.count), dtype=np.int32), pairs.count)
        np.random.default_rng(seed).shuffle(rows)
        self.rows, self.pairs, self.words = rows, pairs, words

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[list[str]]:
        words = self.words
        for start in range(0, len(self.rows), 1 << 16):
            some = self.rows[start : start + (1 << 16)]
            for a, b in zip(self.pairs.low[some].tolist(), self.pairs.high[some].tolist(), strict=True):
                yield [words[a], words[b]]


def held_out(test: Pairs, vectors: NDArray, contexts: NDArray, prior: NDArray | None = None) -> float:
    """Cross-entropy of held-out pairs, in nats; a prior is added to the logits of contexts."""
    if prior is not None:
        vectors = np.hstack([vectors, np.ones((len(vectors), 1), np.float32)])
        contexts = np.hstack([contexts, np.log(np.maximum(prior, 1e-9))[:, None].astype(np.float32)])
    center, context, count = test.ordered()
    return skipgram_loss(WeightedPairs.from_counts(center, context, count, len(vectors)), vectors, contexts)


def run_gensim(train: Pairs, test: Pairs, words: Sequence[str], dim: int) -> dict:
    mass = train.mass()
    model = Word2Vec(vector_size=dim, sg=1, window=1, negative=5, sample=0, min_count=1, workers=1, seed=204)
    rows = np.flatnonzero(mass > 0)
    model.build_vocab_from_freq({words[row]: int(mass[row]) for row in rows.tolist()})
    stream = Stream(train, words, 204)
    start = time.perf_counter()
    model.train(stream, total_examples=len(stream), epochs=GENSIM_EPOCHS)
    seconds = time.perf_counter() - start
    known = [model.wv.key_to_index[words[row]] for row in rows.tolist()]
    vectors, contexts = (np.zeros((len(words), dim), np.float32) for _ in range(2))
    vectors[rows], contexts[rows] = model.wv.vectors[known], model.syn1neg[known]
    noise = np.where(mass > 0, mass, 1.0) ** model.ns_exponent
    losses = [held_out(test, vectors, contexts), held_out(test, vectors, contexts, noise / noise.sum())]
    return {"seconds": seconds, "pairs_per_second": 2 * GENSIM_EPOCHS * len(stream) / seconds, "held_out": min(losses)}


def run_ours(train: Pairs, test: Pairs, words: Sequence[str], dim: int, epochs: int) -> dict:
    config = EmbeddingConfig(dim=dim, epochs=epochs, learning_rate=0.03, subsample=0.0, subwords=False)
    start = time.perf_counter()
    result = train_skipgram(*train.ordered(), words, config)
    seconds = time.perf_counter() - start
    return {"epochs": epochs, "seconds": seconds, "held_out": held_out(test, result.vectors, result.contexts)}


def measure(counts: CorpusCounts, number: int, dim: int, min_count: int, earlier: list[dict]) -> dict:
    vocabulary = build_vocabulary(dict(zip(counts.texts, counts.statements.tolist(), strict=True)), min_count)
    words = vocabulary.words
    train, test = draw(len(words), counts.restrict(vocabulary), number, 204)
    about = {"pairs": number, "words": len(words), "distinct_pairs": len(train.count), "dim": dim}
    same = [row["gensim"] for row in earlier if about.items() <= row.items()]
    gensim = same[0] if same else run_gensim(train, test, words, dim)
    row: dict[str, Any] = about | {"gensim": gensim, "ours": []}
    for epochs in EPOCHS:
        row["ours"].append(run_ours(train, test, words, dim, epochs))
        if row["ours"][-1]["held_out"] <= gensim["held_out"]:
            row["ratio"] = gensim["seconds"] / row["ours"][-1]["seconds"]
            break
    last = row["ours"][-1]
    times = f"gensim {gensim['seconds']:.1f} s, ours {last['seconds']:.2f} s ({last['epochs']} epochs)"
    losses = f"held out {gensim['held_out']:.4f} and {last['held_out']:.4f}"
    print(f"{number:>12,} pairs: {times}; {losses}; ratio {row.get('ratio', float('nan')):.0f}", flush=True)
    return row


def plot(rows: list[dict], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    sizes = [row["pairs"] for row in rows]
    axes.loglog(sizes, [row["gensim"]["seconds"] for row in rows], "o-", label="gensim, five epochs")
    axes.loglog(sizes, [row["ours"][-1]["seconds"] for row in rows], "s-", label="ncc, to the same held-out likelihood")
    axes.set(xlabel="pairs of statements", ylabel="seconds", title="Training time against corpus size")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("--pairs", nargs="+", type=float, default=[1e6, 1e7, 1e8])
    parser.add_argument("--width", type=int, default=2)
    parser.add_argument("--dim", type=int, default=200)
    parser.add_argument("--min-count", type=int, default=20)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    counts = load_corpora(options.corpora, options.width)
    earlier = json.loads(options.output.read_text())["rows"] if options.output and options.output.exists() else []
    rows = [measure(counts, int(number), options.dim, options.min_count, earlier) for number in options.pairs]
    if options.output:
        figures = {"command": command_line("python benchmarks/skipgram.py"), **environment(), "rows": rows}
        options.output.write_text(json.dumps(figures, indent=1) + "\n")
        plot(rows, options.output.with_suffix(".png"))


if __name__ == "__main__":
    main()
