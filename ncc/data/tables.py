"""Tables of CSV files, read as texts, with errors that say where a file is not what it should be."""

import csv
from collections.abc import Sequence
from pathlib import Path

from ncc.errors import DataError

__all__ = ["LONGEST_NAME", "check_names", "read_rows"]

LONGEST_NAME = 200
"""Letters of a name: an array of names gives each as much room as the longest takes."""


def read_rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read a table that has some columns.

    Args:
        path: The CSV file.
        columns: Columns that it must have; others are read as well.

    Returns:
        Column → cell, row by row; at least one row.

    Raises:
        DataError: It can't be read, lacks a column, has no rows, or one with too few cells.
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                found = ", ".join(reader.fieldnames or ()) or "none"
                raise DataError(f"{path}: missing column {', '.join(missing)}; found {found}")
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: can't be read as a table ({error})") from error
    if not rows:
        raise DataError(f"{path}: no rows; expected at least one")
    for number, row in enumerate(rows):
        if None in row.values():
            # numbered as samples, because cells with line breaks make the file's line numbers useless
            raise DataError(f"{path}: row {number} (of {len(rows)}, from 0): too few cells")
    return rows


def check_names(path: Path, rows: Sequence[dict[str, str]], column: str) -> None:
    """Refuse names of more than `LONGEST_NAME` letters.

    Raises:
        DataError: There is one.
    """
    for number, row in enumerate(rows):
        if len(row[column]) > LONGEST_NAME:
            where = f"row {number} (of {len(rows)}, from 0)"
            raise DataError(f"{path}: {where}: column {column} must not be longer than {LONGEST_NAME} letters")
