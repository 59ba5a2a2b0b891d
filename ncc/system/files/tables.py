"""Tables of vectors as files: NumPy, JSON, CSV, and Parquet, which can grow row by row."""

import csv
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import InputError, naming_extras
from ncc.system.files.writing import check_writable, open_atomically, write_output

if TYPE_CHECKING:
    import pandas
    import pyarrow

_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")
_GROUP_ROWS = 1 << 13
_INTEGER_COLUMNS = ("index", "line")

Columns = Mapping[str, Sequence[str | int]]


def _npz(columns: Columns, vectors: Floats32, about: Mapping[str, str]) -> bytes:
    out = io.BytesIO()
    arrays = {name: np.array(values, np.int32 if name in _INTEGER_COLUMNS else str) for name, values in columns.items()}
    arrays |= {name: np.array(value) for name, value in about.items()}
    np.savez_compressed(out, **arrays, vectors=vectors)  # type: ignore[arg-type]
    return out.getvalue()


def _json(columns: Columns, vectors: Floats32, about: Mapping[str, str]) -> bytes:
    rows = zip(*columns.values(), vectors.tolist(), strict=True)
    table = [dict(zip(columns, row, strict=False)) | {**about, "vector": row[-1]} for row in rows]
    return (json.dumps(table) + "\n").encode()


def _csv(columns: Columns, vectors: Floats32, about: Mapping[str, str]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([*columns, *about, *(f"v{i}" for i in range(vectors.shape[1]))])
    for *values, vector in zip(*columns.values(), vectors.tolist(), strict=True):
        writer.writerow([*map(_without_formula, values), *about.values(), *(f"{number:.7g}" for number in vector)])
    return out.getvalue().encode()


def _without_formula(value: str | int) -> str | int:
    """Put an apostrophe before text that a spreadsheet would run as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_PREFIXES) else value


def vector_table(columns: Columns, vectors: Floats32) -> "pyarrow.Table":
    """Return an Arrow table of the columns and a column ``vector``."""
    import pyarrow

    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.reshape(-1)), vectors.shape[1])
    return pyarrow.table({**plain_columns(columns), "vector": lists})


def vectors_of(table: "pyarrow.Table") -> Floats32:
    """Return the (n, dim) float32 vectors of a `vector_table`."""
    numbers = table["vector"].combine_chunks().flatten().to_numpy()
    return numbers.reshape(len(table), table.schema.field("vector").type.list_size)


def plain_columns(columns: Columns) -> dict[str, Sequence[str | int]]:
    """Escape bytes that are not UTF-8, as names of files may hold, since formats refuse them."""
    return {
        name: [value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value for value in row]
        for name, row in columns.items()
    }


def _parquet(columns: Columns, vectors: Floats32, about: Mapping[str, str]) -> bytes:
    import pyarrow.parquet

    out = io.BytesIO()
    pyarrow.parquet.write_table(vector_table(columns, vectors).replace_schema_metadata(dict(about)), out)
    return out.getvalue()


FORMATS: dict[str, Callable[[Columns, Floats32, Mapping[str, str]], bytes]] = {
    ".npz": _npz,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
}
"""Writers by file extension."""


def check_format(path: Path) -> None:
    """Raise `InputError` unless the file's extension is one of `FORMATS`."""
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: extension {path.suffix!r} is not one of {' '.join(FORMATS)}")


class VectorFile:
    """A file of vectors, one row each; its extension selects the format.

    It appears when its block ends well, and not at all without rows. Parquet is written as it grows.
    """

    def __init__(self, path: Path, *, pooling: str | None = None) -> None:
        check_format(path)
        check_writable(path)
        if path.suffix == ".parquet":
            with naming_extras():
                import pyarrow.parquet  # noqa: F401 - said before anything is computed
        self._path, self._about = path, {"pooling": pooling} if pooling else {}
        is_special = path.exists() and not path.is_file()  # a pipe or a device stays one
        self._grows = path.suffix == ".parquet" and not is_special
        self._parts: list[tuple[Columns, Floats32]] = []
        self._stack = ExitStack()
        self._writer: Any = None

    def add(self, columns: Columns, vectors: Floats32) -> None:
        """Add (n, dim) vectors with n values for each column, the same columns each time."""
        self._parts.append((columns, vectors))
        if self._grows and sum(len(part) for _, part in self._parts) >= _GROUP_ROWS:
            self._write_group()

    def _gathered(self) -> tuple[Columns, Floats32]:
        parts, self._parts = self._parts, []
        columns = {name: [value for part, _ in parts for value in part[name]] for name in parts[0][0]}
        return plain_columns(columns), np.concatenate([vectors for _, vectors in parts])

    def _write_group(self) -> None:
        import pyarrow.parquet

        table = vector_table(*self._gathered()).replace_schema_metadata(self._about)
        if self._writer is None:
            file = self._stack.enter_context(open_atomically(os.path.realpath(self._path)))
            self._writer = self._stack.enter_context(pyarrow.parquet.ParquetWriter(file, table.schema))
        self._writer.write_table(table)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is not None:
            self._stack.__exit__(kind, *error)
            return
        with self._stack:
            if self._parts and self._grows:
                self._write_group()
            elif self._parts:
                write_output(self._path, FORMATS[self._path.suffix](*self._gathered(), self._about))


@naming_extras()
def data_frame(rows: Any, index: Any = None) -> "pandas.DataFrame":
    """Return a pandas table."""
    import pandas

    return pandas.DataFrame(rows, index)
