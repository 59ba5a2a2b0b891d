"""From a module's statements to a vector for each function or for the whole module: the choices of ``--pooling``.

Vectors of different poolers can't be compared, so each has an `id`.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar, cast

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import InputError
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.optimized import optimize_if_needed
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, Lookup, load_embedding
from ncc.learning.encoder.linear import FORMAT, LinearEncoder
from ncc.learning.encoder.network_numpy import LSTM_FORMAT, LSTMEncoder
from ncc.learning.encoder.patterns import bags_of
from ncc.learning.programs.table import own_functions, statement_literals

AnyEncoder = LinearEncoder | LSTMEncoder | str | os.PathLike[str]
"""An encoder, or the folder that it is in."""

Functions = Sequence[int] | None


def load_encoder(folder: AnyEncoder | None = None) -> LinearEncoder | LSTMEncoder:
    """Read an encoder of functions and modules.

    Args:
        folder: Folder written by `save_encoder` or ``ncc train encoder``; default the one that ships with ncc. An
            encoder is returned as it is.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    if isinstance(folder, LSTMEncoder):
        return folder
    if isinstance(folder, str | os.PathLike) and (Path(folder) / "lstm.json").exists():
        return LSTM_FORMAT.load(folder)
    return FORMAT.load(folder, "encoder")


def save_encoder(encoder: LinearEncoder | LSTMEncoder, folder: str | os.PathLike[str]) -> None:
    """Write an encoder made by `ncc.train_encoder`.

    Args:
        encoder: The encoder.
        folder: Gets ``encoder.safetensors`` and ``encoder.json``, or ``lstm.safetensors`` and ``lstm.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    if isinstance(encoder, LSTMEncoder):
        LSTM_FORMAT.save(encoder, folder)
    else:
        FORMAT.save(encoder, folder)


@dataclass(frozen=True, eq=False)
class Pooler(ABC):
    """Makes vectors of functions and modules."""

    embedding: Embedding
    name: ClassVar[str]  # the value of ``--pooling``
    kind: ClassVar[str]

    @property
    def model(self) -> Embedding | LinearEncoder | LSTMEncoder:
        """What its vectors depend on: its encoder, or else the embedding."""
        return cast(Embedding, getattr(self, "encoder", self.embedding))

    @property
    def abstraction(self) -> Abstraction:
        """How modules have to be read."""
        return self.embedding.abstraction

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors that it makes."""
        return self.model.dim

    @property
    def id(self) -> str:
        """Its kind and a short hash of its model; vectors of another id are not vectors of its space."""
        return f"{self.kind}-{self.model.fingerprint}"

    @abstractmethod
    def vectors(self, module: Module, functions: Functions = None, *, lookup: Lookup | None = None) -> Floats32:
        """Vectors of some functions, (num_functions, dim) float32, or of the whole module, (1, dim)."""


@dataclass(frozen=True, eq=False)
class MeanPooler(Pooler):
    """The mean over statements."""

    name: ClassVar[str] = "mean"
    kind: ClassVar[str] = "mean"

    def vectors(self, module: Module, functions: Functions = None, *, lookup: Lookup | None = None) -> Floats32:
        """Average the vectors of all statements."""
        word = (lookup or self.embedding.look_up(module.texts).expand(module.text_id)).word
        table = self.embedding.vectors
        if functions is None:
            weight = np.bincount(word, minlength=len(table)) / len(word)
            used = np.flatnonzero(weight)
            return (weight[used] @ table[used].astype(np.float64)).astype(np.float32)[None, :]
        parts = [word[slice(*module.function_start[index : index + 2])] for index in functions]
        means = [table[part].mean(axis=0, dtype=np.float64) for part in parts]
        return np.array(means, np.float32).reshape(-1, self.dim)


@dataclass(frozen=True, eq=False)
class EncoderPooler(Pooler):
    """The encoder's vector, made of patterns of the code; length 1.

    Functions that were compiled without optimization are optimized first, and those of an older LLVM rewritten as
    today's writes them, if it can read them; of a whole module those of the C++ library are left out.
    """

    encoder: LinearEncoder = field(default_factory=lambda: cast(LinearEncoder, load_encoder()))
    name: ClassVar[str] = "encoder"
    kind: ClassVar[str] = "encoder"

    def vectors(self, module: Module, functions: Functions = None, *, lookup: Lookup | None = None) -> Floats32:  # noqa: ARG002 - patterns are not words
        """Encode bags of patterns."""
        optimized = optimize_if_needed(module, self.abstraction)
        if functions is None:
            whole = optimized or module
            return self.encoder.vectors(whole, own_functions(whole), "module")
        distinct, position = np.unique(np.asarray(functions, np.int64), return_inverse=True)
        vectors = self.encoder.vectors(module, bags_of(module, distinct), "function")
        if optimized:
            indices = {name: index for index, name in enumerate(optimized.function_names)}
            now = np.array([indices.get(module.function_names[index], -1) for index in distinct.tolist()], np.int64)
            vectors[now >= 0] = self.encoder.vectors(optimized, bags_of(optimized, now[now >= 0]), "function")
        return vectors[position]


@dataclass(frozen=True, eq=False)
class LSTMPooler(Pooler):
    """The vector of one's own LSTM, trained on the same embedding; length 1."""

    encoder: LSTMEncoder
    name: ClassVar[str] = "encoder"
    kind: ClassVar[str] = "lstm"

    def __post_init__(self) -> None:
        """Check that the encoder knows the embedding's words."""
        if self.encoder.embedding_id != self.embedding.fingerprint:
            raise InputError(
                f"the encoder was trained on embedding {self.encoder.embedding_id}, but {self.embedding.fingerprint} "
                "is loaded; name the one that it was trained on"
            )

    def vectors(self, module: Module, functions: Functions = None, *, lookup: Lookup | None = None) -> Floats32:
        """Read statements in order, and their literals."""
        word = (lookup or self.embedding.look_up(module.texts).expand(module.text_id)).word
        if functions is None:
            parts = [np.flatnonzero(own_functions(module)[module.statement_function] >= 0)]
        else:
            parts = [np.arange(*module.function_start[index : index + 2]) for index in functions]
        vectors = np.zeros((len(parts), self.dim), np.float32)
        for row, part in enumerate(parts):
            statements = part[: self.encoder.max_length].astype(np.int32)
            start, literals = statement_literals(module, statements)
            vectors[row] = self.encoder.encode(word[statements], literals, start)
        return vectors


POOLERS: dict[str, type[Pooler]] = {kind.name: kind for kind in (MeanPooler, EncoderPooler)}
"""By their names."""


def load_pooler(
    pooling: str | Pooler | None = None,
    embedding: AnyEmbedding | None = None,
    encoder: AnyEncoder | None = None,
) -> Pooler:
    """Make a pooler by its name."""
    if isinstance(pooling, Pooler):
        if embedding is not None and load_embedding(embedding).fingerprint != pooling.embedding.fingerprint:
            raise InputError("the pooler has another embedding than the one that is given")
        if encoder is not None and load_encoder(encoder).fingerprint not in pooling.id:
            raise InputError("the pooler has another encoder than the one that is given")
        return pooling
    pooling = pooling or ("encoder" if embedding is None or encoder is not None else "mean")
    if pooling not in POOLERS:
        raise InputError(f"pooling is {pooling!r}; expected one of {', '.join(POOLERS)}")
    if encoder is not None:
        if pooling != "encoder":
            raise InputError(f"an encoder is given, and pooling is {pooling!r}; expected 'encoder'")
        words, loaded = load_embedding(embedding), load_encoder(encoder)
        return LSTMPooler(words, loaded) if isinstance(loaded, LSTMEncoder) else EncoderPooler(words, loaded)
    return _load_shipped(pooling) if embedding is None else POOLERS[pooling](load_embedding(embedding))


@cache
def _load_shipped(pooling: str) -> Pooler:
    return POOLERS[pooling](load_embedding())
