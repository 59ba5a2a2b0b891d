"""The classifier's network: the encoder of `ncc.learning.encoder` with a head for classes, and its answers in NumPy.

This is the LSTM that ships (``ncc/assets/classify``): `program_encoder` and `program_head` are its sizes and parts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from msgspec import Meta

from ncc.arrays import Floats32, Ints32
from ncc.errors import InputError
from ncc.learning.encoder.config import EncoderConfig, HeadConfig
from ncc.learning.encoder.network_numpy import NumpyNetwork
from ncc.learning.programs.table import EncodedProgram

LONGEST = 768
"""Statements of a program that a network reads."""


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


@dataclass(frozen=True, eq=False)
class ProgramNetwork:
    """A trained network.

    Attributes:
        network: Encoder and head.
        vectors: (rows, dim) float32 of the statements that programs of the training set used.
        row: (num_words,) int32 row of `vectors` for each word of the embedding; those of words that no program of the
            training set used are their nearest neighbours' among those that some did.
        max_length: Statements of a program that are read.
    """

    network: NumpyNetwork
    vectors: Floats32
    row: Ints32
    max_length: Annotated[int, Meta(ge=1, le=1 << 20)] = LONGEST

    def __post_init__(self) -> None:
        """Checks that the parts fit each other."""
        if self.vectors.ndim != 2 or self.vectors.shape[1] != self.network.encoder.dim:
            raise InputError(f"vectors of shape {self.vectors.shape} for an encoder of {self.network.encoder.dim}")
        if not self.vectors.size or not self.row.size:
            raise InputError("a network without vectors or words")
        if self.row.ndim != 1 or ((self.row < 0) | (self.row >= len(self.vectors))).any():
            raise InputError(f"row is of shape {self.row.shape}, or leads out of {len(self.vectors)} vectors")
        if self.network.head.num_auxiliary:
            raise InputError(f"a head that takes {self.network.head.num_auxiliary} auxiliary numbers")

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, Floats32], config: EncoderConfig, row: Ints32, max_length: int = LONGEST
    ) -> Self:
        """Takes what ``EncoderNetwork.to_arrays`` gave.

        Raises:
            InputError: As for the parts.
        """
        return cls(NumpyNetwork.from_arrays(arrays, config), arrays["vectors"], row, max_length)

    @property
    def config(self) -> EncoderConfig:
        """Of the encoder."""
        return self.network.encoder.config

    @property
    def num_classes(self) -> int:
        """Outputs."""
        return self.network.head.num_outputs

    @property
    def dense(self) -> int:
        """Units of the layer before the classes."""
        return len(self.network.head.tensors["dense.bias"])

    @property
    def tensors(self) -> dict[str, Floats32]:
        """All that was learnt, by torch's names."""
        return {"vectors": self.vectors, **self.network.tensors}

    def encode(self, program: EncodedProgram) -> Floats32:
        """The encoder's vector of a program, (vector_size,) float32."""
        words = program.words[: self.max_length]
        start = program.literal_start[: len(words) + 1]
        return self.network.encoder.encode(self.vectors[self.row[words]], program.literals, start)

    def scores(self, program: EncodedProgram) -> Floats32:
        """The network's outputs, (num_classes,) float32."""
        return np.asarray(self.network.head.outputs(self.encode(program))[0])
