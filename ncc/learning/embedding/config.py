"""How the skip-gram is trained."""

from dataclasses import dataclass

from ncc.errors import InputError


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
        share_parts: Statements share vectors of their parts (see `ncc.learning.embedding.subwords`); False learns every
            statement by itself, as the paper does.
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
        """Checks the ranges."""
        if min(self.dim, self.epochs, self.steps_per_epoch, self.rows, self.columns) < 1:
            raise InputError("dim, epochs, steps_per_epoch, rows and columns must be 1 or more")
        if self.learning_rate <= 0 or self.subsample < 0 or self.own_decay < 0:
            raise InputError("learning_rate must be above 0, subsample and own_decay 0 or more")
