"""A trained LSTM as an encoder of functions and programs: statements and literals → LSTM layers → pooling → a vector.

`ncc train encoder --model lstm` writes one. The encoder that ships is
`ncc.learning.encoder.linear`, better on unseen classes; an LSTM of its own ships as the classifier.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import ValidationError, convert
from numpy.typing import NDArray

from ncc.arrays import Floats32
from ncc.errors import AssetError, InputError
from ncc.learning.encoder.config import EncoderConfig
from ncc.learning.encoder.network_numpy import NumpyEncoder
from ncc.system.files.models import read_model, write_model

_FORMAT_VERSION = 1
_OWN = ("vectors", "projection")


@dataclass(frozen=True, eq=False)
class LSTMEncoder:
    """An encoder trained by contrast, answering in NumPy.

    Attributes:
        vectors: (num_words, statement_dim) float32 vectors of an embedding's statements, as they were trained.
        encoder: LSTM layers and pooling.
        projection: (dim, encoder.vector_size) float32, the last layer.
        longest: Statements that it reads, the first ones.
        about: How it was made.
    """

    vectors: Floats32
    encoder: NumpyEncoder
    projection: Floats32
    longest: int
    about: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Checks that its parts fit each other."""
        if self.vectors.shape[1:] != (self.encoder.dim,) or self.projection.shape[1:] != (self.encoder.vector_size,):
            raise InputError(f"an LSTM with vectors {self.vectors.shape} and a last layer {self.projection.shape}")
        if self.longest < 1:
            raise InputError(f"an LSTM that reads {self.longest} statements")

    def __repr__(self) -> str:
        return f"LSTMEncoder({len(self.vectors)} statements, {self.encoder.config.hidden} units → {self.dim})"

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of what it learnt."""
        digest = hashlib.sha256(repr((self.encoder.config, self.longest)).encode())
        halves = self.vectors.astype(np.float16)  # as they are kept
        for array in (halves, self.projection, *(tensor for _, tensor in sorted(self.encoder.tensors.items()))):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:12]

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors that it makes."""
        return len(self.projection)

    def encode(
        self, words: NDArray[np.integer], literals: NDArray[np.uint32], literal_start: NDArray[np.integer]
    ) -> Floats32:
        """The vector of a function or a program, (dim,) float32 of length 1.

        Args:
            words: (m,) row of `vectors` of each statement, m at least 1.
            literals: uint32 hashes, see `ncc.learning.programs.table.ProgramTable`.
            literal_start: (m + 1,) offsets of the statements' literals.
        """
        start = np.asarray(literal_start[: self.longest + 1], np.int32)
        vector = self.projection @ self.encoder.encode(self.vectors[words[: self.longest]], literals, start)
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12), np.float32)


def save_lstm_encoder(encoder: LSTMEncoder, folder: str | os.PathLike[str]) -> None:
    """Writes ``lstm.safetensors`` and ``lstm.json``; vectors of statements as halves.

    Raises:
        OutputError: The folder can't be written.
    """
    card = {"config": asdict(encoder.encoder.config), "longest": encoder.longest, "about": dict(encoder.about)}
    own: dict[str, NDArray[Any]] = {"vectors": encoder.vectors.astype(np.float16), "projection": encoder.projection}
    write_model(Path(folder), "lstm", {"format_version": _FORMAT_VERSION, **card}, {**encoder.encoder.tensors, **own})


def load_lstm_encoder(folder: str | os.PathLike[str]) -> LSTMEncoder:
    """Reads what `save_lstm_encoder` wrote.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    card, arrays = read_model(Path(folder), "lstm", _FORMAT_VERSION, _OWN, kinds="f", others=r"(?s).*")
    tensors = {name: array.astype(np.float32) for name, array in arrays.items()}
    try:
        own = [tensors.pop(name) for name in _OWN]
        if not all(np.isfinite(array).all() for array in (*own, *tensors.values())):
            raise ValueError("a number is not finite")
        encoder = NumpyEncoder(tensors, convert(card["config"], EncoderConfig))
        return LSTMEncoder(own[0], encoder, own[1], convert(card["longest"], int), dict(card["about"]))
    except (LookupError, TypeError, ValueError, ValidationError, InputError) as error:
        raise AssetError(f"{folder}: not an LSTM encoder ({error}); it is damaged") from error
