"""Tables of measured launches: one's own CSV, what ``nsys`` and ``ncu`` print, and gpuFLOPBench's profiles."""

import csv
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ncc.errors import InputError, InputFileError
from ncc.kernels.launch import Launch

_BANDWIDTH = 760e9
THRESHOLDS = {"dpAI": 0.465e12 / _BANDWIDTH, "spAI": 29.8e12 / _BANDWIDTH, "intAI": 14.9e12 / _BANDWIDTH}
"""Operations a byte above which gpuFLOPBench's card is bound by computing, by the column of its profiles."""

_TIME_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "nsecond": 1e-9, "usecond": 1e-6, "msecond": 1e-3,
               "second": 1.0, "nanosecond": 1e-9, "microsecond": 1e-6, "millisecond": 1e-3}  # fmt: skip
_BYTE_UNITS = {"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9}
_NCU_TIMES = ("gpu__time_duration.sum", "Duration")
_NCU_BYTES = ("dram__bytes.sum", "dram__bytes_read.sum", "dram__bytes_write.sum")
_OWN = ("kernel", "grid", "block", "time_ms")
_TOKEN = re.compile(r"\d+")


@dataclass(frozen=True, kw_only=True)
class MeasuredLaunch:
    """A launch that somebody measured.

    Attributes:
        program: What is held out together.
        source: File that the kernel is in, relative to the folder of sources; empty where any may hold it.
        kernel: Its name, as a profiler shows it.
        launch: Sizes, and arguments that the table names.
        time_s: Seconds that it took.
        traffic_bytes: Bytes of the card's memory that it moved; None where the table does not say.
        is_compute_bound: Whether it is bound by computing; None where the table does not say.
        program_arguments: The program's own arguments; None where the table does not say.
        roofline_s: Seconds that a roofline says of what was measured of operations and bytes; None where that was not.
    """

    program: str
    source: str = ""
    kernel: str
    launch: Launch
    time_s: float
    traffic_bytes: float | None = None
    is_compute_bound: bool | None = None
    program_arguments: tuple[str, ...] | None = None
    roofline_s: float | None = None


def read_launches(path: str | os.PathLike[str]) -> list[MeasuredLaunch]:
    """Reads launches from a CSV; its columns say whose it is.

    One's own has ``kernel``, ``grid`` and ``block`` (as 1024 or 64x16), ``time_ms``, and where they are known
    ``source``, ``arguments`` (as n=1000;m=3), ``program``, ``program_arguments``, ``traffic_bytes`` and ``bound``
    ("bandwidth" or "compute"). ``nsys stats --report cuda_gpu_trace --format csv`` and ``ncu --csv`` are read as they
    are printed, whatever stands before the header.

    Raises:
        InputError: There is no such file, its columns are none of these, or a value is not a number.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError as error:
        raise InputFileError(f"{path}: can't be read: {error.strerror}") from error
    for at, line in enumerate(lines):
        header = next(csv.reader([line]), [])
        for marks, read in _READERS.items():
            if set(marks) <= set(header):
                return _checked(path, list(read(list(csv.DictReader(lines[at:])))))
    raise InputError(
        f"{path}: no line is the header of a table that ncc reads: columns {', '.join(_OWN)}, or what "
        "'nsys stats --report cuda_gpu_trace --format csv' or 'ncu --csv' print"
    )


def _checked(path: Path, launches: list[MeasuredLaunch]) -> list[MeasuredLaunch]:
    if not launches:
        raise InputError(f"{path}: the table has no launch of a kernel")
    for one in launches:
        if not 0 < one.time_s < 1e6:
            raise InputError(f"{path}: {one.kernel} takes {one.time_s:g} s; expected a time above 0")
    return launches


def _number(row: Mapping[str, str], column: str) -> float:
    try:
        return float(row[column].replace(",", ""))
    except (ValueError, KeyError, AttributeError) as error:
        raise InputError(f"column {column!r} is {row.get(column)!r}; expected a number") from error


def _sizes(text: str, column: str) -> tuple[int, ...]:
    sizes = tuple(map(int, _TOKEN.findall(text or "")))
    if not sizes:
        raise InputError(f"column {column!r} is {text!r}; expected sizes, such as 1024 or 64x16")
    return sizes


def _own(rows: list[dict[str, str]]) -> Iterator[MeasuredLaunch]:
    for row in rows:
        bound = (row.get("bound") or "").strip()
        if bound not in ("", "bandwidth", "compute"):
            raise InputError(f"column 'bound' is {bound!r}; expected bandwidth or compute")
        pairs = [one.partition("=") for one in (row.get("arguments") or "").split(";") if one.strip()]
        arguments = {name.strip(): _number({"arguments": value}, "arguments") for name, _, value in pairs}
        own = row.get("program_arguments")
        yield MeasuredLaunch(
            program=row.get("program") or row.get("source") or row["kernel"],
            source=row.get("source") or "",
            kernel=row["kernel"],
            launch=Launch.of(_sizes(row["grid"], "grid"), _sizes(row["block"], "block"), arguments),
            time_s=_number(row, "time_ms") / 1e3,
            traffic_bytes=_number(row, "traffic_bytes") if row.get("traffic_bytes") else None,
            is_compute_bound=bound == "compute" if bound else None,
            program_arguments=None if own is None else tuple(own.split()),
        )


def _nsys(rows: list[dict[str, str]]) -> Iterator[MeasuredLaunch]:
    for row in rows:
        if not row.get("GrdX"):  # a copy of memory
            continue
        grid, block = ([int(_number(row, f"{name}{axis}")) for axis in "XYZ"] for name in ("Grd", "Blk"))
        yield MeasuredLaunch(
            program=row["Name"], kernel=row["Name"], launch=Launch.of(grid, block, {}),
            time_s=_number(row, "Duration (ns)") * 1e-9,
        )  # fmt: skip


def _ncu(rows: list[dict[str, str]]) -> Iterator[MeasuredLaunch]:
    by_launch: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        by_launch[row["ID"]].append(row)
    for metrics in by_launch.values():
        first = metrics[0]
        times = [_in_unit(row, _TIME_UNITS) for row in metrics if row["Metric Name"] in _NCU_TIMES]
        moved = {row["Metric Name"]: _in_unit(row, _BYTE_UNITS) for row in metrics if row["Metric Name"] in _NCU_BYTES}
        if not times:
            raise InputError(f"ncu's table has no time of {first['Kernel Name']}; profile gpu__time_duration.sum")
        yield MeasuredLaunch(
            program=first["Kernel Name"], kernel=first["Kernel Name"],
            launch=Launch.of(_sizes(first["Grid Size"], "Grid Size"), _sizes(first["Block Size"], "Block Size"), {}),
            time_s=times[0],
            traffic_bytes=(moved.get("dram__bytes.sum") or sum(moved.values())) if moved else None,
        )  # fmt: skip


def _in_unit(row: Mapping[str, str], units: Mapping[str, float]) -> float:
    unit = row["Metric Unit"]
    if unit not in units:
        raise InputError(f"ncu's unit {unit!r} of {row['Metric Name']} is not one of {', '.join(units)}")
    return _number(row, "Metric Value") * units[unit]


def _gpuflop(rows: list[dict[str, str]]) -> Iterator[MeasuredLaunch]:
    for row in rows:
        if not row["targetName"].endswith("-cuda"):
            continue
        time_s = _number(row, "xtime") * 1e-9
        yield MeasuredLaunch(
            program=row["targetName"].removesuffix("-cuda"),
            source=row["targetName"],
            kernel=row["Kernel Name"],
            launch=Launch.of(_sizes(row["Grid Size"], "Grid Size"), _sizes(row["Block Size"], "Block Size"), {}),
            time_s=time_s,
            traffic_bytes=_number(row, "traffic") * time_s,
            is_compute_bound=any(_number(row, name) > most for name, most in THRESHOLDS.items()),
            roofline_s=max(1.0, *(_number(row, name) / most for name, most in THRESHOLDS.items()))
            * (_number(row, "traffic") * time_s / _BANDWIDTH),
            program_arguments=tuple(row["exeArgs"].split()),
        )


_READERS: dict[tuple[str, ...], Callable[[list[dict[str, str]]], Iterator[MeasuredLaunch]]] = {
    ("targetName", "xtime", "exeArgs"): _gpuflop,
    _OWN: _own,
    ("Duration (ns)", "GrdX", "BlkX", "Name"): _nsys,
    ("Kernel Name", "Metric Name", "Metric Value", "Grid Size"): _ncu,
}
"""Columns that tell whose table it is → what reads it."""
