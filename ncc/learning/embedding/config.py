"""Options for training an embedding."""

from dataclasses import dataclass
from typing import Literal

from ncc.learning.training.config import check_fields


@dataclass(frozen=True, kw_only=True)
class EmbeddingConfig:
    """Options for training an embedding.

    Attributes:
        context_width: Context size in hops; the corpora must have been counted for it.
        min_count: Minimum number of occurrences for a statement to become a word.
        engine: "exact" (skip-gram on the counts), or "gensim" (Word2Vec on pairs drawn from them).
        dim: Number of dimensions.
        epochs: Passes over the counts, or over gensim's pairs.
        steps_per_epoch: Steps per epoch, each on different center words, reshuffled every epoch.
        learning_rate: Initial learning rate of Adam, with cosine decay to a tenth.
        subsample: Downsample words with more than this fraction of all pairs to the square root of the excess, on both
            sides of a pair; 0 turns it off.
        subwords: Share vectors of parts among statements; otherwise each statement is learned separately, as in the
            paper.
        word_decay: Weight decay of whole-word vectors; higher values rely more on subwords.
        num_pairs: Number of unordered pairs that gensim reads per epoch, sampled once by weight.
        seed: Random seed.
    """

    context_width: int = 2
    min_count: int = 10
    engine: Literal["exact", "gensim"] = "exact"
    dim: int = 200
    epochs: int = 20
    steps_per_epoch: int = 8
    learning_rate: float = 0.02
    subsample: float = 1e-3
    subwords: bool = True
    word_decay: float = 2.0
    num_pairs: int = 20_000_000
    seed: int = 204

    def __post_init__(self) -> None:
        numbers = "context_width", "min_count", "dim", "epochs", "steps_per_epoch", "num_pairs"
        check_fields(self, "1 or more", lambda number: number >= 1, *numbers)
        check_fields(self, "0 or more", lambda number: number >= 0, "subsample", "word_decay")
        check_fields(self, "a number above 0", lambda number: number > 0, "learning_rate")
        check_fields(self, "exact or gensim", ("exact", "gensim").__contains__, "engine")
