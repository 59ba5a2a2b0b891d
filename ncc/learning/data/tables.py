"""Reads CSV and Parquet tables as text, with errors that say where a file is wrong."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ncc.arrays import Floats
from ncc.errors import DataError

_MAX_SHOWN = 20
"""Columns that a message names."""
_MAX_NAME_LETTERS = 200
"""Letters of a name: an array of names gives each as much room as the longest takes."""


def read_rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read a table that has some columns."""
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            _check_columns(path, columns, reader.fieldnames or ())
            rows = list(reader)
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: can't be read as a table ({error})") from error
    if not rows:
        raise DataError(f"{path}: no rows; expected at least one")
    for index, row in enumerate(rows):
        if None in row.values():
            raise DataError(f"{_where(path, index, rows)}: too few cells")
    return rows


def read_columns(path: Path, required: Sequence[str], columns: Sequence[str]) -> list[dict[str, str]]:
    """Read columns of a table, CSV or Parquet by its extension."""
    if path.suffix != ".parquet":
        return read_rows(path, required)
    import pyarrow
    import pyarrow.parquet

    try:
        path.stat()  # whose errors are told in words
        table = pyarrow.parquet.read_table(path)
    except FileNotFoundError as error:
        raise DataError(f"{path}: can't be read: {error.strerror}") from error
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"{path}: can't be read as a table ({error})") from error
    _check_columns(path, required, table.column_names)
    if not table.num_rows:
        raise DataError(f"{path}: no rows; expected at least one")
    rows = table.select([name for name in columns if name in table.column_names]).to_pylist()
    return [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]


def read_numbers(path: Path, rows: Sequence[Mapping[str, str]], column: str, max_value: float) -> Floats:
    """Read a column of numbers, (n,) float64; NaN where it is empty or missing."""
    values = np.full(len(rows), np.nan)
    for index, row in enumerate(rows):
        text = row.get(column, "").strip()
        try:
            values[index] = float(text) if text else np.nan
        except ValueError:
            values[index] = np.inf
        if text and not 0 <= values[index] <= max_value:
            raise DataError(f"{_where(path, index, rows)}: {column} is {text!r}; expected a number from 0")
    return values


def check_measured(path: Path, rows: Sequence[Mapping[str, str]], times: Floats, max_ms: float) -> None:
    """Refuse rows of kernels without names, without one of the (n,) times, or of files that are not there."""
    there: dict[str, bool] = {}
    for index, row in enumerate(rows):
        where = _where(path, index, rows)
        for name in ("kernel_file", "kernel", "device"):
            if not 0 < len(row[name]) <= _MAX_NAME_LETTERS * (4 if name == "kernel_file" else 1):
                limit = f"expected a name of at most {_MAX_NAME_LETTERS} letters"
                raise DataError(f"{where}: {name} is {row[name]!r:.60}; {limit}")
        if not 0 < times[index] <= max_ms:
            raise DataError(f"{where}: time_ms is {row['time_ms']!r}; expected a time above 0")
        file = path.parent / row["kernel_file"]
        if not there.setdefault(row["kernel_file"], file.is_file()):
            raise DataError(f"{where}: {file}: no such file; expected it to contain {row['kernel']!r}")


def check_names(path: Path, rows: Sequence[Mapping[str, str]], column: str) -> None:
    """Refuse names that are too long for an array of names."""
    for index, row in enumerate(rows):
        if len(row[column]) > _MAX_NAME_LETTERS:
            where = _where(path, index, rows)
            raise DataError(f"{where}: column {column} must not be longer than {_MAX_NAME_LETTERS} letters")


def _where(path: Path, index: int, rows: Sequence[object]) -> str:
    # numbered as samples, because cells with line breaks make the file's line numbers useless
    return f"{path}: row {index} (of {len(rows)}, from 0)"


def _check_columns(path: Path, required: Sequence[str], found: Sequence[str]) -> None:
    if missing := [name for name in required if name not in found]:
        more = f" and {len(found) - _MAX_SHOWN} more" if len(found) > _MAX_SHOWN else ""
        shown = ", ".join(found[:_MAX_SHOWN]) or "none"
        raise DataError(f"{path}: missing column {', '.join(missing)}; found {shown}{more}")
