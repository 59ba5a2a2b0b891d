"""Tables of vectors as files: NumPy, JSON, CSV and Parquet, written in one step."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ncc.errors import InputError
from ncc.runtime.storage import write_output

__all__ = ["FORMATS", "check_format", "write_vectors"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What formulas begin with."""
_NUMBERS = ("index", "line")
"""Columns of numbers; others are of texts."""

Columns = Mapping[str, Sequence[str | int]]


def _npz(columns: Columns, vectors: NDArray[np.float32]) -> bytes:
    out = io.BytesIO()
    arrays = {name: np.array(values, np.int32 if name in _NUMBERS else str) for name, values in columns.items()}
    np.savez_compressed(out, **arrays, vectors=vectors)  # type: ignore[arg-type]
    return out.getvalue()


def _json(columns: Columns, vectors: NDArray[np.float32]) -> bytes:
    rows = zip(*columns.values(), vectors.tolist(), strict=True)
    table = [dict(zip((*columns, "vector"), row, strict=True)) for row in rows]
    return (json.dumps(table) + "\n").encode()


def _csv(columns: Columns, vectors: NDArray[np.float32]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([*columns, *(f"v{i}" for i in range(vectors.shape[1]))])
    for *values, vector in zip(*columns.values(), vectors.tolist(), strict=True):
        writer.writerow([*map(_harmless, values), *(f"{number:.7g}" for number in vector)])
    return out.getvalue().encode()


def _harmless(value: str | int) -> str | int:
    """Text that a spreadsheet does not take for a formula: an apostrophe comes before what looks like one."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _parquet(columns: Columns, vectors: NDArray[np.float32]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.reshape(-1)), vectors.shape[1])
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({**columns, "vector": lists}), out)
    return out.getvalue()


FORMATS: dict[str, Callable[[Columns, NDArray[np.float32]], bytes]] = {
    ".npz": _npz,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
}
"""Writers by file extension."""


def check_format(path: Path) -> None:
    """Raises `InputError` unless the file's extension is one of `FORMATS`."""
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: extension {path.suffix!r} is none of {' '.join(FORMATS)}")


def write_vectors(
    path: Path,
    inputs: Sequence[str],
    labels: Sequence[str],
    vectors: NDArray[np.float32],
    places: Columns | None = None,
) -> None:
    """Writes a table: a row a vector, with the input that it came from and what it stands for.

    Args:
        path: The file; its extension chooses the format.
        inputs: (n,) names of the inputs.
        labels: (n,) what each vector stands for.
        vectors: (n, dim) float32.
        places: Further columns by name, (n,) each; see `ncc.EmbeddedModule.places`.

    Raises:
        InputError: The extension is unknown.
        OutputError: The file can't be written.
    """
    check_format(path)
    # a file's name may hold bytes that are no UTF-8, which no format can take
    columns = {
        name: [value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value for value in row]
        for name, row in {"input": inputs, "label": labels, **(places or {})}.items()
    }
    write_output(path, FORMATS[path.suffix](columns, vectors))
