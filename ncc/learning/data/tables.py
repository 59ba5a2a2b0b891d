"""Reads CSV and Parquet tables as text, with errors that say where a file is wrong."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ncc.arrays import Floats
from ncc.errors import DataError

_SHOWN = 20
"""Columns that a message names."""
LONGEST_NAME = 200
"""Letters of a name: an array of names gives each as much room as the longest takes."""


def read_rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read a table that has some columns."""
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise _missing(path, missing, reader.fieldnames or ())
            rows = list(reader)
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: can't be read as a table ({error})") from error
    if not rows:
        raise DataError(f"{path}: no rows; expected at least one")
    for number, row in enumerate(rows):
        if None in row.values():
            # numbered as samples, because cells with line breaks make the file's line numbers useless
            raise DataError(f"{path}: row {number} (of {len(rows)}, from 0): too few cells")
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
    missing = [name for name in required if name not in table.column_names]
    if missing:
        raise _missing(path, missing, table.column_names)
    if not table.num_rows:
        raise DataError(f"{path}: no rows; expected at least one")
    rows = table.select([name for name in columns if name in table.column_names]).to_pylist()
    return [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]


def read_numbers(path: Path, rows: Sequence[Mapping[str, str]], column: str, most: float) -> Floats:
    """Read a column of numbers, (n,) float64; NaN where it is empty or missing."""
    values = np.full(len(rows), np.nan)
    for number, row in enumerate(rows):
        text = row.get(column, "").strip()
        try:
            values[number] = float(text) if text else np.nan
        except ValueError:
            values[number] = np.inf
        if text and not 0 <= values[number] <= most:
            raise DataError(
                f"{path}: row {number} (of {len(rows)}, from 0): {column} is {text!r}; expected a number from 0"
            )
    return values


def check_measured(path: Path, rows: Sequence[Mapping[str, str]], times: Floats, most: float) -> None:
    """Refuse rows of measured kernels without names, without a time, or of files that are not there.

    Arrays:
        times: (n,) float64 of time_ms.
    """
    there: dict[str, bool] = {}
    for number, row in enumerate(rows):
        where = f"{path}: row {number} (of {len(rows)}, from 0)"
        for name in ("kernel_file", "kernel", "device"):
            if not 0 < len(row[name]) <= LONGEST_NAME * (4 if name == "kernel_file" else 1):
                raise DataError(
                    f"{where}: {name} is {row[name]!r:.60}; expected a name of at most {LONGEST_NAME} letters"
                )
        if not 0 < times[number] <= most:
            raise DataError(f"{where}: time_ms is {row['time_ms']!r}; expected a time above 0")
        name = row["kernel_file"]
        if not there.setdefault(name, (path.parent / name).is_file()):
            raise DataError(
                f"{where}: {path.parent / name}: there is no such file, and it should hold {row['kernel']!r}"
            )


def check_names(path: Path, rows: Sequence[dict[str, str]], column: str) -> None:
    """Refuse names of more than `LONGEST_NAME` letters."""
    for number, row in enumerate(rows):
        if len(row[column]) > LONGEST_NAME:
            where = f"row {number} (of {len(rows)}, from 0)"
            raise DataError(f"{path}: {where}: column {column} must not be longer than {LONGEST_NAME} letters")


def _missing(path: Path, missing: Sequence[str], found: Sequence[str]) -> DataError:
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return DataError(f"{path}: missing column {', '.join(missing)}; found {', '.join(found[:_SHOWN]) or 'none'}{more}")
