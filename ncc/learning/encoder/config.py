"""Sizes and parts of encoders and of the heads on top of them, and the options of an encoder's training."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from ncc.errors import InputError
from ncc.learning.training.config import TrainingConfig, check_fields

Pooling = Literal["last", "mean", "max", "attention"]
Norm = Literal["batch", "layer"]
_FRACTION = "at least 0 and below 1"


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """Sizes and parts of an LSTM encoder; the defaults are the published head's."""

    hidden: int = 200  # units of each direction of each layer
    layers: int = 2
    bidirectional: bool = False
    pooling: tuple[Pooling, ...] = ("last",)  # of states over time, concatenated
    pool_inputs: bool = False  # mean and maximum of the first layer's inputs in front
    buckets: int = 0  # rows of the table that literals are hashed into; 0 reads no literals
    dropout: float = 0.0  # fraction of features dropped in training, between layers
    last_dropout: float = 0.0  # the same, after the last layer
    word_dropout: float = 0.0  # fraction of statements, and of literals, that are hidden in training
    train_vectors: bool = False
    memory: int | None = None  # largest time scale of chrono initialization

    def __post_init__(self) -> None:
        check_fields(self, "1 or more", lambda number: number >= 1, "hidden", "layers")
        check_fields(self, "0 or more", lambda number: number >= 0, "buckets")
        check_fields(self, "from 2 to 2^20", lambda number: number is None or 2 <= number <= 1 << 20, "memory")
        check_fields(self, _FRACTION, lambda fraction: 0 <= fraction < 1, "dropout", "last_dropout", "word_dropout")
        unknown = set(self.pooling) - set(get_args(Pooling))
        if unknown or not self.pooling or len(set(self.pooling)) < len(self.pooling):
            raise InputError(f"pooling is {self.pooling}; expected some of {', '.join(get_args(Pooling))}, each once")

    @property
    def num_states(self) -> int:
        """Outputs of a layer at each step."""
        return self.hidden * (2 if self.bidirectional else 1)

    def vector_size(self, dim: int) -> int:
        """Number of dimensions of the vector of a sequence of `dim`-dimensional vectors."""
        return len(self.pooling) * self.num_states + (2 * dim if self.pool_inputs else 0)


@dataclass(frozen=True, kw_only=True)
class HeadConfig:
    """Sizes and parts of a head; the defaults are the published head's."""

    dense: int = 32  # units of the hidden layer
    norm: Norm = "batch"  # of the features: over the batch, or over each sample's
    dropout: float = 0.0  # fraction of features dropped in training, before the hidden layer
    dense_dropout: float = 0.0  # the same, after it

    def __post_init__(self) -> None:
        check_fields(self, "1 or more", lambda number: number >= 1, "dense")
        check_fields(self, f"one of {', '.join(get_args(Norm))}", get_args(Norm).__contains__, "norm")
        check_fields(self, _FRACTION, lambda fraction: 0 <= fraction < 1, "dropout", "dense_dropout")


def program_encoder(hidden: int = 128, layers: int = 1, buckets: int = 8192) -> EncoderConfig:
    """The classifier's encoder: statements and literals, read from both ends, pooled by mean, maximum and attention."""
    return EncoderConfig(
        hidden=hidden,
        layers=layers,
        bidirectional=True,
        pooling=("mean", "max", "attention"),
        pool_inputs=True,
        buckets=buckets,
        dropout=0.3,
        last_dropout=0.3,
        word_dropout=0.1,
        train_vectors=True,
    )


def program_head(dense: int = 256) -> HeadConfig:
    """The classifier's head on top of it."""
    return HeadConfig(dense=dense, norm="layer", dropout=0.3, dense_dropout=0.3)


@dataclass(frozen=True, kw_only=True)
class EncoderTraining(TrainingConfig):
    """Options for training an encoder; those of `TrainingConfig` apply to the LSTM.

    Attributes:
        model: "linear" (on code patterns) or "lstm" (trained contrastively); the shipped encoder is linear.
        dim: Number of dimensions.
        min_df: Minimum number of programs and functions that have a pattern, for the linear encoder.
        hidden: LSTM units per direction.
        max_length: Maximum number of statements per program or function that the LSTM reads.
        steps_per_epoch: Batches per epoch; each has two samples of every class and function in it.
        function_fraction: Fraction of functions in a batch: 0 trains on programs only, 1 on functions only.
    """

    epochs: int = 10
    batch_size: int = 128
    model: Literal["linear", "lstm"] = "linear"
    dim: int = 256
    min_df: int = 60
    hidden: int = 128
    max_length: int = 256
    steps_per_epoch: int = 100
    function_fraction: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = "dim", "min_df", "hidden", "max_length", "steps_per_epoch"
        check_fields(self, "1 or more", lambda number: number >= 1, *numbers)
        check_fields(self, "0 to 1", lambda fraction: 0 <= fraction <= 1, "function_fraction")
        check_fields(self, "linear or lstm", ("linear", "lstm").__contains__, "model")
        check_fields(self, "mirrored, for a contrast of whole batches", "mirrored".__eq__, "strategy")

    @property
    def encoder(self) -> EncoderConfig:
        """The LSTM: that of a classifier, with mean and maximum over its states alone."""
        encoder = program_encoder(self.hidden)
        return replace(encoder, pooling=("mean", "max"), pool_inputs=False, dropout=0.0, last_dropout=0.2)
