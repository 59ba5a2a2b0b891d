"""``ncc measure``, and the sweep that ``ncc calibrate`` shares: launches of kernels on devices, resumable."""

import logging
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ncc.errors import COMMAND_LINE, InputError, NccError, OutputError
from ncc.kernels.measure.opencl import Device
from ncc.kernels.measure.sources import SHIPPED_KERNELS, KernelSource, find_kernels
from ncc.kernels.measure.table import MeasuredTime, load_rows, save_rows
from ncc.system.files.summaries import Summarized, Summary
from ncc.system.files.text import parse_items, pluralize
from ncc.system.files.writing import folder_lock
from ncc.system.workers.pool import Pool

logger = logging.getLogger(__name__)

Report = Callable[[str], None]


def parse_sizes(sizes: str | Sequence[int], name: str = "sizes", max_size: int = 2**32) -> tuple[int, ...]:
    """Numbers of work-items from "1K:16M", in steps of 4, or "64,256"; K, M and G are powers of 1024."""
    numbers: Sequence[float] = () if isinstance(sizes, str) else sizes
    if isinstance(sizes, str):
        numbers = [parse_items(part) for part in sizes.replace(":", ",", 1).split(",")]
        if ":" in sizes and len(numbers) == 2:
            numbers = [numbers[0] * 4**step for step in range(32) if numbers[0] * 4**step <= numbers[1]]
    if not numbers or not 1 <= min(numbers) <= max(numbers) <= max_size or any(number % 1 for number in numbers):
        raise InputError(
            f"{name} is {sizes!r}; expected whole numbers from 1 to {max_size:,}: a range such as 1K:16M, "
            "or a list such as 64,256"
        )
    return tuple(map(int, numbers))


class Sweep:
    """Measures kernels, one of each family in turn, on devices, into a table that may already have some of them."""

    def __init__(
        self,
        kernels: Sequence[str | os.PathLike[str]] | None,
        devices: Sequence[Device],
        path: Path,
        *,
        measurement_time: float,
        timeout_s: float = 30.0,
    ) -> None:
        self.devices, self.path, self._time, self._timeout_s = devices, path, measurement_time, timeout_s
        found, self.failed = find_kernels([str(kernel) for kernel in kernels or [SHIPPED_KERNELS]])
        shipped = SHIPPED_KERNELS.resolve()
        self._all_shipped = all(Path(kernel.file).resolve().is_relative_to(shipped) for kernel in found)
        turns, order = Counter[str](), list[tuple[int, KernelSource]]()
        first: dict[tuple[str, str], KernelSource] = {}
        for kernel in (replace(kernel, file=os.path.relpath(kernel.file, path.parent)) for kernel in found):
            name = _name(kernel)
            if name != name.encode(errors="replace").decode():
                self.failed[name] = f"kernel {kernel.name}: names in tables must be UTF-8; rename the file"
                continue
            twin = first.setdefault((kernel.source_id, kernel.name), kernel)
            if twin is not kernel:
                self.failed[name] = f"kernel {kernel.name}: has the source of {twin.file}, which is measured"
                continue
            turns[kernel.family] += 1
            order.append((turns[kernel.family], kernel))
        self.kernels = [kernel for _, kernel in sorted(order, key=lambda pair: pair[0])]
        self._ids = {(kernel.file, kernel.name): kernel.source_id for kernel in self.kernels}
        self.rows = self._load_rows()
        self._done = {row.key for row in self.rows.values()}
        self.warnings: dict[str, str] = {}
        self._checked: set[str] = set()

    def _load_rows(self) -> dict[tuple[Any, ...], MeasuredTime]:
        """The rows of the table, except those of kernels whose files have changed since."""
        rows = load_rows(self.path)
        return {row.launch: row for row in rows if self._ids.get(row.launch[:2], row.source_id) == row.source_id}

    def _groups(self, kernel: KernelSource, grid: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """Size and work-group of each launch → requested work-group size."""
        groups, reason = {}, ""
        for size, wgsize in grid:
            try:
                groups[size, math.prod(kernel.nd_range(size, wgsize).local_size)] = wgsize
            except InputError as error:
                reason = str(error)
        if not groups:
            self.failed[_name(kernel)] = reason
        return groups

    def run(self, sizes: Sequence[int], wgsizes: Sequence[int], report: Report, budget_s: float = math.inf) -> None:
        """Measure what is missing in the table, small sizes first."""
        end, grid = time.monotonic() + budget_s, [(size, wgsize) for size in sorted(set(sizes)) for wgsize in wgsizes]
        groups = [self._groups(kernel, grid) for kernel in self.kernels]
        if not any(groups):
            reason = next(iter(self.failed.values()))
            raise InputError(
                f"no work-group of {list(wgsizes)} fits into any of {list(sizes)} work-items, for any kernel: {reason}"
            )
        if not self._all_shipped:
            logger.warning(
                "ncc: the OpenCL driver compiles and runs these kernels with all your rights: "
                "measure only kernels that you trust"
            )
        try:
            for number, (kernel, of_kernel) in enumerate(zip(self.kernels, groups, strict=True), 1):
                num_rows = len(self.rows)
                with Pool(seconds=self._timeout_s) as worker:
                    for (size, group), wgsize in of_kernel.items():
                        for device in self.devices:
                            key = (kernel.source_id, kernel.name, device.name, size, group)
                            if key not in self._done and time.monotonic() <= end:
                                self._measure(worker, kernel, device, size, wgsize)
                said, names = self.warnings | self.failed, [_name(kernel, device) for device in (None, *self.devices)]
                reasons = dict.fromkeys(said[name] for name in names if name in said)
                line = f"{number} of {len(self.kernels)}: {kernel.name}: {len(self.rows) - num_rows} rows"
                if len(self.rows) > num_rows:
                    with suppress(InputError, OutputError):  # saving is tried again, at the latest at the end
                        self._save(wait_s=0.0)
                report("; ".join([line, *reasons]))
        finally:
            try:
                self._save(wait_s=60.0)
            except (InputError, OutputError) as error:
                spare = self.path.with_name(f"{self.path.stem}-{os.getpid()}.parquet")
                save_rows(spare, list(self.rows.values()))
                raise OutputError(f"{error}; the measured rows are in {spare}") from error

    def _save(self, wait_s: float) -> None:
        """Merge the rows into the table, which another run may have changed; keep them for later if that fails."""
        with folder_lock(self.path.parent, wait_s=wait_s):
            self.rows = self._load_rows() | self.rows
            save_rows(self.path, list(self.rows.values()))

    def _measure(self, worker: Pool, kernel: KernelSource, device: Device, size: int, wgsize: int) -> None:
        """Measure a launch, unless the kernel has failed on the device at a smaller size."""
        name, where = _name(kernel, device), f"at {size:,} on {device.name}"
        if name in self.failed:
            return
        try:
            row, warning = self.time(worker, kernel, device.name, size, wgsize, self._time, name in self._checked)
        except InputError as error:  # the kernel is not suitable; other errors mean that something broke
            self.failed[name] = str(error)
        except NccError as error:
            self.failed[name] = f"{error} ({where}); larger sizes are left out"
        else:
            self._checked.add(name)
            self.warnings |= {name: warning} if warning else {}
            self.rows.setdefault(row.launch, row)  # several sizes may lead to the same launch
            self._done.add(row.key)
            if row.time_ms > 1e3 * self._time:
                took = f"takes {row.time_ms / 1e3:.2g} s {where}"
                self.failed[name] = f"kernel {kernel.name}: {took}; larger sizes are left out"

    def time(self, worker: Pool, kernel: KernelSource, *request: Any) -> tuple[MeasuredTime, str]:
        """Time a launch in a worker; see `time_launch`."""
        from ncc.kernels.measure.timing import time_launch  # needs pyopencl

        return worker.call(f"kernel {kernel.name}", time_launch, kernel, *request)


def _name(kernel: KernelSource, device: Device | None = None) -> str:
    return f"{kernel.file}: {kernel.name}{f' on {device.name}' if device else ''}"


@dataclass(frozen=True)
class Measurements(Summarized):
    """Result of `measure_kernels`.

    Attributes:
        table: Path of the table.
        num_rows: Number of its rows.
        num_kernels: Number of kernels that have rows.
        devices: Names of the devices that have rows.
        failed: File, kernel and device, or file → reason for missing rows.
        warnings: File, kernel and device → reason to distrust a kernel that was measured.
    """

    table: Path
    num_rows: int
    num_kernels: int
    devices: tuple[str, ...]
    failed: dict[str, str]
    warnings: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, with the table's path."""
        return asdict(self) | {"table": str(self.table)}

    def summary(self) -> Summary:
        """Return the table's size, and failures."""
        return Summary(
            verdict=pluralize(self.num_rows, "row"),
            interval=f"{pluralize(self.num_kernels, 'kernel')}, {pluralize(len(self.devices), 'device')}",
            subject=str(self.table),
            details=[
                (label, f"{where}: {reason.partition(COMMAND_LINE)[0]}".split("\n"))
                for label, reasons in (("failed", self.failed), ("caution", self.warnings))
                for where, reason in reasons.items()
            ],
        )
