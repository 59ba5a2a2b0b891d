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
from ncc.errors import InputError
from ncc.system.files.writing import open_atomically, write_output

if TYPE_CHECKING:
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


def write_vectors(
    path: Path,
    inputs: Sequence[str],
    labels: Sequence[str],
    vectors: Floats32,
    locations: Columns | None = None,
    *,
    pooling: str | None = None,
) -> None:
    """Write a table with one row per vector, (n, dim); the path's extension selects the format."""
    check_format(path)
    columns = plain_columns({"input": inputs, "label": labels, **(locations or {})})
    write_output(path, FORMATS[path.suffix](columns, vectors, {"pooling": pooling} if pooling else {}))


class VectorFile:
    """A Parquet file that gets its rows as they come; it appears when it is finished, and not at all without rows."""

    def __init__(self, path: Path, *, pooling: str | None = None) -> None:
        self._path, self._about = Path(os.path.realpath(path)), {"pooling": pooling} if pooling else {}
        self._stack = ExitStack()
        self._writer: Any = None
        self._pending: list[pyarrow.Table] = []

    def add(self, columns: Columns, vectors: Floats32) -> None:
        """Add rows, with the same columns each time."""
        self._pending.append(vector_table(columns, vectors).replace_schema_metadata(self._about))
        if sum(map(len, self._pending)) >= _GROUP_ROWS:
            self._write()

    def finish(self) -> None:
        """Publish the file under its name."""
        self._write()
        self._stack.close()

    def _write(self) -> None:
        import pyarrow
        import pyarrow.parquet

        if self._pending:
            table = pyarrow.concat_tables(self._pending).combine_chunks()
            if self._writer is None:
                file = self._stack.enter_context(open_atomically(self._path))
                self._writer = self._stack.enter_context(pyarrow.parquet.ParquetWriter(file, table.schema))
            self._writer.write_table(table)
            self._pending = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*(error if error[0] else (GeneratorExit, GeneratorExit(), None)))
