"""``ncc measure``: every kernel at every size on every device, as far as time allows; resumable.

``ncc calibrate`` orders launches by what they teach: log times are a Gaussian process over sizes and what
kernels do, with an effect of each kernel that no other shares. Measuring a launch lowers the variance of the shared
part everywhere, by an amount that does not depend on the time found; the launch with the largest sum of that per
second is next (active learning as Cohn 1996).
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ncc.arrays import Bools, Floats, Ints
from ncc.errors import InputError, NccError, check_positive
from ncc.kernels.measure.opencl import Device, choose_devices
from ncc.kernels.measure.table import MeasuredTable
from ncc.kernels.measure.timing import SHIPPED_KERNELS, Bench, find_kernels, source_ids
from ncc.system.files.writing import check_writable

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def parse_sizes(given: str | Sequence[int], name: str = "sizes", most: int = 2**32) -> tuple[int, ...]:
    """Numbers of work-items from "1K:16M", in steps of 4, or "64,256"; K, M and G are powers of 1024.

    Examples:
        >>> parse_sizes("1K:64K"), parse_sizes("64,100")
        ((1024, 4096, 16384, 65536), (64, 100))
    """
    sizes = _parsed(given) if isinstance(given, str) else tuple(given)
    if not sizes or not all(1 <= size <= most for size in sizes):
        raise InputError(
            f"{name} is {given!r}; expected whole numbers from 1 to {most:,}: a range such as 1K:16M, "
            "or a list such as 64,256"
        )
    return sizes


def _parsed(text: str) -> tuple[int, ...]:
    """The numbers; none where it is neither a range nor a list."""
    found = re.fullmatch(r"\s*(\d{1,12})([KMG]?)\s*:\s*(\d{1,12})([KMG]?)\s*", text, re.IGNORECASE)
    if found:
        first, last = (int(found[at]) * _UNITS[found[at + 1].upper()] for at in (1, 3))
        return tuple(first * 4**step for step in range(32) if 0 < first * 4**step <= last)
    parts = [re.fullmatch(r"\s*(\d{1,12})([KMG]?)\s*", part, re.IGNORECASE) for part in text.split(",")]
    return tuple(dict.fromkeys(int(part[1]) * _UNITS[part[2].upper()] if part else 0 for part in parts))


_OF_KERNEL = 0.3
_NOISE = 0.05
_SIZE_LENGTH = 1.5
_CODE_LENGTH = 1.0


def covariance_of(sizes: Floats, code: Floats) -> Floats:
    """Covariance, (n, n) float64, of launches by log sizes, (n, s), and features of their kernels, (n, k)."""
    near_sizes = np.exp(-0.5 * _distances(sizes) / _SIZE_LENGTH**2)
    scaled = (code - code.mean(axis=0)) / np.where(np.ptp(code, axis=0) > 0, code.std(axis=0), np.inf)
    near_code = np.exp(-0.5 * _distances(scaled) / (_CODE_LENGTH**2 * max(1, code.shape[1])))
    return near_sizes * (0.2 + 0.8 * near_code)


def _distances(rows: Floats) -> Floats:
    squares = (rows**2).sum(axis=1)
    return np.maximum(squares[:, None] + squares[None, :] - 2 * rows @ rows.T, 0)


class Chooser:
    """Keeps what is not known yet of launches, and says which of them to measure."""

    def __init__(self, sizes: Floats, code: Floats, kernel: Ints) -> None:
        """Start from log sizes, (n, s), and features of kernels, (n, k), and indices of the kernels, (n,)."""
        self._shared = covariance_of(sizes, code)
        self._whole = self._shared + _OF_KERNEL * (kernel[:, None] == kernel[None, :])

    def choose(self, seconds: Floats, allowed: Bools) -> int:
        """The allowed launch, (n,) bool, that teaches most per second, (n,) float64."""
        gain = (self._shared**2).sum(axis=0) / (np.diag(self._whole) + _NOISE)
        return int(np.argmax(np.where(allowed, gain / seconds, -1.0)))

    def observe(self, launch: int) -> None:
        """Counts a launch as measured."""
        weight = self._whole[launch] / (self._whole[launch, launch] + _NOISE)
        self._shared = self._shared - np.outer(self._shared[:, launch], weight)
        self._whole = self._whole - np.outer(self._whole[:, launch], weight)


@dataclass(frozen=True)
class Measurements:
    """What `measure_kernels` found.

    Attributes:
        table: The file.
        num_rows: Rows in it.
        num_kernels: Kernels that have rows.
        devices: Names of the devices that have rows.
        failed: Kernel and device, or file → why there are no rows, or none of larger sizes.
        is_complete: Whether all was measured before the budget ended.
    """

    table: Path
    num_rows: int
    num_kernels: int
    devices: tuple[str, ...]
    failed: dict[str, str]
    is_complete: bool

    def to_dict(self) -> dict[str, Any]:
        """The fields by their names, the table by its path."""
        return asdict(self) | {"table": str(self.table)}

    def to_text(self) -> str:
        """A line, and one more for each failure."""
        rest = "" if self.is_complete else "; the budget ended before all was measured: start again to go on"
        head = f"{self.table}: {self.num_rows} rows, {self.num_kernels} kernels, {len(self.devices)} devices{rest}"
        return "\n".join([head, *(f"  {where}: {reason}" for where, reason in self.failed.items())])


def measure_kernels(
    kernels: Sequence[str | Path],
    output: str | Path,
    *,
    device: Sequence[str] | None = None,
    sizes: str | Sequence[int] = "1K:16M",
    wgsize: str | Sequence[int] = "64,256",
    budget_minutes: float | None = None,
    timeout_s: float = 30.0,
    seconds: float = 1.0,
    seed: int = 204,
    progress: Callable[[str], None] | None = None,
) -> Measurements:
    """Times OpenCL kernels on devices; called again with the same table, it resumes where it was stopped.

    A kernel runs in a process of its own, with arguments made by type and size. It is timed if it terminates,
    writes output, is deterministic, depends on its input and stays within its buffers.

    Args:
        kernels: Files of OpenCL C, folders and globs; none for the kernels that ship.
        output: The table, .parquet.
        device: Numbers in `list_devices`, from 1, or parts of names; default all devices.
        sizes: Work-items: a range in steps of 4, a list, or the numbers.
        wgsize: Those of a work-group, likewise.
        budget_minutes: Stop after so long; default when all is measured.
        timeout_s: Time limit of a kernel at one size on one device, compilation included.
        seconds: How long that is repeated at most for a median within 5 %.
        seed: Of the arguments.
        progress: Called with a line of text after each kernel.

    Raises:
        InputError: There is no kernel or no such device, a number is out of its range, or the table is something else.
        OutputError: The table can't be written.
        NccError: The package pyopencl, drivers or all devices are missing.
    """
    path = Path(output)
    all_sizes, groups = parse_sizes(sizes), parse_sizes(wgsize, "wgsize", 2**16)
    _check(path, budget_minutes=budget_minutes, timeout_s=timeout_s, seconds=seconds)
    chosen = choose_devices(device, progress)
    table = MeasuredTable.load(path)
    found, failed_files = find_kernels([str(kernel) for kernel in kernels or [SHIPPED_KERNELS]])
    if not found:
        raise InputError("; ".join(failed_files.values()) or "there is no kernel in what was given")
    table.failed |= failed_files
    table.begin(source_ids(found, path.parent))
    end = time.monotonic() + (budget_minutes * 60 if budget_minutes else float("inf"))
    is_complete = True
    for number, kernel in enumerate(found):
        now = time.monotonic()
        share = now + (end - now) / (len(found) - number)
        with Bench(kernel, path.parent, seed=seed, timeout_s=timeout_s, seconds=seconds) as bench:
            points = list(_points(bench, chosen, all_sizes, groups, table))
            known = len(table.rows)
            for point in points:
                if time.monotonic() > share:
                    is_complete = False
                    break
                row = bench.measure(*point)
                table.add([row] if row else [])
            table.failed |= {f"{kernel.name} on {name}": reason for name, reason in bench.failed.items()}
            chosen = [one for one in chosen if one.name not in bench.gone]
            if points:
                table.save()
            if progress:
                reasons = "".join(f"; {reason}" for reason in dict.fromkeys(bench.failed.values()))
                progress(f"{number + 1} of {len(found)}: {kernel.name}: {len(table.rows) - known} rows{reasons}")
            if not chosen:
                raise NccError(f"all devices are gone; {path} has {len(table.rows)} rows")
    return Measurements(
        table=path,
        num_rows=len(table.rows),
        num_kernels=len({(row.source_id, row.kernel) for row in table.rows}),
        devices=tuple(dict.fromkeys(row.device for row in table.rows)),
        failed=dict(table.failed),
        is_complete=is_complete,
    )


def _points(
    bench: Bench,
    devices: Sequence[Device],
    sizes: Sequence[int],
    wgsizes: Sequence[int],
    table: MeasuredTable,
) -> Iterator[tuple[Device, int, int]]:
    """What is still to be measured, small sizes first, one device after the other at each."""
    done = {row.key for row in table.rows}
    kernel = bench.kernel
    for size in sorted(sizes):
        groups = {kernel.group(size, wgsize): wgsize for wgsize in reversed(wgsizes)}
        for (group, wgsize), device in product(reversed(groups.items()), devices):
            known = (kernel.source_id, kernel.name, device.name, size, group) in done
            if group and not known and f"{kernel.name} on {device.name}" not in table.failed:
                yield device, size, wgsize


def _check(path: Path, **numbers: float | None) -> None:
    if path.suffix != ".parquet":
        raise InputError(f"{path}: expected a file that ends in .parquet")
    check_writable(path)
    check_positive(**numbers)
