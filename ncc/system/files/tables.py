"""Tables of vectors as files: NumPy, CSV and Parquet."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import naming_extras
from ncc.system.files.writing import check_writable, write_output

if TYPE_CHECKING:
    import pandas

_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")
_INTEGER_COLUMNS = ("index", "line")

Columns = Mapping[str, Sequence[str | int]]


def _npz(columns: Columns, vectors: Floats32, about: Mapping[str, str]) -> bytes:
    out = io.BytesIO()
    arrays = {name: np.array(values, np.int32 if name in _INTEGER_COLUMNS else str) for name, values in columns.items()}
    arrays |= {name: np.array(value) for name, value in about.items()}
    np.savez_compressed(out, **arrays, vectors=vectors)  # type: ignore[arg-type]
    return out.getvalue()


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


def _parquet(columns: Columns, vectors: Floats32, about: Mapping[str, str]) -> bytes:
    import pyarrow.parquet

    out = io.BytesIO()
    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.reshape(-1)), vectors.shape[1])
    table = pyarrow.table({**columns, "vector": lists}).replace_schema_metadata(dict(about))
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


_FORMATS: dict[str, Callable[[Columns, Floats32, Mapping[str, str]], bytes]] = {
    ".npz": _npz,
    ".csv": _csv,
    ".parquet": _parquet,
}


class VectorFile(AbstractContextManager["VectorFile"]):
    """A file of vectors, one row each, in the format of its extension; written if its block succeeds and has rows."""

    def __init__(self, path: Path, *, pooling: str | None = None) -> None:
        check_writable(path, extensions=_FORMATS)
        if path.suffix == ".parquet":
            with naming_extras():
                import pyarrow.parquet  # noqa: F401 - said before anything is computed
        self._path, self._about = path, {"pooling": pooling} if pooling else {}
        self._parts: list[tuple[Columns, Floats32]] = []

    def add(self, columns: Columns, vectors: Floats32) -> None:
        """Add (n, dim) vectors with n values for each column, the same columns each time."""
        self._parts.append((columns, vectors))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._parts:
            columns = {
                name: [_as_utf8(value) for part, _ in self._parts for value in part[name]] for name in self._parts[0][0]
            }
            vectors = np.concatenate([vectors for _, vectors in self._parts])
            write_output(self._path, _FORMATS[self._path.suffix](columns, vectors, self._about))


def _as_utf8(value: str | int) -> str | int:
    """Escape bytes that are not UTF-8, as names of files may hold, since formats refuse them."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@naming_extras()
def data_frame(rows: Any, index: Any = None) -> "pandas.DataFrame":
    """Return a pandas table."""
    import pandas

    return pandas.DataFrame(rows, index)
