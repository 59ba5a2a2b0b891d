"""From a module's statements to a vector for each function or for the whole module: the choices of ``--pooling``.

A way of pooling is a subclass of `Pooler` in `POOLERS`; what it makes is known by its `Pooler.id`, since vectors of
different ones can't be compared.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from ncc.arrays import Floats32, Ints
from ncc.errors import InputError
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.optimized import optimize_if_needed
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, Lookup, load_embedding
from ncc.learning.encoder.linear import (
    LinearEncoder,
    load_linear_encoder,
    load_shipped_encoder,
    save_linear_encoder,
)
from ncc.learning.encoder.network_numpy import LSTMEncoder, load_lstm_encoder, save_lstm_encoder
from ncc.learning.programs.table import own_functions, statement_literals

AnyEncoder = LinearEncoder | LSTMEncoder | str | os.PathLike[str]
"""An encoder, or the folder that it is in."""


def load_encoder(folder: AnyEncoder | None = None) -> LinearEncoder | LSTMEncoder:
    """Read an encoder of functions and modules.

    Args:
        folder: Written by `save_encoder` or ``ncc train encoder``; default the one that ships with ncc. An encoder is
            returned as it is.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    if isinstance(folder, LinearEncoder | LSTMEncoder):
        return folder
    if folder is None:
        return load_shipped_encoder()
    return load_lstm_encoder(folder) if (Path(folder) / "lstm.json").exists() else load_linear_encoder(folder)


def save_encoder(encoder: LinearEncoder | LSTMEncoder, folder: str | os.PathLike[str]) -> None:
    """Write an encoder made by `ncc.train_encoder`.

    Args:
        encoder: To be written.
        folder: Gets ``encoder.safetensors`` and ``encoder.json``, or ``lstm.safetensors`` and ``lstm.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    if isinstance(encoder, LSTMEncoder):
        save_lstm_encoder(encoder, folder)
    else:
        save_linear_encoder(encoder, folder)


@dataclass(frozen=True, eq=False)
class Pooler(ABC):
    """Makes vectors of functions and modules.

    Attributes:
        embedding: Vectors of statements.
        name: What ``--pooling`` calls it.
    """

    embedding: Embedding
    name: ClassVar[str]

    @property
    def abstraction(self) -> Abstraction:
        """How modules have to be read."""
        return self.embedding.abstraction

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors that it makes."""
        return self.embedding.dim

    @property
    def id(self) -> str:
        """Its name and a short hash of what it learnt from; vectors of another id are not vectors of its space."""
        return f"{self.name}-{self.embedding.fingerprint}"

    @abstractmethod
    def vectors(
        self, module: Module, functions: Sequence[int] | None = None, *, lookup: Lookup | None = None
    ) -> Floats32:
        """Vectors of some functions, or of the whole module.

        Returns:
            (num_functions, dim) float32; (1, dim) for the module.
        """


@dataclass(frozen=True, eq=False)
class MeanPooler(Pooler):
    """The mean over statements."""

    name: ClassVar[str] = "mean"

    def vectors(
        self, module: Module, functions: Sequence[int] | None = None, *, lookup: Lookup | None = None
    ) -> Floats32:
        """As `Pooler.vectors` says."""
        word = (lookup or self.embedding.look_up(module.texts).over(module.text_id)).word
        table = self.embedding.vectors
        if functions is None:
            share = np.bincount(word, minlength=len(table)) / len(word)
            used = np.flatnonzero(share)
            return (share[used] @ table[used].astype(np.float64)).astype(np.float32)[None, :]
        if not len(functions):
            return np.zeros((0, self.dim), np.float32)
        parts = [word[module.function_start[number] : module.function_start[number + 1]] for number in functions]
        counts = np.array([len(part) for part in parts])
        starts = np.cumsum([0, *counts])[:-1]
        sums = np.add.reduceat(table[np.concatenate(parts)].astype(np.float64), starts, axis=0)
        return (sums / counts[:, None]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class EncoderPooler(Pooler):
    """The encoder's vector, made of patterns of the code; length 1.

    Functions that were compiled without optimization are optimised first, and those of an older LLVM written as today's
    does, where it can read them; of a whole module those of the C++ library are left out.

    Attributes:
        encoder: Default the one that ships with ncc.
    """

    encoder: LinearEncoder = field(default_factory=load_shipped_encoder)
    name: ClassVar[str] = "encoder"

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors that it makes."""
        return self.encoder.dim

    @property
    def id(self) -> str:
        """Its name and a hash of what the encoder learnt."""
        return f"{self.name}-{self.encoder.fingerprint}"

    def vectors(
        self,
        module: Module,
        functions: Sequence[int] | None = None,
        *,
        lookup: Lookup | None = None,  # noqa: ARG002 - patterns are not words
    ) -> Floats32:
        """As `Pooler.vectors` says; rows of length 1."""
        optimised = optimize_if_needed(module, self.abstraction)
        if functions is None:
            whole = optimised or module
            return self.encoder.vectors(whole, own_functions(whole), "module")
        wanted, place = np.unique(np.asarray(functions, np.int64), return_inverse=True)
        found = self._functions(module, wanted)
        if optimised:
            numbers = {name: number for number, name in enumerate(optimised.function_names)}
            now = np.array([numbers.get(module.function_names[number], -1) for number in wanted.tolist()], np.int64)
            found[now >= 0] = self._functions(optimised, now[now >= 0])
        return found[place]

    def _functions(self, module: Module, functions: Ints) -> Floats32:
        bag = np.full(module.num_functions, -1)
        bag[functions] = np.arange(len(functions))
        return self.encoder.vectors(module, bag, "function")


@dataclass(frozen=True, eq=False)
class LSTMPooler(Pooler):
    """The vector of an LSTM of one's own, which reads statements in order, and their literals; length 1.

    Attributes:
        encoder: Trained on the same embedding.
    """

    encoder: LSTMEncoder
    name: ClassVar[str] = "encoder"

    def __post_init__(self) -> None:
        """Check that the encoder knows the embedding's words."""
        known = self.encoder.about.get("embedding")
        if known != self.embedding.fingerprint:
            raise InputError(
                f"the encoder was trained on embedding {known}, but {self.embedding.fingerprint} is loaded; name the "
                "one that it was trained on"
            )

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors that it makes."""
        return self.encoder.dim

    @property
    def id(self) -> str:
        """What it is and a hash of what the encoder learnt."""
        return f"lstm-{self.encoder.fingerprint}"

    def vectors(
        self, module: Module, functions: Sequence[int] | None = None, *, lookup: Lookup | None = None
    ) -> Floats32:
        """As `Pooler.vectors` says; rows of length 1."""
        word = (lookup or self.embedding.look_up(module.texts).over(module.text_id)).word
        if functions is None:
            parts = [np.flatnonzero(own_functions(module)[module.statement_function] >= 0)]
        else:
            parts = [np.arange(*module.function_start[number : number + 2]) for number in functions]
        found = np.zeros((len(parts), self.dim), np.float32)
        for row, statements in enumerate(parts):
            read = statements[: self.encoder.max_length].astype(np.int32)
            start, literals = statement_literals(module, read)
            found[row] = self.encoder.encode(word[read], literals, start)
        return found


POOLERS: dict[str, type[Pooler]] = {kind.name: kind for kind in (MeanPooler, EncoderPooler)}
"""By their names."""


def load_pooler(
    pooling: str | Pooler | None = None,
    embedding: AnyEmbedding | None = None,
    encoder: AnyEncoder | None = None,
) -> Pooler:
    """A way of pooling by its name."""
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
        words, found = load_embedding(embedding), load_encoder(encoder)
        return LSTMPooler(words, found) if isinstance(found, LSTMEncoder) else EncoderPooler(words, found)
    return _shipped(pooling) if embedding is None else POOLERS[pooling](load_embedding(embedding))


@cache
def _shipped(pooling: str) -> Pooler:
    return POOLERS[pooling](load_embedding())
