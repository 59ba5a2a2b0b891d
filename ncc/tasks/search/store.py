"""An index on disk: numbers, text and vectors of functions as plain memory-mapped arrays, and files as JSON.

``index.json`` names the files of one generation and is replaced last, so that an index is always complete. An index
is not trusted: every offset is checked before it is used.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np
from msgspec import DecodeError, ValidationError, convert
from msgspec.json import decode
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints
from ncc.errors import AssetError, InputFileError
from ncc.system.files.models import read_json, read_whole
from ncc.system.files.writing import open_atomically, write_atomically

FORMAT_VERSION = 2
_ENDS = 1 << 20
"""Bytes at both ends of a file that its hash in the card covers."""
_NAMES = _FUNCTIONS_FILE, _TEXT_FILE, _VECTORS_FILE, _FILES_FILE = (
    "functions-{}.rows", "text-{}.utf8", "vectors-{}.f16", "files-{}.json",
)  # fmt: skip
_MAX_DIM = 1 << 12
"""Of vectors that `ncc explore` projects: half a minute and 600 MB; twice as many take four minutes."""
_MAX_PRODUCTS = 1 << 26
"""Products in memory at a time: 256 MiB."""
_TILE = 1 << 10
"""Vectors that are converted at a time, so that they stay in the processor's cache."""
_BLOCK = 1 << 11
"""Vectors of a block; the products of two blocks take 16 MiB."""
_SCALE, _SIGN_AND_MAGNITUDE = np.float32(2.0**112), np.int32(-0x70000001)
"""The bits of a float16, moved by 13, are those of a float32 2^-112 times as large: a fifth of the time of a cast."""
_ROW = np.dtype({
    "names": ["file", "first_line", "last_line", "num_statements", "name_end", "source_end"],
    "formats": ["<i4"] * 4 + ["<i8"] * 2,
})  # fmt: skip
"""A function: its file, lines and size, and the ends of its name and of its source in the text."""


@dataclass(frozen=True, kw_only=True)
class IndexCard:
    """Content of ``index.json``."""

    pooler_id: str  # origin of the vectors
    pooling: str  # its name
    embedding: str | None  # folder, absolute or below that of the index; None for the one that ships
    encoder: str | None = None  # likewise
    dim: int
    num_functions: int = 0  # rows of vectors
    generation: int = 0  # in the names of the files
    files: dict[str, tuple[int, str]] = field(default_factory=dict)  # name → size and hash of both ends


class Function(NamedTuple):
    """A stored function; see `ncc.tasks.search.index.IndexedFunction`."""

    name: str
    source: str
    first_line: int
    last_line: int
    num_statements: int


class FileRow(NamedTuple):
    """A stored file."""

    path: str
    folder: str | None  # in which it was found; None if the user named the file itself
    fingerprint: str  # hash of the file and of how it was read
    num_functions: int
    error: str | None  # why it could not be read
    hashes: dict[str, str]  # `content_hash` of each source that its functions name, and of the file itself as ""


def content_hash(content: bytes) -> str:
    """Identify a source by its content."""
    return hashlib.sha256(content).hexdigest()[:32]


def _hash_of_ends(path: Path) -> str:
    with path.open("rb") as file:
        ends = file.read(_ENDS)
        file.seek(max(0, path.stat().st_size - _ENDS))
        return content_hash(ends + file.read(_ENDS))


class Writer:
    """Writes the files of a generation in order, each with its functions; see `writing`."""

    def __init__(self, rows: IO[bytes], text: IO[bytes], vectors: IO[bytes]) -> None:
        self._rows, self._text, self._vectors = rows, text, vectors
        self._end = 0
        self.files: list[FileRow] = []
        self.num_functions = 0

    def add(self, file: FileRow, functions: Iterable[Function], vectors: NDArray[np.float16]) -> None:
        """Add a file and the (num_functions, dim) float16 vectors of its functions."""
        rows = []
        for name, source, *numbers in functions:
            ends = []
            for text in (name, source):
                encoded = text.encode("utf-8", "backslashreplace")
                self._text.write(encoded)
                self._end += len(encoded)
                ends.append(self._end)
            rows.append((len(self.files), *numbers, *ends))
        self._rows.write(np.array(rows, _ROW).tobytes())
        self._vectors.write(vectors.astype("<f2").tobytes())
        self.files.append(file._replace(num_functions=len(rows)))
        self.num_functions += len(rows)


@contextmanager
def writing(folder: Path, card: IndexCard) -> Iterator[Writer]:
    """Write a generation, which replaces the index once it is complete."""
    *arrays, table = [folder / name.format(card.generation) for name in _NAMES]
    with ExitStack() as stack:
        writer = Writer(*(stack.enter_context(open_atomically(path)) for path in arrays))
        yield writer
    write_atomically(table, json.dumps(writer.files).encode())
    sizes = {path.name: (path.stat().st_size, _hash_of_ends(path)) for path in (*arrays, table)}
    about = {**vars(card), "format_version": FORMAT_VERSION, "num_functions": writer.num_functions, "files": sizes}
    write_atomically(folder / "index.json", (json.dumps(about, indent=1) + "\n").encode())
    for path in folder.glob("*-*"):
        if path.is_file() and path.name not in sizes:
            with suppress(PermissionError):  # still mapped, on Windows; the next generation tries again
                path.unlink(missing_ok=True)


@dataclass(frozen=True, eq=False)
class Store:
    """An open index."""

    folder: Path
    card: IndexCard

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open an index, whose files must match its card."""
        if not (folder / "index.json").exists():
            hint = (
                "expected ncc search INDEX QUERY" if folder.is_file() else f"make one: ncc index FOLDER... -o {folder}"
            )
            raise InputFileError(f"{folder}: no index here; {hint}")
        about = read_json(folder / "index.json", FORMAT_VERSION)
        try:
            card = convert({name: value for name, value in about.items() if name != "format_version"}, IndexCard)
        except (ValueError, ValidationError) as error:
            raise AssetError(f"{folder / 'index.json'}: is damaged ({error})") from error
        names = {name.format(card.generation) for name in _NAMES}
        if not 0 < card.dim <= _MAX_DIM or card.num_functions < 1 or card.files.keys() != names:
            raise AssetError(f"{folder / 'index.json'}: is damaged")
        for name, (size, ends) in card.files.items():
            path = folder / name
            try:
                found = path.stat().st_size if path.is_file() else -1
                whole = found == size and _hash_of_ends(path) == ends
            except OSError as error:
                raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error
            if not whole:
                raise AssetError(f"{path}: is damaged, {found:,} bytes of {size:,}; remove {folder} and index again")
        return cls(folder, card)

    def _path(self, name: str) -> Path:
        return self.folder / name.format(self.card.generation)

    def _map(self, name: str, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        """Memory-mapped array of a file, which must have exactly its size."""
        path, size = self._path(name), np.dtype(dtype).itemsize * int(np.prod(shape, dtype=object))
        try:
            if path.stat().st_size != size:
                raise self._damaged(name, f"{path.stat().st_size:,} bytes, expected {size:,}")
            return np.memmap(path, dtype, mode="r", shape=shape) if size else np.zeros(shape, dtype)
        except OSError as error:
            raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error

    def _damaged(self, name: str, why: object) -> AssetError:
        return AssetError(f"{self._path(name)}: is damaged ({why}); index again")

    @cached_property
    def functions(self) -> NDArray[Any]:
        """(num_functions,) records, grouped by file."""
        rows = self._map(_FUNCTIONS_FILE, _ROW, (self.card.num_functions,))
        ends = np.stack([rows["name_end"], rows["source_end"]], axis=1).ravel()
        counts = np.repeat(np.arange(len(self.files)), [file.num_functions for file in self.files])
        if np.any(np.diff(ends, prepend=0) < 0) or (ends[-1] if len(ends) else 0) != len(self._text):
            raise self._damaged(_FUNCTIONS_FILE, "names end elsewhere")
        if not np.array_equal(rows["file"], counts):
            raise self._damaged(_FUNCTIONS_FILE, "functions are of other files")
        return rows

    @cached_property
    def _text(self) -> NDArray[np.uint8]:
        return self._map(_TEXT_FILE, np.uint8, (self._path(_TEXT_FILE).stat().st_size,))

    @cached_property
    def files(self) -> list[FileRow]:
        """One record per file."""
        try:
            files = decode(read_whole(self._path(_FILES_FILE)), type=list[FileRow])
        except (AssetError, ValueError, DecodeError) as error:
            raise self._damaged(_FILES_FILE, error) from error
        counts = [file.num_functions for file in files]
        if min(counts, default=0) < 0 or sum(counts) != self.card.num_functions:
            raise self._damaged(_FILES_FILE, "functions are missing")
        return files

    @cached_property
    def vectors(self) -> NDArray[np.float16]:
        """(num_functions, dim) float16, memory-mapped."""
        vectors = self._map(_VECTORS_FILE, "<f2", (self.card.num_functions, self.card.dim))
        if any(not np.isfinite(vectors[start : start + 4096]).all() for start in range(0, len(vectors), 4096)):
            raise self._damaged(_VECTORS_FILE, "numbers are not finite")
        return vectors

    def function(self, row: int) -> Function:
        """The function of a row."""
        start = int(self.functions["source_end"][row - 1]) if row else 0
        numbers = self.functions[row]
        middle, end = int(numbers["name_end"]), int(numbers["source_end"])
        name, source = (
            self._text[first:last].tobytes().decode("utf-8", "replace")
            for first, last in ((start, middle), (middle, end))
        )
        return Function(name, source, *(int(numbers[column]) for column in Function._fields[2:]))

    def file_of(self, row: int) -> FileRow:
        """The file of a function."""
        return self.files[int(self.functions["file"][row])]

    def largest_similarities(self) -> Floats32:
        """Largest inner product of each vector with another one: (num_functions,), -1 without another one."""
        count = len(self.vectors)
        largest = np.full(count, -1, np.float32)
        for start in range(0, count, _BLOCK):
            block = self.vectors[start : start + _BLOCK].astype(np.float32)
            for other in range(start, count, _BLOCK):
                products = block @ self.vectors[other : other + _BLOCK].astype(np.float32).T
                if other == start:
                    np.fill_diagonal(products, -1)
                for first, axis in ((start, 1), (other, 0)):
                    rows = largest[first : first + _BLOCK]
                    np.maximum(rows, products.max(axis=axis), out=rows)
        return largest

    def nearest(self, queries: Floats32, count: int) -> tuple[Floats32, Ints]:
        """Largest inner products with (n, dim) float32 queries, descending, and their rows, the first of equal ones."""
        count = min(count, len(self.vectors))
        bits = self.vectors.view(np.int16)
        found = np.zeros((len(queries), count), np.float32), np.zeros((len(queries), count), np.int64)
        at_once = max(1, _MAX_PRODUCTS // max(1, len(self.vectors)))
        for first in range(0, len(queries) if count else 0, at_once):
            some = queries[first : first + at_once] * _SCALE
            products = np.empty((len(some), len(self.vectors)), np.float32)
            for start in range(0, len(self.vectors), _TILE):
                tile = bits[start : start + _TILE].astype(np.int32)
                tile <<= 13
                tile &= _SIGN_AND_MAGNITUDE
                np.matmul(some, tile.view(np.float32).T, out=products[:, start : start + len(tile)])
            for query, values in enumerate(products, first):
                largest = np.flatnonzero(values >= np.partition(values, -count)[-count])
                rows = largest[np.argsort(-values[largest], kind="stable")[:count]]
                found[0][query], found[1][query] = values[rows], rows
        return found
