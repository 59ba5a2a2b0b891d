"""Tables of measured launches: CSV of your own, what ``nsys`` and ``ncu`` print, and gpuFLOPBench's profiles."""

import csv
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ncc.errors import InputError, InputFileError
from ncc.kernels.launch import Launch

_BANDWIDTH = 760e9
THRESHOLDS = {"dpAI": 0.465e12 / _BANDWIDTH, "spAI": 29.8e12 / _BANDWIDTH, "intAI": 14.9e12 / _BANDWIDTH}
"""Operations a byte above which gpuFLOPBench's GPU is bound by computing, by the column of its profiles."""

_PREFIXES = {"nano": 1e-9, "n": 1e-9, "micro": 1e-6, "u": 1e-6, "milli": 1e-3, "m": 1e-3,
             "": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}  # fmt: skip
_UNIT = re.compile(r"(nano|micro|milli|[numKMG]?)(?:s|second|byte|B)")
_NCU_TIMES = ("gpu__time_duration.sum", "Duration")
_NCU_BYTES = ("dram__bytes.sum", "dram__bytes_read.sum", "dram__bytes_write.sum")
_OWN = ("kernel", "grid", "block", "time_ms")

Row = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class MeasuredLaunch:
    """A launch that somebody measured."""

    program: str  # the application that is held out as a whole
    source: str = ""  # file that the kernel is in, relative to the folder of sources; empty if any may hold it
    kernel: str  # its name, as a profiler shows it
    launch: Launch  # sizes, and arguments that the table names
    time_s: float  # seconds that it took
    traffic_bytes: float | None = None  # bytes of the GPU's memory that it moved
    is_compute_bound: bool | None = None  # whether it is bound by computing
    program_args: tuple[str, ...] | None = None  # the program's own arguments
    roofline_s: float | None = None  # seconds by a roofline on measured operations and bytes


def read_launches(path: str | os.PathLike[str]) -> list[MeasuredLaunch]:
    """Read launches from a CSV; its columns tell whose it is.

    Your own has ``kernel``, ``grid`` and ``block`` (as 1024 or 64x16), ``time_ms``, and if they are known ``source``,
    ``arguments`` (as n=1000;m=3), ``program``, ``program_arguments``, ``traffic_bytes`` and ``bound`` ("bandwidth" or
    "compute"). ``nsys stats --report cuda_gpu_trace --format csv`` and ``ncu --csv`` are read as they are printed,
    whatever stands before the header.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError as error:
        raise InputFileError(f"{path}: can't be read: {error.strerror}") from error
    for index, line in enumerate(lines):
        header = set(next(csv.reader([line]), []))
        for columns, read in _READERS.items():
            if header.issuperset(columns):
                launches = list(read(list(csv.DictReader(lines[index:]))))
                if not launches:
                    raise InputError(f"{path}: the table has no launch of a kernel")
                for launch in launches:
                    if not 0 < launch.time_s < 1e6:
                        raise InputError(f"{path}: {launch.kernel} takes {launch.time_s:g} s; expected a time above 0")
                return launches
    raise InputError(
        f"{path}: no line is the header of a table that ncc reads: columns {', '.join(_OWN)}, or what "
        "'nsys stats --report cuda_gpu_trace --format csv' or 'ncu --csv' print"
    )


def _number(row: Row, column: str) -> float:
    try:
        return float(row[column].replace(",", ""))
    except (ValueError, KeyError, AttributeError) as error:
        raise InputError(f"column {column!r} is {row.get(column)!r}; expected a number") from error


def _sizes(row: Row, column: str) -> tuple[int, ...]:
    sizes = tuple(map(int, re.findall(r"\d+", row[column] or "")))
    if not sizes:
        raise InputError(f"column {column!r} is {row[column]!r}; expected sizes, such as 1024 or 64x16")
    return sizes


def _own(rows: list[dict[str, str]]) -> Iterator[MeasuredLaunch]:
    for row in rows:
        bound = (row.get("bound") or "").strip()
        if bound not in ("", "bandwidth", "compute"):
            raise InputError(f"column 'bound' is {bound!r}; expected bandwidth or compute")
        pairs = [pair.partition("=") for pair in (row.get("arguments") or "").split(";") if pair.strip()]
        arguments = {name.strip(): _number({"arguments": value}, "arguments") for name, _, value in pairs}
        program_args = row.get("program_arguments")
        yield MeasuredLaunch(
            program=row.get("program") or row.get("source") or row["kernel"],
            source=row.get("source") or "",
            kernel=row["kernel"],
            launch=Launch.of(_sizes(row, "grid"), _sizes(row, "block"), arguments),
            time_s=_number(row, "time_ms") / 1e3,
            traffic_bytes=_number(row, "traffic_bytes") if row.get("traffic_bytes") else None,
            is_compute_bound=bound == "compute" if bound else None,
            program_args=None if program_args is None else tuple(program_args.split()),
        )


def _nsys(rows: list[dict[str, str]]) -> Iterator[MeasuredLaunch]:
    for row in rows:
        if row.get("GrdX"):  # else a copy of memory
            grid, block = ([int(_number(row, f"{name}{axis}")) for axis in "XYZ"] for name in ("Grd", "Blk"))
            yield MeasuredLaunch(
                program=row["Name"],
                kernel=row["Name"],
                launch=Launch.of(grid, block, {}),
                time_s=_number(row, "Duration (ns)") * 1e-9,
            )


def _ncu(rows: list[dict[str, str]]) -> Iterator[MeasuredLaunch]:
    by_launch: dict[str, dict[str, dict[str, str]]] = {}
    for row in rows:
        by_launch.setdefault(row["ID"], {}).setdefault(row["Metric Name"], row)
    for metrics in by_launch.values():
        first = next(iter(metrics.values()))
        times = [_scaled(metrics[name]) for name in metrics if name in _NCU_TIMES]
        moved = {name: _scaled(metrics[name]) for name in _NCU_BYTES if name in metrics}
        if not times:
            raise InputError(f"ncu's table has no time of {first['Kernel Name']}; profile gpu__time_duration.sum")
        yield MeasuredLaunch(
            program=first["Kernel Name"],
            kernel=first["Kernel Name"],
            launch=Launch.of(_sizes(first, "Grid Size"), _sizes(first, "Block Size"), {}),
            time_s=times[0],
            traffic_bytes=(moved.get("dram__bytes.sum") or sum(moved.values())) if moved else None,
        )


def _scaled(row: Row) -> float:
    """A metric in seconds or bytes."""
    unit = _UNIT.fullmatch(row["Metric Unit"])
    if not unit:
        raise InputError(f"ncu's unit {row['Metric Unit']!r} of {row['Metric Name']} is none of seconds or bytes")
    return _number(row, "Metric Value") * _PREFIXES[unit[1]]


def _gpuflop(rows: list[dict[str, str]]) -> Iterator[MeasuredLaunch]:
    for row in rows:
        if not row["targetName"].endswith("-cuda"):
            continue
        time_s = _number(row, "xtime") * 1e-9
        traffic = _number(row, "traffic") * time_s
        intensity = max(_number(row, name) / most for name, most in THRESHOLDS.items())
        yield MeasuredLaunch(
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


_READERS: dict[tuple[str, ...], Callable[[list[dict[str, str]]], Iterator[MeasuredLaunch]]] = {
    ("targetName", "xtime", "exeArgs"): _gpuflop,
    _OWN: _own,
    ("Duration (ns)", "GrdX", "BlkX", "Name"): _nsys,
    ("Kernel Name", "Metric Name", "Metric Value", "Grid Size"): _ncu,
}
"""Columns that tell whose table it is → what reads it."""
