"""User tables for ``ncc train coarsening``: kernels × devices × coarsening factors, one row per measured time.

`COLUMNS` is the format, as Parquet or CSV.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ncc.errors import DataError
from ncc.learning.data.tables import check_measured, read_columns, read_numbers
from ncc.tasks.coarsening.samples import FACTORS, CoarseningSamples

COLUMNS: Mapping[str, str] = {
    "kernel_file": "Source or IR that holds the kernel, not coarsened; a relative path starts at the table's folder.",
    "kernel": "The kernel's name in it.",
    "device": "Name of the device.",
    "factor": "Work-items merged into one: 1, 2, 4, 8, 16 or 32.",
    "time_ms": "Time of the launch at that factor.",
    "kernel_ms": "Time of the kernel alone, without transfers: counts instead where all rows have it.",
    "global_size": "Work-items of the launch without coarsening, all dimensions multiplied.",
    "local_size": "Work-items in a work-group, likewise.",
}
"""Column → what it holds."""

REQUIRED = ("kernel_file", "kernel", "device", "factor", "time_ms")
"""Columns that must be there; sizes that are not known are left empty."""

_SIZES = ("global_size", "local_size")
_LARGEST_MS = 1e12


def read_times(path: str | os.PathLike[str]) -> tuple[CoarseningSamples, list[tuple[str, str]]]:
    """Reads a table that has the columns of `COLUMNS`; others are passed over.

    Args:
        path: A .parquet or .csv file.

    Returns:
        The samples, one for each kernel, device and sizes that were measured at factor 1 and another, in the table's
        order, and the file and the name of each one's kernel. Kernels are called file:name, their source is the file's
        text.

    Raises:
        DataError: A column is missing, a number is none, negative or infinite, a factor is none of `FACTORS`, a launch
            stands twice for one device and factor or lacks factor 1, none has another, or a kernel's file is not there.
    """
    path = Path(path)
    rows = read_columns(path, REQUIRED, list(COLUMNS))
    times = read_numbers(path, rows, "time_ms", _LARGEST_MS)
    factors = read_numbers(path, rows, "factor", max(FACTORS))
    sizes = np.stack([read_numbers(path, rows, name, 2.0**48) for name in _SIZES], axis=1)
    check_measured(path, rows, times, _LARGEST_MS)
    own = read_numbers(path, rows, "kernel_ms", _LARGEST_MS)
    if (own > 0).all():
        times = own
    first: dict[tuple[object, ...], int] = {}
    runtime = np.full((len(rows), len(FACTORS)), np.nan)
    before: dict[tuple[int, int], int] = {}
    for number, (row, size, factor) in enumerate(
        zip(rows, np.nan_to_num(sizes, nan=-1).tolist(), factors, strict=True)
    ):
        if factor not in FACTORS:
            expected = ", ".join(map(str, FACTORS))
            raise DataError(f"{path}: row {number} (from 0): factor is {row['factor']!r}; expected one of {expected}")
        launch = first.setdefault((row["kernel_file"], row["kernel"], row["device"], *size), number)
        at = FACTORS.index(int(factor))
        if (other := before.setdefault((launch, at), number)) != number:
            raise DataError(
                f"{path}: rows {other} and {number} (from 0) are one launch of {row['kernel']} at factor {factor:g} on "
                f"one device, {row['device']!r}; name two devices differently, and give one row a launch and factor"
            )
        runtime[launch, at] = times[number]
    kept = _with_factors(path, rows, runtime, list(first.values()))
    named = [(str(path.parent / rows[row]["kernel_file"]), rows[row]["kernel"]) for row in kept]
    texts = {file: Path(file).read_bytes().decode("utf-8", "replace") for file, _ in dict.fromkeys(named)}
    samples = CoarseningSamples(
        kernel=np.array([f"{file}:{name}" for file, name in named]),
        device=np.array([rows[row]["device"] for row in kept]),
        source=np.array([texts[file] for file, _ in named], dtype=object),
        components=np.full((len(kept), len(FACTORS), 0), np.nan),
        runtime=runtime[kept],
    )
    return samples, named


def _with_factors(path: Path, rows: list[dict[str, str]], runtime: np.ndarray, launches: list[int]) -> np.ndarray:
    """Launches that say something of coarsening: `ncc measure` has times of kernels, too, that can't be coarsened."""
    known = np.isfinite(runtime)
    kept = [row for row in launches if known[row, 1:].any()]
    for row in kept or launches[:1]:
        if not known[row, 0] or known[row].sum() < 2:
            found = ", ".join(str(factor) for factor, there in zip(FACTORS, known[row], strict=True) if there)
            raise DataError(
                f"{path}: row {row} (from 0): {rows[row]['kernel']} on {rows[row]['device']}: only factor {found} was "
                "measured at its sizes; expected factor 1 and another, at the same sizes"
            )
    return np.array(kept)
