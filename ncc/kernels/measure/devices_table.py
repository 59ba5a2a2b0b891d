"""Tables of times: launches of kernels × devices, as ``ncc measure`` writes and ``ncc train devmap`` reads them.

A row is one kernel at one size on one device. `COLUMNS` is the format, as Parquet or CSV.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ncc.arrays import Floats, Rows
from ncc.errors import DataError
from ncc.learning.data.tables import check_measured, read_columns, read_numbers

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
"""Column → what it holds."""

REQUIRED = ("kernel_file", "kernel", "device", "time_ms")
"""Columns that must be there; sizes that are not known are left empty."""

_SIZES = ("global_size", "local_size", "transfer_bytes")
_NUMBERS = tuple(name for name in COLUMNS if name.endswith(("_size", "_bytes", "_ms", "_low", "_high")))
_LARGEST_MS = 1e12


@dataclass(frozen=True, kw_only=True, eq=False)
class LaunchTimes(Rows):
    """Launches and their times; row i of every array belongs to launch i.

    Attributes:
        devices: Names of the d devices.
        file: Paths of the kernels' files, or what else names the text of a kernel, (n,) str.
        kernel: Names of the kernels, (n,) str.
        family: What is held out together, such as applications, (n,) str.
        suite: Where the rows come from, such as benchmark suites, (n,) str.
        global_size, local_size, transfer_bytes: (n,) float64, NaN where not known.
        times_ms: (n, d) float64, NaN where not measured.
    """

    devices: tuple[str, ...]
    file: np.ndarray
    kernel: np.ndarray
    family: np.ndarray
    suite: np.ndarray
    global_size: Floats
    local_size: Floats
    transfer_bytes: Floats
    times_ms: Floats

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
    """Reads a table that has the columns of `COLUMNS`; others are passed over.

    Args:
        path: A .parquet or .csv file.

    Returns:
        The launches that every device of the table was measured on, in the table's order.

    Raises:
        DataError: A column is missing, a number is none, negative or infinite, a launch stands twice for one device,
            a kernel's file is not there, or fewer than two devices have launches in common.
    """
    path = Path(path)
    rows = read_columns(path, REQUIRED, list(COLUMNS))
    numbers = {name: read_numbers(path, rows, name, _LARGEST_MS * 1e6) for name in _NUMBERS}
    check_measured(path, rows, numbers["time_ms"], _LARGEST_MS)
    devices = tuple(dict.fromkeys(row["device"] for row in rows))
    if len(devices) < 2:
        raise DataError(f"{path}: one device, {devices[0]!r}; expected two or more, since devices are compared")
    sizes = np.stack([numbers[name] for name in _SIZES], axis=1)
    first: dict[tuple[Any, ...], int] = {}
    found: dict[tuple[int, int], int] = {}
    times = np.full((len(rows), len(devices)), np.nan)
    for number, (row, size) in enumerate(zip(rows, np.nan_to_num(sizes, nan=-1).tolist(), strict=True)):
        launch = first.setdefault((row["kernel_file"], row["kernel"], *size), number)
        device = devices.index(row["device"])
        before = found.setdefault((launch, device), number)
        if before != number:
            raise DataError(
                f"{path}: rows {before} and {number} (from 0) are one launch of {row['kernel']} on one device, "
                f"{row['device']!r}; name two devices differently, and give one row a launch"
            )
        times[launch, device] = numbers["time_ms"][number]
    kept = np.flatnonzero(np.isfinite(times).all(axis=1))
    if not len(kept):
        raise DataError(
            f"{path}: no launch was measured on all of {', '.join(devices)}; expected the same sizes on each"
        )
    files = {name: str(path.parent / name) for name in {row["kernel_file"] for row in rows}}
    return LaunchTimes(
        devices=devices,
        file=np.array([files[rows[row]["kernel_file"]] for row in kept]),
        kernel=np.array([rows[row]["kernel"] for row in kept]),
        family=np.array([rows[row].get("family") or Path(rows[row]["kernel_file"]).stem for row in kept]),
        suite=np.full(len(kept), path.stem),
        global_size=sizes[kept, 0],
        local_size=sizes[kept, 1],
        transfer_bytes=sizes[kept, 2],
        times_ms=times[kept],
    )
