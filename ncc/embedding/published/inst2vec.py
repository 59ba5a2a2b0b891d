"""inst2vec as spcl/ncc publishes it, or as its code trained it, read as an embedding of ours.

The published inst2vec comes as pickles, which may hold any code: they are read by an unpickler that knows nothing but
numbers, texts, containers and NumPy arrays.
"""

import csv
import io
import json
import operator
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.embedding.published.modernise import modernise_statement
from ncc.embedding.table import Embedding, normalised
from ncc.embedding.vocabulary import UNKNOWN, Vocabulary
from ncc.errors import AssetError
from ncc.ir import Abstraction

__all__ = ["load_inst2vec"]

_UNKNOWN_TOKENS = frozenset({"!UNK", UNKNOWN})


def load_inst2vec(
    dictionary_path: str | os.PathLike[str],
    matrix_path: str | os.PathLike[str],
    *,
    modernise: bool = True,
) -> Embedding:
    """Reads the embedding that spcl/ncc publishes, or one that its code has trained.

    Counts are not published: every word has 1.

    Args:
        dictionary_path: statement → row, as a pickle (``dic_pickle``), ``.json`` object, or ``.csv`` with two columns.
        matrix_path: (num_words, dim) numbers, as a pickle (``emb.p``), ``.npy``, ``.csv`` or ``.txt``.
        modernise: write typed pointers as ``ptr`` and element indices without their type, as LLVM does now and
            ncc's statements are; of words that this makes the same the one with the lowest row is kept.

    Returns:
        The embedding, words in the order of their rows and the unknown token last.

    Raises:
        AssetError: a file is missing or damaged, holds something else, or the two don't fit together.

    Reference: Ben-Nun et al. 2018, section 4.
    """
    dictionary_path, matrix_path = Path(dictionary_path), Path(matrix_path)
    dictionary = _read_dictionary(dictionary_path)
    matrix = _read_matrix(matrix_path)
    highest = max(dictionary.values())
    if highest >= len(matrix):
        raise AssetError(
            f"{dictionary_path}: has row {highest}, but {matrix_path} has only {len(matrix)} rows; "
            "expected the two files of one embedding"
        )
    row_of: dict[str, int] = {}
    for text, row in sorted(dictionary.items(), key=lambda item: item[1]):
        row_of.setdefault(modernise_statement(text) if modernise else text, row)
    unknown = [row_of.pop(token) for token in _UNKNOWN_TOKENS if token in row_of]
    vectors = matrix[list(row_of.values())]
    last = matrix[unknown[:1]] if unknown else normalised(vectors).mean(axis=0, keepdims=True)
    counts = np.ones(len(row_of) + 1, np.int64)
    counts[-1] = bool(unknown)
    about = {
        "source": f"inst2vec ({dictionary_path.name}, {matrix_path.name})",
        "num_words": len(counts),
        "num_published_words": len(dictionary),
        "modernised": modernise,
    }
    vocabulary = Vocabulary((*row_of, UNKNOWN), counts)
    return Embedding(vocabulary, normalised(np.concatenate([vectors, last])), Abstraction.paper(), about)


def _read_dictionary(path: Path) -> dict[str, int]:
    found = _read(path, {".json": _from_json, ".csv": _dictionary_from_csv})
    if isinstance(found, list) and found and all(isinstance(text, str) for text in found):
        found = {text: row for row, text in enumerate(found)}
    if not isinstance(found, dict) or not found:
        raise AssetError(f"{path}: holds a {_described(found)}; expected a dictionary from statements to rows")
    dictionary = {}
    for text, row in found.items():
        try:
            number = operator.index(row)
        except TypeError:
            number = -1
        if not isinstance(text, str) or number < 0:
            raise AssetError(f"{path}: has the entry {text!r}: {row!r}; expected a statement and its row, 0 or above")
        dictionary[text] = number
    return dictionary


def _read_matrix(path: Path) -> NDArray[np.float32]:
    found = _read(path, {".npy": _from_npy, ".csv": _matrix_from_text, ".txt": _matrix_from_text})
    try:
        with np.errstate(over="ignore"):  # too large is not finite, which is said below
            matrix = np.asarray(found).astype(np.float32)
    except (TypeError, ValueError) as error:
        raise AssetError(f"{path}: holds a {_described(found)}; expected a matrix of numbers") from error
    if matrix.ndim != 2 or not matrix.size:
        raise AssetError(f"{path}: holds an array of shape {matrix.shape}; expected a matrix, a row a statement")
    if not np.isfinite(matrix).all():
        raise AssetError(f"{path}: has numbers that are not finite; the file is damaged")
    return matrix


def _described(found: object) -> str:
    empty = " without entries" if isinstance(found, dict | list) and not found else ""
    return f"{type(found).__name__}{empty}"


def _read(path: Path, readers: dict[str, Callable[[bytes], Any]]) -> Any:
    """What a file holds, by its extension; any other is a pickle.

    Raises:
        AssetError: it can't be read or is damaged.
    """
    reader = readers.get(path.suffix, _from_pickle)
    try:
        return reader(path.read_bytes())
    except OSError as error:
        raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error
    except _RefusedError as error:
        raise AssetError(
            f"{path}: is a pickle that calls {error}, which could run any code; "
            "expected numbers, texts, containers and NumPy arrays only"
        ) from error
    except Exception as error:  # a damaged pickle raises anything
        kind = path.suffix if path.suffix in readers else "pickle"
        known = ", ".join(readers)
        raise AssetError(f"{path}: can't be read as {kind} ({error}); expected a pickle or one of {known}") from error


def _from_json(data: bytes) -> Any:
    return json.loads(data)


def _dictionary_from_csv(data: bytes) -> dict[str, int]:
    rows = [row for row in csv.reader(io.StringIO(data.decode(), newline="")) if row]
    wrong = next((row for row in rows if len(row) != 2), None)
    if wrong is not None:
        raise ValueError(f"a row of {len(wrong)} columns where a statement, quoted, and its row number were expected")
    if rows and not rows[0][1].strip().isdigit():
        del rows[0]  # names of the columns
    return {text: int(row) for text, row in rows}


def _from_npy(data: bytes) -> Any:
    return np.load(io.BytesIO(data), allow_pickle=False)


def _matrix_from_text(data: bytes) -> Any:
    lines = data.decode().split("\n")
    return [[float(number) for number in line.replace(",", " ").split()] for line in lines if line.strip()]


def _from_pickle(data: bytes) -> Any:
    return _Unpickler(io.BytesIO(data), encoding="latin1").load()  # latin1: arrays that Python 2 pickled


class _RefusedError(Exception):
    """A pickle names something that it has no need of."""


class _Unpickler(pickle.Unpickler):
    """Reads plain data and NumPy arrays; whatever else a pickle names is refused before it can run."""

    def find_class(self, module: str, name: str) -> Any:
        """The few functions that arrays are rebuilt with.

        Raises:
            _RefusedError: any other name.
        """
        if module in {"numpy.core.multiarray", "numpy._core.multiarray"} and name in {"_reconstruct", "scalar"}:
            # from where NumPy itself takes them, which differs between its versions
            return (np.zeros(1) if name == "_reconstruct" else np.float64(0)).__reduce__()[0]
        if module in {"numpy.core.numeric", "numpy._core.numeric"} and name == "_frombuffer":
            return _FromBuffer()
        if module == "numpy" and name in {"ndarray", "dtype"}:
            return getattr(np, name)
        if (module, name) == ("_codecs", "encode"):
            return _Latin1()
        raise _RefusedError(f"{module}.{name}")


class _FromBuffer:
    """How pickles of protocol 5 hold arrays; without a dictionary, so that a pickle can't change it."""

    __slots__ = ()

    def __call__(self, *arguments: Any) -> Any:
        function: Any = np.zeros(1).__reduce_ex__(5)[0]
        return function(*arguments)


class _Latin1:
    """How pickle protocols without bytes spell them; without a dictionary, so that a pickle can't change it."""

    __slots__ = ()

    def __call__(self, text: str, encoding: str) -> bytes:
        if encoding != "latin1":
            raise ValueError(f"bytes in encoding {encoding!r}")
        return text.encode(encoding)
