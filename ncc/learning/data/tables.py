"""Reads CSV and Parquet tables as text, within bounds, with errors that name file, column and row."""

import csv
import io
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ncc.arrays import Floats
from ncc.errors import DataError, NccError
from ncc.system.files.reading import open_input
from ncc.system.sandbox.limits import input_limit, memory_limit
from ncc.system.workers.pool import Pool

_MAX_BYTES = 2**26
"""Maximum size of a file, and of the cells that are used; a hundred thousand launches take a quarter of it."""
_MAX_ROWS = 2**17
_MAX_COLUMNS = 2**8
_BATCH_ROWS = 2**7
"""Rows of Parquet that are decoded at a time before their text is counted."""
_PLAIN_TYPE = r"(?:dictionary<values=)?(?:large_)?string\b.*|u?int\d+|halffloat|float|double|bool|null"
_READ_SECONDS = 60.0
_MAX_SHOWN = 20
"""Maximum number of columns in a message."""
_MAX_NAME_LETTERS = 200
"""Maximum length of a name, since an array of names reserves the longest length for each."""


def read_lines(path: Path) -> list[str]:
    """Read the lines of a file of a size that a table may have; bytes that are not UTF-8 are refused."""
    try:
        return list(io.StringIO(_read(path).decode("utf-8-sig"), newline=""))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: can't be read as a table ({error})") from error


def _read(path: Path) -> bytes:
    try:
        with open_input(path) as file:
            content = file.read(_MAX_BYTES + 1)
    except NccError as error:
        raise DataError(str(error)) from error
    if len(content) > _MAX_BYTES:
        raise DataError(f"{path}: has more than {_MAX_BYTES:,} bytes, too many for a table")
    return content


def read_rows(path: Path, required: Sequence[str], optional: Sequence[str] = ()) -> list[dict[str, str]]:
    """Read columns of a table, CSV or Parquet by its extension, as text; optional ones if it has them."""
    if path.suffix == ".parquet":
        import pyarrow  # noqa: F401 - or its absence would be a fault of the file

        try:  # declared sizes may be wrong, so the reader has the memory limit of any untrusted file
            with Pool(memory_bytes=memory_limit(), seconds=_READ_SECONDS) as worker:
                return worker.call(str(path), _parquet_rows, path, required, optional)
        except NccError as error:
            raise DataError(str(error)) from error
    return csv_rows(path, read_lines(path), required, optional)


def csv_rows(
    path: Path, lines: Iterable[str], required: Sequence[str], optional: Sequence[str] = ()
) -> list[dict[str, str]]:
    """Read columns from the lines of a CSV; rows with missing cells are refused."""
    try:
        reader = csv.reader(lines)
        header = next(reader, [])
        return _rows(path, header, filter(None, reader), _check_columns(path, header, required, optional))
    except csv.Error as error:
        raise DataError(f"{path}: can't be read as a table ({error})") from error


def _parquet_rows(path: Path, required: Sequence[str], optional: Sequence[str]) -> list[dict[str, str]]:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(_read(path))) as file:
            names = _check_columns(path, file.schema_arrow.names, required, optional)
            for name in names:
                kind = str(file.schema_arrow.field(name).type)
                if not re.fullmatch(_PLAIN_TYPE, kind):
                    raise DataError(f"{path}: column {name} has {kind:.60}; expected text or numbers")
            batches = file.iter_batches(_BATCH_ROWS, columns=names, use_threads=False)
            rows = (row for batch in batches for row in zip(*(batch[name].to_pylist() for name in names), strict=True))
            return _rows(path, names, (["" if cell is None else str(cell) for cell in row] for row in rows), names)
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"{path}: can't be read as a table ({error!s:.200})") from error


def _rows(
    path: Path, header: Sequence[str], lines: Iterable[Sequence[str]], names: Sequence[str]
) -> list[dict[str, str]]:
    """Return the cells of some columns within the bounds."""
    positions = {name: header.index(name) for name in names}
    rows: list[dict[str, str]] = []
    num_letters = 0
    for line in lines:
        if len(line) < len(header):
            raise DataError(f"{path}: row {len(rows)} (from 0): too few cells")
        rows.append({name: line[position] for name, position in positions.items()})
        num_letters += sum(map(len, rows[-1].values()))
        if len(rows) > _MAX_ROWS or num_letters > _MAX_BYTES:
            raise DataError(f"{path}: more than {_MAX_ROWS:,} rows or {_MAX_BYTES:,} letters; split the table")
    if not rows:
        raise DataError(f"{path}: no rows; expected at least one")
    return rows


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
            raise DataError(
                f"{_where(path, index, rows)}: {column} is {text!r:.60}; expected a number from 0 to {max_value:g}"
            )
    return values


def check_measured(path: Path, rows: Sequence[Mapping[str, str]], times: Floats, min_ms: float, max_ms: float) -> None:
    """Refuse rows without a kernel name, without one of the (n,) times, or with a missing file."""
    there: dict[str, bool] = {}
    for index, row in enumerate(rows):
        where = _where(path, index, rows)
        for name in ("kernel_file", "kernel", "device", "family"):
            name_letters = len(row.get(name, ""))
            is_missing = not name_letters and name != "family"
            if is_missing or name_letters > _MAX_NAME_LETTERS * (4 if name == "kernel_file" else 1):
                limit = f"expected a name of at most {_MAX_NAME_LETTERS} letters"
                raise DataError(f"{where}: {name} is {row[name]!r:.60}; {limit}")
        if not min_ms <= times[index] <= max_ms:
            expected = f"expected a time above 0, from {min_ms:g} to {max_ms:g}"
            raise DataError(f"{where}: time_ms is {row['time_ms']!r:.60}; {expected}")
        file = path.parent / row["kernel_file"]
        if row["kernel_file"] not in there:
            there[row["kernel_file"]] = _is_code(file)
        if not there[row["kernel_file"]]:
            raise DataError(f"{where}: {file}: no such file; expected it to contain {row['kernel']!r}")


def _is_code(path: Path) -> bool:
    """Return False for anything but a regular file of acceptable size; files of /proc have none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and 0 < status.st_size <= input_limit()


def check_names(path: Path, rows: Sequence[Mapping[str, str]], column: str) -> None:
    """Refuse names that are too long for an array of names."""
    for index, row in enumerate(rows):
        if len(row[column]) > _MAX_NAME_LETTERS:
            where = _where(path, index, rows)
            raise DataError(f"{where}: column {column} must not be longer than {_MAX_NAME_LETTERS} letters")


def _where(path: Path, index: int, rows: Sequence[object]) -> str:
    # rows are numbered, since cells with line breaks make line numbers useless
    return f"{path}: row {index} (of {len(rows)}, from 0)"


def _check_columns(path: Path, header: Sequence[str], required: Sequence[str], optional: Sequence[str]) -> list[str]:
    """Return the names of the columns to be read, each once."""
    if len(header) > _MAX_COLUMNS:
        raise DataError(f"{path}: {len(header):,} columns; expected at most {_MAX_COLUMNS}")
    if twice := [name for name in header if header.count(name) > 1]:
        raise DataError(f"{path}: two columns are called {twice[0]!r:.60}; expected different names")
    if missing := [name for name in required if name not in header]:
        more = f" and {len(header) - _MAX_SHOWN} more" if len(header) > _MAX_SHOWN else ""
        shown = ", ".join(f"{name:.60}" for name in header[:_MAX_SHOWN]) or "none"
        raise DataError(f"{path}: missing column {', '.join(missing)}; found {shown}{more}")
    return [name for name in dict.fromkeys((*required, *optional)) if name in header]
