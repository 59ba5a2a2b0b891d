"""Options of the two trainers of an embedding."""

from dataclasses import dataclass
from typing import Any

from ncc.errors import InputError


def _check(config: Any, *, positive: tuple[str, ...], nonnegative: tuple[str, ...]) -> None:
    for name in positive:
        if getattr(config, name) < 1:
            raise InputError(f"{name} is {getattr(config, name)}; expected 1 or more")
    for name in nonnegative:
        if getattr(config, name) < 0:
            raise InputError(f"{name} is {getattr(config, name)}; expected 0 or more")


@dataclass(frozen=True, kw_only=True)
class SkipGramConfig:
    """Options of the exact skip-gram.

    Attributes:
        dim: Number of dimensions.
        epochs: Passes over the counts.
        steps_per_epoch: Steps of a pass; each takes other center words, drawn anew every epoch.
        learning_rate: Learning rate of Adam, which decays to a tenth along half a cosine.
        subsample: A word with more than this fraction of all pairs is thinned to the square root of the excess, on both
            sides of a pair, in expectation and over the whole corpus; 0 turns it off.
        subwords: Let statements share the vectors of their parts (see `ncc.learning.embedding.subwords`); False learns
            every statement by itself, as the paper does.
        word_decay: With ``subwords``, weight decay of whole-word vectors: the higher, the more the parts must explain.
        rows: Center words per tile, to bound memory at about ``rows * columns * 4`` bytes; the result is the same.
        columns: Context words per tile. With more words than that, logits are computed twice.
        mixed_precision: Multiply in bfloat16 and add in float32, on CUDA devices.
        seed: Seed of the initial vectors and the order of the words.
    """

    dim: int = 200
    epochs: int = 20
    steps_per_epoch: int = 8
    learning_rate: float = 0.02
    subsample: float = 1e-3
    subwords: bool = True
    word_decay: float = 2.0
    rows: int = 2048
    columns: int = 32768
    mixed_precision: bool = True
    seed: int = 204

    def __post_init__(self) -> None:
        positive = ("dim", "epochs", "steps_per_epoch", "rows", "columns")
        _check(self, positive=positive, nonnegative=("subsample", "word_decay"))
        if self.learning_rate <= 0:
            raise InputError(f"learning_rate is {self.learning_rate}; expected a number above 0")


@dataclass(frozen=True, kw_only=True)
class GensimConfig:
    """Options of gensim's Word2Vec.

    Attributes:
        dim: Number of dimensions.
        epochs: Passes over the pairs.
        num_pairs: Unordered pairs per epoch, drawn by their weight, the same every epoch; gensim trains both orders.
        negative: Words drawn against each pair.
        subsample: As in `SkipGramConfig`, applied when pairs are drawn.
        threads: gensim's workers; with more than one, runs differ.
        seed: Seed of pairs and vectors.
    """

    dim: int = 200
    epochs: int = 5
    num_pairs: int = 20_000_000
    negative: int = 5
    subsample: float = 1e-3
    threads: int = 1
    seed: int = 204

    def __post_init__(self) -> None:
        positive = ("dim", "epochs", "num_pairs", "negative", "threads")
        _check(self, positive=positive, nonnegative=("subsample",))
