"""Reads inst2vec, as published by spcl/ncc or as trained by its code, as an embedding of ours.

The published inst2vec comes as pickles, which may hold any code: `ncc_lab.vectors.pickles` reads them without
running it.
"""

import csv
import io
import json
import math
import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import AssetError
from ncc.ir.reader.abstraction import Abstraction
from ncc.learning.embedding.embedding import Embedding, normalised
from ncc.learning.embedding.vocabulary import UNKNOWN, Vocabulary
from ncc_lab.vectors.modernise import modernise_statement
from ncc_lab.vectors.pickles import RefusedPickleError, read_pickle

_LARGEST = 1e15
_NPY_HEADERS: dict[tuple[int, int], Callable[[IO[bytes]], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
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
        dictionary_path: Statement → row, as a pickle (``dic_pickle``), ``.json`` object, or ``.csv`` with two columns.
        matrix_path: (num_words, dim) numbers, as a pickle (``emb.p``), ``.npy``, ``.csv`` or ``.txt``.
        modernise: Write typed pointers as ``ptr`` and element indices without their type, as LLVM does now and
            ncc's statements are; of words that this makes the same the one with the lowest row is kept.

    Returns:
        The embedding, words in the order of their rows and the unknown token last.

    Raises:
        AssetError: A file is missing or damaged, holds something else, or the two don't fit together.

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
    found = _read(path, {".json": json.loads, ".csv": _dictionary_from_csv})
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


def _read_matrix(path: Path) -> Floats32:
    found = _read(path, {".npy": _from_npy, ".csv": _matrix_from_text, ".txt": _matrix_from_text})
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # too large, or NaN: said below
            matrix = np.asarray(found).astype(np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise AssetError(f"{path}: holds a {_described(found)}; expected a matrix of numbers") from error
    if matrix.ndim != 2 or not matrix.size:
        raise AssetError(f"{path}: holds an array of shape {matrix.shape}; expected a matrix, a row a statement")
    if not (np.abs(matrix) < _LARGEST).all():
        raise AssetError(f"{path}: has numbers that are not finite, or whose squares are not; the file is damaged")
    return matrix


def _described(found: object) -> str:
    empty = " without entries" if isinstance(found, dict | list) and not found else ""
    return f"{type(found).__name__}{empty}"


def _read(path: Path, readers: dict[str, Callable[[bytes], Any]]) -> Any:
    """What a file holds, by its extension; any other is a pickle."""
    reader = readers.get(path.suffix, read_pickle)
    try:
        return reader(path.read_bytes())
    except OSError as error:
        raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error
    except RefusedPickleError as error:
        raise AssetError(
            f"{path}: is a pickle that calls {error}, which could run any code; "
            "expected numbers, texts, containers and NumPy arrays only"
        ) from error
    except Exception as error:  # a damaged pickle raises anything
        kind = path.suffix if path.suffix in readers else "pickle"
        known = ", ".join(readers)
        raise AssetError(f"{path}: can't be read as {kind} ({error}); expected a pickle or one of {known}") from error


def _dictionary_from_csv(data: bytes) -> dict[str, int]:
    rows = [row for row in csv.reader(io.StringIO(data.decode(), newline="")) if row]
    wrong = next((row for row in rows if len(row) != 2), None)
    if wrong is not None:
        raise ValueError(f"a row of {len(wrong)} columns where a statement, quoted, and its row number were expected")
    if rows and not rows[0][1].strip().isdigit():
        del rows[0]  # names of the columns
    return {text: int(row) for text, row in rows}


def _from_npy(data: bytes) -> Any:
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version not in _NPY_HEADERS:
        raise ValueError(f"version {version} of the format")
    shape, _, dtype = _NPY_HEADERS[version](file)
    # NumPy takes the memory first and looks for the numbers later
    if math.prod(shape) * dtype.itemsize > len(data):
        raise ValueError(f"an array of shape {shape!s:.80} in a file of {len(data)} bytes")
    return np.load(io.BytesIO(data), allow_pickle=False)


def _matrix_from_text(data: bytes) -> Any:
    lines = data.decode().split("\n")
    return [[float(number) for number in line.replace(",", " ").split()] for line in lines if line.strip()]
