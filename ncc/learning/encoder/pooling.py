"""Pooling of a module's statements to a vector per function or for the whole module, by ``--pooling``.

Vectors of different poolers can't be compared, so each has an `id`.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Floats32, Ints32
from ncc.errors import InputError
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.optimized import optimize_if_needed
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, Lookup, load_embedding
from ncc.learning.encoder.linear import FORMAT, LinearEncoder
from ncc.learning.encoder.network_numpy import LSTM_FORMAT, LSTMEncoder
from ncc.learning.encoder.patterns import bags_of
from ncc.learning.programs.table import own_functions, statement_literals
from ncc.system.files.hub import resolve

AnyEncoder = LinearEncoder | LSTMEncoder | str | os.PathLike[str]
"""An encoder, or its folder."""

Functions = Sequence[int] | None

POOLINGS = ("mean", "encoder")
"""The choices of ``--pooling``."""


def load_encoder(folder: AnyEncoder | None = None) -> LinearEncoder | LSTMEncoder:
    """Read an encoder of functions and modules.

    Args:
        folder: Folder written by ``save`` or ``ncc train encoder``, or name, such as "org/name@revision", of a
            repository on the Hugging Face hub; default: the shipped one. An encoder is returned unchanged.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    if isinstance(folder, LSTMEncoder):
        return folder
    if not isinstance(folder, LinearEncoder):
        folder = resolve(folder, "encoder", FORMAT.stem, LSTM_FORMAT.stem)
        if (folder / f"{LSTM_FORMAT.stem}.json").exists():
            return LSTM_FORMAT.load(folder)
    return FORMAT.load(folder)


@dataclass(frozen=True, eq=False)
class Pooler:
    """Makes vectors of functions and modules: means over statements, or an encoder's vectors."""

    embedding: Embedding
    encoder: LinearEncoder | LSTMEncoder | None = None

    def __post_init__(self) -> None:
        if isinstance(self.encoder, LSTMEncoder) and self.encoder.embedding_id != self.embedding.fingerprint:
            raise InputError(
                f"the encoder was trained on embedding {self.encoder.embedding_id:.40}, "
                f"but {self.embedding.fingerprint} is loaded; pass the one that it was trained on"
            )

    @property
    def name(self) -> str:
        """The value of ``--pooling``."""
        return "encoder" if self.encoder else "mean"

    @property
    def abstraction(self) -> Abstraction:
        """How modules must be read."""
        return self.embedding.abstraction

    @property
    def dim(self) -> int:
        """Number of dimensions of its vectors."""
        return (self.encoder or self.embedding).dim

    @property
    def id(self) -> str:
        """Its kind and a short hash of its model; vectors with different ids can't be compared."""
        kind = "lstm" if isinstance(self.encoder, LSTMEncoder) else self.name
        return f"{kind}-{(self.encoder or self.embedding).fingerprint}"

    def vectors(self, module: Module, functions: Functions = None, *, lookup: Lookup | None = None) -> Floats32:
        """Vectors of some functions, (num_functions, dim) float32, or of the whole module, (1, dim)."""
        if isinstance(self.encoder, LinearEncoder):
            return self._encoded(self.encoder, module, functions)
        word = (lookup or self.embedding.look_up(module.texts).expand(module.text_id)).word
        if isinstance(self.encoder, LSTMEncoder):
            return _read_in_order(self.encoder, word, module, functions)
        table = self.embedding.vectors
        if functions is None:
            weight = np.bincount(word, minlength=len(table)) / len(word)
            used = np.flatnonzero(weight)
            return (weight[used] @ table[used].astype(np.float64)).astype(np.float32)[None, :]
        parts = [word[slice(*module.function_start[index : index + 2])] for index in functions]
        means = [table[part].mean(axis=0, dtype=np.float64) for part in parts]
        return np.array(means, np.float32).reshape(-1, self.dim)

    def _encoded(self, encoder: LinearEncoder, module: Module, functions: Sequence[int] | None) -> Floats32:
        """Vectors of patterns, of a whole module without the C++ library's functions.

        Functions that were compiled without optimization are optimized first, and IR of an older LLVM is upgraded if
        the current LLVM can read it.
        """
        optimized = optimize_if_needed(module, self.abstraction)
        if functions is None:
            whole = optimized or module
            return encoder.vectors(whole, own_functions(whole), "module")
        distinct, position = np.unique(np.asarray(functions, np.int64), return_inverse=True)
        vectors = encoder.vectors(module, bags_of(module, distinct), "function")
        if optimized:
            indices = {name: index for index, name in enumerate(optimized.function_names)}
            now = np.array([indices.get(module.function_names[index], -1) for index in distinct.tolist()], np.int64)
            vectors[now >= 0] = encoder.vectors(optimized, bags_of(optimized, now[now >= 0]), "function")
        return vectors[position]


def _read_in_order(encoder: LSTMEncoder, word: Ints32, module: Module, functions: Functions) -> Floats32:
    """Vectors of statements in order, and of their literals."""
    if functions is None:
        parts = [np.flatnonzero(own_functions(module)[module.statement_function] >= 0)]
    else:
        parts = [np.arange(*module.function_start[index : index + 2]) for index in functions]
    vectors = np.zeros((len(parts), encoder.dim), np.float32)
    for row, part in enumerate(parts):
        statements = part[: encoder.max_length].astype(np.int32)
        start, literals = statement_literals(module, statements)
        vectors[row] = encoder.encode(word[statements], literals, start)
    return vectors


def load_pooler(
    pooling: str | Pooler | None = None,
    embedding: AnyEmbedding | None = None,
    encoder: AnyEncoder | None = None,
) -> Pooler:
    """Make a pooler by name."""
    if isinstance(pooling, Pooler):
        if embedding is not None and load_embedding(embedding).fingerprint != pooling.embedding.fingerprint:
            raise InputError("the pooler has another embedding than the one passed")
        if encoder is not None and load_encoder(encoder).fingerprint not in pooling.id:
            raise InputError("the pooler has another encoder than the one passed")
        return pooling
    pooling = pooling or ("encoder" if embedding is None or encoder is not None else "mean")
    if pooling not in POOLINGS:
        raise InputError(f"pooling is {pooling!r}; expected one of {', '.join(POOLINGS)}")
    if encoder is not None and pooling != "encoder":
        raise InputError(f"pooling is {pooling!r}, but an encoder was passed; expected 'encoder'")
    return Pooler(load_embedding(embedding), load_encoder(encoder) if pooling == "encoder" else None)
