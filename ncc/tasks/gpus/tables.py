"""Tables of measured launches: your own CSV, the output of ``nsys``, and gpuFLOPBench's profiles."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ncc.errors import DataError, InputError
from ncc.kernels.launch import Launch
from ncc.learning.data.tables import csv_rows, read_lines

# gpuFLOPBench's RTX 3080: bytes per second, and by column the operations per byte above which compute is the bound
_BANDWIDTH = 760e9
_BALANCE = {"dpAI": 0.465e12 / _BANDWIDTH, "spAI": 29.8e12 / _BANDWIDTH, "intAI": 14.9e12 / _BANDWIDTH}

_MAX_NUMBER = 1e18
_OWN = ("kernel", "grid", "block", "time_ms")

Row = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class MeasuredLaunch:
    """A measured launch."""

    program: str  # the application, which is held out as a whole
    source: str = ""  # file of the kernel, relative to the folder of sources; empty if unknown
    kernel: str  # its name in a profiler
    launch: Launch  # sizes, and arguments in the table
    time_s: float  # time in seconds
    traffic_bytes: float | None = None  # bytes moved from and to the GPU's memory
    is_compute_bound: bool | None = None  # whether it is compute-bound
    program_args: tuple[str, ...] | None = None  # the program's own arguments
    roofline_s: float | None = None  # seconds by a roofline of measured operations and bytes


def read_launches(path: str | os.PathLike[str]) -> list[MeasuredLaunch]:
    """Read launches from a CSV, whose format is recognized by its columns; lines before its header are skipped.

    Your own has ``kernel``, ``grid`` and ``block`` (as 1024 or 64x16), ``time_ms``, and if they are known ``source``,
    ``arguments`` (as n=1000;m=3), ``program``, ``program_arguments``, ``traffic_bytes`` and ``bound`` ("bandwidth" or
    "compute"). ``nsys stats --report cuda_gpu_trace --format csv`` is read as it is printed.
    """
    path = Path(path)
    lines = read_lines(path)
    for index, line in enumerate(lines):
        header = line.replace('"', "").rstrip().split(",")
        columns = next((columns for columns in _READERS if set(columns) <= set(header)), None)
        if columns is None:
            continue
        launches = []
        for number, row in enumerate(csv_rows(path, lines[index:], columns, header)):
            try:
                launch = _READERS[columns](row)
                if launch and not 1e-9 <= launch.time_s < 1e6:
                    raise InputError(f"{launch.kernel:.60} takes {launch.time_s:g} s; expected a time above 0")
            except (InputError, ValueError) as error:  # the latter of whole numbers of thousands of digits
                raise DataError(f"{path}: row {number} (from 0): {error!s:.300}") from error
            launches += [launch] if launch else []
        if not launches:
            raise DataError(f"{path}: the table has no launch of a kernel")
        return launches
    raise DataError(
        f"{path}: no header of a known table; expected columns {', '.join(_OWN)}, or the output of "
        "'nsys stats --report cuda_gpu_trace --format csv'"
    )


def _number(row: Row, column: str) -> float:
    with suppress(ValueError):
        if abs(number := float(row[column].replace(",", ""))) <= _MAX_NUMBER:
            return number
    raise InputError(f"column {column!r} is {row[column]!r:.60}; expected a number of at most {_MAX_NUMBER:g}")


def _sizes(row: Row, column: str) -> tuple[int, ...]:
    sizes = tuple(map(int, re.findall(r"\d+", row[column] or "")))
    if not sizes:
        raise InputError(f"column {column!r} is {row[column]!r}; expected sizes, such as 1024 or 64x16")
    return sizes


def _own(row: Row) -> MeasuredLaunch:
    bound = (row.get("bound") or "").strip()
    if bound not in ("", "bandwidth", "compute"):
        raise InputError(f"column 'bound' is {bound!r}; expected bandwidth or compute")
    pairs = [pair.partition("=") for pair in (row.get("arguments") or "").split(";") if pair.strip()]
    arguments = {name.strip(): _number({"arguments": value}, "arguments") for name, _, value in pairs}
    program_args = row.get("program_arguments")
    return MeasuredLaunch(
        program=row.get("program") or row.get("source") or row["kernel"],
        source=row.get("source") or "",
        kernel=row["kernel"],
        launch=Launch.of(_sizes(row, "grid"), _sizes(row, "block"), arguments),
        time_s=_number(row, "time_ms") / 1e3,
        traffic_bytes=_number(row, "traffic_bytes") if row.get("traffic_bytes") else None,
        is_compute_bound=bound == "compute" if bound else None,
        program_args=None if program_args is None else tuple(program_args.split()),
    )


def _nsys(row: Row) -> MeasuredLaunch | None:
    if not row.get("GrdX"):  # a memory copy
        return None
    grid, block = ([int(_number(row, f"{name}{axis}")) for axis in "XYZ"] for name in ("Grd", "Blk"))
    name, time_s = row["Name"], _number(row, "Duration (ns)") * 1e-9
    return MeasuredLaunch(program=name, kernel=name, launch=Launch.of(grid, block, {}), time_s=time_s)


def _gpuflop(row: Row) -> MeasuredLaunch | None:
    if not row["targetName"].endswith("-cuda"):
        return None
    time_s = _number(row, "xtime") * 1e-9
    traffic = _number(row, "traffic") * time_s
    intensity = max(_number(row, name) / most for name, most in _BALANCE.items())
    return MeasuredLaunch(
        program=row["targetName"].removesuffix("-cuda"),
        source=row["targetName"],
        kernel=row["Kernel Name"],
        launch=Launch.of(_sizes(row, "Grid Size"), _sizes(row, "Block Size"), {}),
        time_s=time_s,
        traffic_bytes=traffic,
        is_compute_bound=intensity > 1,
        roofline_s=max(1.0, intensity) * (traffic / _BANDWIDTH),
        program_args=tuple(row["exeArgs"].split()),
    )


_READERS: dict[tuple[str, ...], Callable[[Row], MeasuredLaunch | None]] = {
    ("targetName", "xtime", "exeArgs"): _gpuflop,
    _OWN: _own,
    ("Duration (ns)", "GrdX", "BlkX", "Name"): _nsys,
}
"""Columns that identify a format → reader of its rows, which returns None for rows that are not launches."""
