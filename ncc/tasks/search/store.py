"""An index on disk: functions and files as Arrow, vectors as rows of float16; all memory-mapped.

``index.json`` names the files of one generation and is replaced last, so that an index is always whole.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np
from msgspec import ValidationError, convert
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints
from ncc.errors import AssetError, InputFileError
from ncc.system.files.models import read_json
from ncc.system.files.writing import open_atomically, write_atomically

if TYPE_CHECKING:
    import pyarrow

FORMAT_VERSION = 1
_ENDS = 1 << 20
"""Bytes at either end of a file of which the card has a hash."""
_FUNCTIONS_FILE, _FILES_FILE, _VECTORS_FILE = "functions-{}.arrow", "files-{}.arrow", "vectors-{}.f16"
_ROWS = 1 << 14
"""Of functions that are written together."""
_MAX_PRODUCTS = 1 << 22
"""Products that are in memory at a time: 16 MiB."""
_FUNCTIONS = ("file", "name", "source", "first_line", "last_line", "num_statements")


@dataclass(frozen=True, kw_only=True)
class IndexCard:
    """Content of ``index.json``."""

    pooler_id: str  # what made the vectors
    pooling: str  # its name
    embedding: str | None  # folder, absolute or below that of the index; None for the one that ships
    encoder: str | None = None  # likewise
    dim: int
    num_functions: int = 0  # rows of vectors
    generation: int = 0  # in the names of the files
    files: dict[str, tuple[int, str]] = field(default_factory=dict)  # name → size and hash of the ends


def _schema() -> "tuple[pyarrow.Schema, pyarrow.Schema]":
    import pyarrow

    text, number = pyarrow.string(), pyarrow.int32()
    types = (number, text, text, number, number, number)
    functions = pyarrow.schema(list(zip(_FUNCTIONS, types, strict=True)))
    names = (("path", text), ("folder", text), ("fingerprint", text), ("num_functions", number), ("error", text))
    return functions, pyarrow.schema(list(names))


def _hash_of_ends(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256(file.read(_ENDS))
        file.seek(max(0, path.stat().st_size - _ENDS))
        digest.update(file.read(_ENDS))
    return digest.hexdigest()[:32]


class Writer:
    """Writes a generation: files one after the other, each with its functions; see `writing`."""

    def __init__(self, rows: "pyarrow.RecordBatchWriter", vectors: IO[bytes]) -> None:
        self._rows, self._vectors = rows, vectors
        self._pending: list[pyarrow.Table] = []
        self._num_pending = 0
        self.files: list[tuple[Any, ...]] = []
        self.num_functions = 0

    def add(
        self,
        file: tuple[str, str | None, str, str | None],
        functions: "pyarrow.Table | None",
        vectors: NDArray[np.float16],
    ) -> None:
        """Adds a file and the (num_functions, dim) float16 vectors of its functions."""
        import pyarrow

        *known, error = file
        number = pyarrow.array(np.full(len(vectors), len(self.files), np.int32))
        self.files.append((*known, len(vectors), error))
        if functions is None or not len(vectors):
            return
        columns = [number, *(functions[name] for name in _FUNCTIONS[1:])]
        self._pending.append(pyarrow.table(columns, names=_FUNCTIONS).cast(_schema()[0]))
        self._vectors.write(np.ascontiguousarray(vectors).tobytes())
        self.num_functions += len(vectors)
        self._num_pending += len(vectors)
        if self._num_pending >= _ROWS:
            self.flush()

    def flush(self) -> None:
        """Writes the rows that are still in memory."""
        import pyarrow

        if self._pending:
            self._rows.write_table(pyarrow.concat_tables(self._pending).combine_chunks())
        self._pending, self._num_pending = [], 0


@contextmanager
def writing(folder: Path, card: IndexCard) -> Iterator[Writer]:
    """Writes a generation, which is the index once all is done, and removes what was the index before."""
    import pyarrow

    paths = [folder / name.format(card.generation) for name in (_FUNCTIONS_FILE, _FILES_FILE, _VECTORS_FILE)]
    with ExitStack() as stack:
        functions, files, vectors = (stack.enter_context(open_atomically(path)) for path in paths)
        with pyarrow.ipc.new_file(functions, _schema()[0]) as rows:
            writer = Writer(rows, vectors)
            yield writer
            writer.flush()
        columns = [list(column) for column in zip(*writer.files, strict=True)]
        with pyarrow.ipc.new_file(files, _schema()[1]) as table:
            table.write_table(pyarrow.table(columns, schema=_schema()[1]))
    sizes = {path.name: (path.stat().st_size, _hash_of_ends(path)) for path in paths}
    about = {**vars(card), "format_version": FORMAT_VERSION, "num_functions": writer.num_functions, "files": sizes}
    write_atomically(folder / "index.json", (json.dumps(about, indent=1) + "\n").encode())
    for path in folder.glob("*-*"):
        if path.is_file() and path.name not in sizes:
            path.unlink(missing_ok=True)


@dataclass(frozen=True, eq=False)
class Store:
    """An open index."""

    folder: Path
    card: IndexCard

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Opens an index."""
        if not (folder / "index.json").exists():
            raise InputFileError(f"{folder}: no index here; make one: ncc index FOLDER... -o {folder}")
        about = read_json(folder / "index.json", FORMAT_VERSION)
        try:
            card = convert({name: value for name, value in about.items() if name != "format_version"}, IndexCard)
        except ValidationError as error:
            raise AssetError(f"{folder / 'index.json'}: is damaged ({error})") from error
        if card.dim < 1 or card.num_functions < 0 or len(card.files) != 3 or any("/" in name for name in card.files):
            raise AssetError(f"{folder / 'index.json'}: is damaged")
        for name, (size, ends) in card.files.items():
            path = folder / name
            try:
                found = path.stat().st_size
                whole = found == size and _hash_of_ends(path) == ends
            except OSError as error:
                raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error
            if not whole:
                raise AssetError(f"{path}: is damaged, {found:,} bytes of {size:,}; remove {folder} and index again")
        return cls(folder, card)

    def _path(self, name: str) -> Path:
        return self.folder / name.format(self.card.generation)

    def _table(self, name: str, schema: "pyarrow.Schema") -> "pyarrow.Table":
        import pyarrow

        try:
            table = pyarrow.ipc.open_file(pyarrow.memory_map(str(self._path(name)))).read_all()
        except (OSError, pyarrow.ArrowException) as error:
            raise AssetError(f"{self._path(name)}: is damaged ({error}); index again") from error
        if table.schema != schema:
            raise AssetError(f"{self._path(name)}: is damaged: unexpected columns; index again")
        return table

    @cached_property
    def functions(self) -> "pyarrow.Table":
        """A row for each function: file (a row of `files`), name, source, first and last line, num_statements."""
        table = self._table(_FUNCTIONS_FILE, _schema()[0])
        if len(table) != self.card.num_functions:
            raise AssetError(f"{self.folder}: is damaged: {len(table)} functions of {self.card.num_functions}")
        return table

    @cached_property
    def files(self) -> "pyarrow.Table":
        """A row for each file: path, folder, fingerprint, num_functions, error."""
        return self._table(_FILES_FILE, _schema()[1])

    @cached_property
    def vectors(self) -> NDArray[np.float16]:
        """(num_functions, dim) float16, memory-mapped."""
        shape, path = (self.card.num_functions, self.card.dim), self._path(_VECTORS_FILE)
        try:
            if path.stat().st_size != 2 * shape[0] * shape[1]:
                raise AssetError(f"{path}: is damaged: expected {shape[0]} vectors of {shape[1]} numbers; index again")
            return np.memmap(path, np.float16, mode="r", shape=shape) if shape[0] else np.zeros(shape, np.float16)
        except OSError as error:
            raise AssetError(f"{path}: can't be read: {error.strerror or error}") from error

    def nearest(self, queries: Floats32, count: int, *, max_products: int = _MAX_PRODUCTS) -> tuple[Floats32, Ints]:
        """The largest inner products with (n, dim) float32 queries, falling, and their rows, the first of equals."""
        products, rows = np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64)
        step = max(1, max_products // len(queries))
        for start in range(0, len(self.vectors), step):
            tile = self.vectors[start : start + step].astype(np.float32)
            products = np.concatenate([products, queries @ tile.T], axis=1)
            numbers = np.broadcast_to(np.arange(start, start + len(tile)), (len(queries), len(tile)))
            rows = np.concatenate([rows, numbers], axis=1)
            best = np.argsort(-products, axis=1, kind="stable")[:, :count]
            products, rows = np.take_along_axis(products, best, axis=1), np.take_along_axis(rows, best, axis=1)
        return products, rows
