"""Sizes and parts of the encoder and of the heads on top of it."""

from dataclasses import dataclass
from typing import Literal, get_args

from ncc.errors import InputError

Pooling = Literal["last", "mean", "max", "attention"]
Norm = Literal["batch", "layer"]


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """What the encoder is made of; the defaults are the published head's.

    Attributes:
        hidden: Units of each direction of each LSTM layer.
        layers: LSTM layers.
        bidirectional: Read each sequence from both of its ends.
        pooling: What is made of the states over time, one after the other: the last one, their mean, their maximum, or
            their mean as weighted by what a query finds.
        pool_inputs: Put mean and maximum of what the first layer reads in front.
        buckets: Rows of the table that literals are hashed into; 0 reads no literals.
        dropout: Share of features dropped in training, between layers.
        last_dropout: The same, behind the last layer.
        word_dropout: Share of statements, and of literals, that are hidden in training.
        train_vectors: Train the vectors of statements with the rest.
        memory: Steps, 2 or more, over which the units of a layer remember to begin with, spread from 1 to this (chrono
            initialization); None begins with random biases.
    """

    hidden: int = 200
    layers: int = 2
    bidirectional: bool = False
    pooling: tuple[Pooling, ...] = ("last",)
    pool_inputs: bool = False
    buckets: int = 0
    dropout: float = 0.0
    last_dropout: float = 0.0
    word_dropout: float = 0.0
    train_vectors: bool = False
    memory: int | None = None

    def __post_init__(self) -> None:
        """Check sizes and names."""
        for name, least in (("hidden", 1), ("layers", 1), ("buckets", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}; expected {least} or more")
        for name in ("dropout", "last_dropout", "word_dropout"):
            _check_share(name, getattr(self, name))
        unknown = set(self.pooling) - set(get_args(Pooling))
        if unknown or not self.pooling or len(set(self.pooling)) < len(self.pooling):
            raise InputError(f"pooling is {self.pooling}; expected some of {', '.join(get_args(Pooling))}, each once")
        if self.memory is not None and self.memory < 2:
            raise InputError(f"memory is {self.memory}; expected 2 or more")

    @property
    def num_states(self) -> int:
        """Outputs of a layer at each step."""
        return self.hidden * (2 if self.bidirectional else 1)

    def vector_size(self, dim: int) -> int:
        """Number of dimensions of what is made of a sequence of vectors of `dim` dimensions."""
        return len(self.pooling) * self.num_states + (2 * dim if self.pool_inputs else 0)


@dataclass(frozen=True, kw_only=True)
class HeadConfig:
    """What a head is made of; the defaults are the published head's.

    Attributes:
        dense: Units of the layer between.
        norm: What the features go through first: normalization over the batch, or over each sample's features.
        dropout: Share of features dropped in training, before the dense layer.
        dense_dropout: The same, behind it.
        code_outputs: Give as many outputs again, made of the encoder's vector alone by one layer, to train on both.
    """

    dense: int = 32
    norm: Norm = "batch"
    dropout: float = 0.0
    dense_dropout: float = 0.0
    code_outputs: bool = False

    def __post_init__(self) -> None:
        """Check sizes and names."""
        if self.dense < 1:
            raise InputError(f"dense is {self.dense}; expected 1 or more")
        if self.norm not in get_args(Norm):
            raise InputError(f"norm is {self.norm!r}; expected one of {', '.join(get_args(Norm))}")
        for name in ("dropout", "dense_dropout"):
            _check_share(name, getattr(self, name))


def _check_share(name: str, share: float) -> None:
    if not 0 <= share < 1:
        raise InputError(f"{name} is {share}; expected at least 0 and below 1")
