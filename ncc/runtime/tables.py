"""Tables of vectors as files: NumPy, JSON, CSV and Parquet, written in one step."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ncc.errors import InputError
from ncc.runtime.storage import write_output

__all__ = ["FORMATS", "check_format", "write_vectors"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What formulas begin with."""

Rows = tuple[Sequence[str], Sequence[str], NDArray[np.float32]]


def _npz(rows: Rows) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, input=np.array(rows[0], str), label=np.array(rows[1], str), vectors=rows[2])
    return out.getvalue()


def _json(rows: Rows) -> bytes:
    table = [
        {"input": name, "label": label, "vector": vector}
        for name, label, vector in zip(rows[0], rows[1], rows[2].tolist(), strict=True)
    ]
    return (json.dumps(table) + "\n").encode()


def _csv(rows: Rows) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["input", "label", *(f"v{i}" for i in range(rows[2].shape[1]))])
    for name, label, vector in zip(rows[0], rows[1], rows[2].tolist(), strict=True):
        writer.writerow([_harmless(name), _harmless(label), *(f"{number:.7g}" for number in vector)])
    return out.getvalue().encode()


def _harmless(text: str) -> str:
    """Text that a spreadsheet does not take for a formula: an apostrophe comes before what looks like one."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _parquet(rows: Rows) -> bytes:
    import pyarrow
    import pyarrow.parquet

    vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(rows[2].reshape(-1)), rows[2].shape[1])
    out = io.BytesIO()
    columns = {"input": list(rows[0]), "label": list(rows[1]), "vector": vectors}
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


FORMATS: dict[str, Callable[[Rows], bytes]] = {".npz": _npz, ".json": _json, ".csv": _csv, ".parquet": _parquet}
"""Writers by file extension."""


def check_format(path: Path) -> None:
    """Raises `InputError` unless the file's extension is one of `FORMATS`."""
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: extension {path.suffix!r} is none of {' '.join(FORMATS)}")


def write_vectors(path: Path, inputs: Sequence[str], labels: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Writes a table: a row a vector, with the input that it came from and what it stands for.

    Args:
        path: The file; its extension chooses the format.
        inputs: (n,) names of the inputs.
        labels: (n,) what each vector stands for.
        vectors: (n, dim) float32.

    Raises:
        InputError: The extension is unknown.
        OutputError: The file can't be written.
    """
    check_format(path)
    # a file's name may hold bytes that are no UTF-8, which no format can take
    inputs, labels = ([name.encode("utf-8", "backslashreplace").decode() for name in row] for row in (inputs, labels))
    write_output(path, FORMATS[path.suffix]((inputs, labels, vectors)))
