"""Tables of times: launches of kernels × devices, as ``ncc measure`` writes and ``ncc train devmap`` reads them.

A row is one kernel at one size on one device. `COLUMNS` is the format, as Parquet or CSV. ``ncc measure`` resumes it.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ncc.arrays import Floats, Rows
from ncc.errors import DataError, InputError
from ncc.learning.data.tables import check_measured, read_numbers, read_rows
from ncc.system.files.writing import open_atomically

LaunchUnit = Literal["kernel", "family", "suite"]

COLUMNS: Mapping[str, str] = {
    "kernel_file": "Source or IR that holds the kernel; a relative path starts at the table's folder.",
    "kernel": "The kernel's name in it.",
    "device": "Name of the device.",
    "global_size": "Work-items of the launch, all dimensions multiplied.",
    "local_size": "Work-items in a work-group, likewise.",
    "transfer_bytes": "Bytes moved between host and device, both ways.",
    "time_ms": "What is learnt: time of the launch, with the transfers if they are to count.",
    "kernel_ms": "Time of the kernel alone.",
    "transfer_ms": "Time of the transfers alone.",
    "time_low": "Low end of the interval of time_ms.",
    "time_high": "High end of the interval of time_ms.",
    "family": "What the kernel is one of, such as its application: held out together; default the kernel's file.",
}
"""Column → description."""

REQUIRED = ("kernel_file", "kernel", "device", "time_ms")
"""Columns that must be there; sizes that are not known are left empty."""

_SIZES = ("global_size", "local_size", "transfer_bytes")
_NUMBERS = tuple(name for name in COLUMNS if name.endswith(("_size", "_bytes", "_ms", "_low", "_high")))
_MIN_MS, _MAX_MS = 1e-6, 1e9
"""A nanosecond and eleven days; heads can't be fitted to times far beyond."""
_MAX_WGSIZE, _MAX_SIZE = 2**16, 10**15
_MAX_DEVICES = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class LaunchTimes(Rows):
    """N launches and their times on d devices."""

    devices: tuple[str, ...]
    file: np.ndarray  # (n,) str of a file, or another name of a kernel's text
    kernel: np.ndarray  # (n,) str
    family: np.ndarray  # (n,) str of groups that are held out together
    suite: np.ndarray  # (n,) str
    global_size: Floats  # (n,) float64, like other sizes NaN if unknown
    local_size: Floats  # (n,)
    transfer_bytes: Floats  # (n,)
    times_ms: Floats  # (n, d) float64, NaN if not measured

    def __len__(self) -> int:
        return len(self.times_ms)

    @property
    def log_times(self) -> Floats:
        """(n, d) float64 natural logarithms of the times in ms."""
        return np.log(self.times_ms)

    @property
    def sizes(self) -> Floats:
        """(n, 3) float64 transfer bytes, work-group size and global size."""
        return np.stack([self.transfer_bytes, self.local_size, self.global_size], axis=1)

    def groups(self, unit: LaunchUnit) -> np.ndarray:
        """Name of each row's kernel, family or suite, (n,) str."""
        return np.char.add(np.char.add(self.file, ":"), self.kernel) if unit == "kernel" else getattr(self, unit)


def read_times(path: str | os.PathLike[str]) -> LaunchTimes:
    """Read the launches that every device of a table was measured on; columns that `COLUMNS` lacks are ignored."""
    path = Path(path)
    rows = read_rows(path, REQUIRED, list(COLUMNS))
    limits = {name: _MAX_WGSIZE if name == "local_size" else _MAX_SIZE for name in _NUMBERS}
    numbers = {name: read_numbers(path, rows, name, limit) for name, limit in limits.items()}
    check_measured(path, rows, numbers["time_ms"], _MIN_MS, _MAX_MS)
    devices = tuple(dict.fromkeys(row["device"] for row in rows))
    if len(devices) > _MAX_DEVICES:
        raise DataError(f"{path}: {len(devices):,} devices; expected at most {_MAX_DEVICES}")
    sizes = np.stack([numbers[name] for name in _SIZES], axis=1)
    first: dict[tuple[Any, ...], int] = {}
    rows_of = np.full((len(rows), len(devices)), -1)
    for index, (row, size) in enumerate(zip(rows, np.nan_to_num(sizes, nan=-1).tolist(), strict=True)):
        launch = first.setdefault((row["kernel_file"], row["kernel"], *size), index), devices.index(row["device"])
        if (before := rows_of[launch]) >= 0:
            raise DataError(
                f"{path}: rows {before} and {index} (from 0) are the same launch of {row['kernel']} on one device, "
                f"{row['device']!r}; give devices different names, and each launch one row"
            )
        rows_of[launch] = index
    complete = np.flatnonzero((rows_of >= 0).all(axis=1))
    if not len(complete):
        raise DataError(
            f"{path}: no launch was measured on all of {', '.join(devices)}; expected the same sizes on each"
        )
    files = {name: str(path.parent / name) for name in {row["kernel_file"] for row in rows}}
    launches = [rows[index] for index in complete]
    return LaunchTimes(
        devices=devices,
        file=np.array([files[row["kernel_file"]] for row in launches]),
        kernel=np.array([row["kernel"] for row in launches]),
        family=np.array([row.get("family") or Path(row["kernel_file"]).stem for row in launches]),
        suite=np.full(len(launches), path.stem),
        global_size=sizes[complete, 0],
        local_size=sizes[complete, 1],
        transfer_bytes=sizes[complete, 2],
        times_ms=numbers["time_ms"][rows_of[complete]],
    )


@dataclass(frozen=True, kw_only=True)
class MeasuredTime:
    """A row of a measured table: `COLUMNS`, the requested size, and the hash of the file."""

    kernel_file: str
    kernel: str
    device: str
    global_size: int
    local_size: int
    transfer_bytes: int
    time_ms: float
    kernel_ms: float
    transfer_ms: float
    time_low: float
    time_high: float
    family: str
    size: int
    source_id: str

    @property
    def launch(self) -> tuple[str, str, str, int, int, int]:
        """Key of a table's rows."""
        return self.kernel_file, self.kernel, self.device, self.global_size, self.local_size, self.transfer_bytes

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """Key of a measurement that is not repeated."""
        return self.source_id, self.kernel, self.device, self.size, self.local_size


def load_rows(path: Path) -> list[MeasuredTime]:
    """Read a measured table; no rows if it does not exist."""
    types = {field.name: field.type for field in fields(MeasuredTime)}
    try:
        rows = read_rows(path, list(types)) if path.exists() else []
        return [MeasuredTime(**{name: type_(row[name]) for name, type_ in types.items()}) for row in rows]  # type: ignore[operator]
    except (DataError, ValueError) as error:
        raise InputError(f"{path}: not a table of 'ncc measure' to extend; name another file") from error


def save_rows(path: Path, rows: list[MeasuredTime]) -> None:
    """Write a measured table, if it has rows."""
    import pyarrow.parquet

    if rows:
        with open_atomically(path) as file:
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist([asdict(row) for row in rows]), file)
