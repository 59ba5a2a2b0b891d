"""``ncc measure``, and the sweep that ``ncc calibrate`` shares: launches of kernels on devices, resumable.

`measure_kernels` goes kernel by kernel. `measure_informative` takes next what teaches most: log times are a Gaussian
process over sizes and what kernels do, with an effect of each kernel that no other shares. Measuring a launch lowers
the variance of the shared part everywhere, by an amount that does not depend on the time found; the launch with the
largest sum of that per second is next (active learning as Cohn 1996).
"""

import os
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from ncc.arrays import Bools, Floats, Ints
from ncc.errors import InputError, NccError, check_positive
from ncc.kernels.measure.opencl import Device, choose_devices
from ncc.kernels.measure.sources import SHIPPED_KERNELS, find_kernels
from ncc.kernels.measure.table import MeasuredTime, load_rows, save_rows
from ncc.kernels.measure.timing import time_launch
from ncc.system.files.text import parse_items
from ncc.system.files.writing import check_writable
from ncc.system.workers.pool import Pool

Report = Callable[[str], None]

_SAVE_S = 20.0
_MAX_WORKERS = 8
# of the covariance of log times: variance of a kernel's own effect and of noise, lengths in log sizes and in features
_KERNEL_VARIANCE, _NOISE_VARIANCE = 0.3, 0.05
_SIZE_LENGTH, _CODE_LENGTH = 1.5, 1.0
_SETUP_S, _LAUNCH_S = 2.0, 0.5
"""What a new kernel and a launch are taken to cost before any was measured."""


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


class Point(NamedTuple):
    """A launch: the kernel's index, work-items and those of a group as asked for, and those of a group as they come."""

    kernel: int
    size: int
    wgsize: int
    group: int


class Sweep:
    """Kernels that are measured on devices, into a table that may have some of them; use it as a context manager."""

    def __init__(
        self,
        kernels: Sequence[str | Path] | None,
        devices: Sequence[Device],
        path: Path,
        sizes: Sequence[int],
        wgsizes: Sequence[int],
        *,
        measurement_time: float,
        timeout_s: float = 30.0,
    ) -> None:
        found, self.failed = find_kernels([str(kernel) for kernel in kernels or [SHIPPED_KERNELS]])
        self.kernels = [replace(kernel, file=os.path.relpath(kernel.file, path.parent)) for kernel in found]
        self.devices, self.path, self._time, self._timeout_s = devices, path, measurement_time, timeout_s
        self.workers: OrderedDict[int, Pool] = OrderedDict()  # by kernel, those used last at the end
        self.points: list[Point] = []
        for index, kernel in enumerate(self.kernels):
            for size in sorted(set(sizes)):
                groups = {group: wgsize for wgsize in reversed(wgsizes) if (group := kernel.group(size, wgsize))}
                self.points += [Point(index, size, wgsize, group) for group, wgsize in reversed(groups.items())]
        if not self.points:
            raise InputError(f"no work-group of {list(wgsizes)} fits into any of {list(sizes)} work-items")
        ids = {(kernel.file, kernel.name): kernel.source_id for kernel in self.kernels}
        rows = load_rows(path)  # but not those of kernels whose files have changed since
        self.rows = {row.launch: row for row in rows if ids.get(row.launch[:2], row.source_id) == row.source_id}
        self._done = {row.key for row in self.rows.values()}
        self._checked: set[tuple[int, str]] = set()
        self._save_at = time.monotonic() + _SAVE_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pool in self.workers.values():
            pool.close()
        save_rows(self.path, list(self.rows.values()))

    def _key(self, point: Point, device: Device) -> tuple[str, str, str, int, int]:
        kernel = self.kernels[point.kernel]
        return kernel.source_id, kernel.name, device.name, point.size, point.group

    def has_failed(self, point: Point, device: Device) -> bool:
        """Whether the kernel failed on a device, where no more launches are measured."""
        return f"{self.kernels[point.kernel].name} on {device.name}" in self.failed

    def missing(self, point: Point) -> list[Device]:
        """Devices on which a launch was not measured yet."""
        return [device for device in self.devices if self._key(point, device) not in self._done]

    def measure(self, point: Point) -> None:
        """Measure a launch on the devices that miss it."""
        if point.kernel not in self.workers:
            while len(self.workers) >= _MAX_WORKERS:
                self.workers.popitem(last=False)[1].close()
            self.workers[point.kernel] = Pool(seconds=self._timeout_s)
        self.workers.move_to_end(point.kernel)
        for device in self.missing(point):
            if not self.has_failed(point, device):
                self._measure(point, device)
        if time.monotonic() > self._save_at:
            save_rows(self.path, list(self.rows.values()))
            self._save_at = time.monotonic() + _SAVE_S

    def _measure(self, point: Point, device: Device) -> None:
        kernel = self.kernels[point.kernel]
        name, where = f"{kernel.name} on {device.name}", f"at {point.size:,} on {device.name}"
        try:
            row = self.time(point, device)
        except InputError as error:
            self.failed[name] = str(error)
        except NccError as error:
            self.failed[name] = f"{error} ({where}); larger sizes are left out"
        else:
            self.rows.setdefault(row.launch, row)  # several sizes may come to the same launch
            self._done |= {row.key, self._key(point, device)}
            if row.time_ms > 1e3 * self._time:
                took = f"takes {row.time_ms / 1e3:.2g} s {where}"
                self.failed[name] = f"kernel {kernel.name}: {took}; larger sizes are left out"

    def time(self, point: Point, device: Device) -> MeasuredTime:
        """Time a launch; an InputError says that the kernel does not suit, another NccError that something broke."""
        kernel, is_checked = self.kernels[point.kernel], (point.kernel, device.name) in self._checked
        request = (kernel, device.name, point.size, point.wgsize, self._time, is_checked)
        row = self.workers[point.kernel].call(f"kernel {kernel.name}", time_launch, *request)
        self._checked.add((point.kernel, device.name))
        return row


def measure_informative(sweep: Sweep, end: float, report: Report) -> None:
    """Measure the launch next that teaches most per second about all others, until ``end``."""
    points = sweep.points
    kernel = np.array([point.kernel for point in points])
    sizes = np.log(np.array([(point.size, point.wgsize) for point in points], np.float64))
    selector = LaunchSelector(sizes, np.array([sweep.kernels[index].features for index in kernel]), kernel)
    for launch, point in enumerate(points):
        if not sweep.missing(point):
            selector.observe(launch)
    setup_s, launch_s = [_SETUP_S], defaultdict[int, list[float]](list)
    while time.monotonic() < end:
        failed = [any(sweep.has_failed(point, device) for device in sweep.devices) for point in points]
        is_open = np.array([bool(sweep.missing(point)) for point in points]) & ~np.array(failed)
        if not is_open.any():
            return
        ready = np.array([index in sweep.workers for index in kernel])
        costs = np.array([np.mean(launch_s[point.size] or _LAUNCH_S) for point in points])
        launch = selector.next_launch(costs + np.mean(setup_s) * ~ready, is_open)
        selector.observe(launch)
        point, started = points[launch], time.monotonic()
        sweep.measure(point)
        (launch_s[point.size] if ready[launch] else setup_s).append(time.monotonic() - started)
        name, left = sweep.kernels[point.kernel].name, (end - time.monotonic()) / 60
        report(f"{len(sweep.rows)} rows, {left:.1f} min left: {name} at {point.size:,}")


class LaunchSelector:
    """Keeps what is not known yet of launches, and says which of them to measure."""

    def __init__(self, sizes: Floats, code: Floats, kernel: Ints) -> None:
        """Start from log sizes, (n, s), and features of kernels, (n, k), and indices of the kernels, (n,)."""
        scaled = (code - code.mean(axis=0)) / np.where(np.ptp(code, axis=0) > 0, code.std(axis=0), np.inf)
        near = _correlation(scaled, _CODE_LENGTH * max(1, code.shape[1]) ** 0.5)
        self._shared = _correlation(sizes, _SIZE_LENGTH) * (0.2 + 0.8 * near)
        self._whole = self._shared + _KERNEL_VARIANCE * (kernel[:, None] == kernel[None, :])

    def next_launch(self, seconds: Floats, is_open: Bools) -> int:
        """The open launch, (n,) bool, that teaches most per second, (n,) float64."""
        gain = (self._shared**2).sum(axis=0) / (np.diag(self._whole) + _NOISE_VARIANCE)
        return int(np.argmax(np.where(is_open, gain / seconds, -1.0)))

    def observe(self, launch: int) -> None:
        """Count a launch as measured."""
        weight = self._whole[launch] / (self._whole[launch, launch] + _NOISE_VARIANCE)
        self._shared = self._shared - np.outer(self._shared[:, launch], weight)
        self._whole = self._whole - np.outer(self._whole[:, launch], weight)


def _correlation(rows: Floats, length: float) -> Floats:
    """Of rows, (n, k), by their distance: (n, n) float64."""
    squares = (rows**2).sum(axis=1)
    return np.exp(-0.5 * np.maximum(squares[:, None] + squares[None, :] - 2 * rows @ rows.T, 0) / length**2)


@dataclass(frozen=True)
class Measurements:
    """What `measure_kernels` found.

    Attributes:
        table: The file.
        num_rows: Rows in it.
        num_kernels: Kernels that have rows.
        devices: Names of the devices that have rows.
        failed: Kernel and device, or file → why there are no rows, or none of larger sizes.
    """

    table: Path
    num_rows: int
    num_kernels: int
    devices: tuple[str, ...]
    failed: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The fields by their names, the table by its path."""
        return asdict(self) | {"table": str(self.table)}

    def to_text(self) -> str:
        """A line, and one more for each failure."""
        head = f"{self.table}: {self.num_rows} rows, {self.num_kernels} kernels, {len(self.devices)} devices"
        return "\n".join([head, *(f"  {where}: {reason}" for where, reason in self.failed.items())])


def measure_kernels(
    kernels: Sequence[str | Path],
    output: str | Path,
    *,
    device: Sequence[str] | None = None,
    sizes: str | Sequence[int] = "1K:16M",
    wgsize: str | Sequence[int] = "64,256",
    timeout: float = 30.0,
    measurement_time: float = 1.0,
    progress: Report | None = None,
) -> Measurements:
    """Time OpenCL kernels on your devices; run again with the same table to resume after a stop."""
    path = Path(output)
    grid = parse_sizes(sizes), parse_sizes(wgsize, "wgsize", 2**16)
    if path.suffix != ".parquet":
        raise InputError(f"{path}: expected a file that ends in .parquet")
    check_writable(path)
    check_positive(timeout=timeout, measurement_time=measurement_time)
    devices = choose_devices(device, progress)
    with Sweep(kernels, devices, path, *grid, measurement_time=measurement_time, timeout_s=timeout) as sweep:
        for index, kernel in enumerate(sweep.kernels):
            num_rows, failed = len(sweep.rows), set(sweep.failed)
            for point in sweep.points:
                if point.kernel == index:
                    sweep.measure(point)
            if progress:
                reasons = dict.fromkeys(reason for name, reason in sweep.failed.items() if name not in failed)
                line = f"{index + 1} of {len(sweep.kernels)}: {kernel.name}: {len(sweep.rows) - num_rows} rows"
                progress("; ".join([line, *reasons]))
    rows = sweep.rows.values()
    return Measurements(
        table=path,
        num_rows=len(rows),
        num_kernels=len({(row.source_id, row.kernel) for row in rows}),
        devices=tuple(dict.fromkeys(row.device for row in rows)),
        failed=sweep.failed,
    )
