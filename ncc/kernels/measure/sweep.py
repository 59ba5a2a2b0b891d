"""``ncc measure``, and the sweep that ``ncc calibrate`` shares: launches of kernels on devices, resumable.

Launches come in one of two orders. `by_size` goes kernel by kernel. `by_information` takes next what teaches most: log
times are a Gaussian process over sizes and what kernels do, with an effect of each kernel that no other shares.
Measuring a launch lowers the variance of the shared part everywhere, by an amount that does not depend on the time
found; the launch with the largest sum of that per second is next (active learning as Cohn 1996).
"""

import os
import re
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from ncc.arrays import Bools, Floats, Ints
from ncc.errors import InputError, NccError, check_positive
from ncc.kernels.measure.opencl import Device, choose_devices
from ncc.kernels.measure.sources import SHIPPED_KERNELS, KernelSource, find_kernels
from ncc.kernels.measure.table import MeasuredTable
from ncc.kernels.measure.timing import KernelTimer
from ncc.system.files.writing import check_writable

Report = Callable[[str], None]

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_SIZE = re.compile(r"\s*(\d{1,12})([KMG]?)\s*", re.IGNORECASE)
_SAVE_S = 20.0
_MAX_TIMERS = 8
# of the covariance of log times: variance of a kernel's own effect and of noise, lengths in log sizes and in features
_KERNEL_VARIANCE, _NOISE_VARIANCE = 0.3, 0.05
_SIZE_LENGTH, _CODE_LENGTH = 1.5, 1.0
_SETUP_S, _LAUNCH_S = 2.0, 0.5
"""What a new kernel and a launch are taken to cost before any was measured."""


def parse_sizes(sizes: str | Sequence[int], name: str = "sizes", max_size: int = 2**32) -> tuple[int, ...]:
    """Numbers of work-items from "1K:16M", in steps of 4, or "64,256"; K, M and G are powers of 1024."""
    if isinstance(sizes, str):
        separator = "," if "," in sizes else ":"
        matches = [_SIZE.fullmatch(part) for part in sizes.split(separator)]
        numbers = tuple(int(each[1]) * _UNITS[each[2].upper()] if each else 0 for each in matches)
        if separator == ":" and len(numbers) == 2:
            numbers = tuple(numbers[0] * 4**step for step in range(32) if 0 < numbers[0] * 4**step <= numbers[1])
        elif separator == ":" and len(numbers) > 1:
            numbers = ()
    else:
        numbers = tuple(sizes)
    if not numbers or not 1 <= min(numbers) <= max(numbers) <= max_size:
        raise InputError(
            f"{name} is {sizes!r}; expected whole numbers from 1 to {max_size:,}: a range such as 1K:16M, "
            "or a list such as 64,256"
        )
    return numbers


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
        kernels: Sequence[KernelSource],
        devices: Sequence[Device],
        table: MeasuredTable,
        sizes: Sequence[int],
        wgsizes: Sequence[int],
        *,
        seed: int,
        timeout_s: float,
        measurement_time: float,
        min_devices: int = 1,
    ) -> None:
        self.kernels, self.devices, self.table = kernels, list(devices), table
        self._min_devices, self._measurement_time = min_devices, measurement_time
        self._open = partial(KernelTimer, seed=seed, timeout_s=timeout_s, measurement_time=measurement_time)
        self._folder = table.path.parent.absolute()
        self.timers: OrderedDict[int, KernelTimer] = OrderedDict()  # by kernel, ready to measure
        self.points: list[Point] = []
        for index, kernel in enumerate(kernels):
            for size in sorted(set(sizes)):
                groups = {group: wgsize for wgsize in reversed(wgsizes) if (group := kernel.group(size, wgsize))}
                self.points += [Point(index, size, wgsize, group) for group, wgsize in reversed(groups.items())]
        if not self.points:
            raise InputError(f"no work-group of {list(wgsizes)} fits into any of {list(sizes)} work-items")
        ids = {(os.path.relpath(kernel.file, self._folder), kernel.name): kernel.source_id for kernel in kernels}
        table.drop_changed(ids)
        self._done = {row.key for row in table.rows}
        self._save_at = time.monotonic() + _SAVE_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for timer in self.timers.values():
            timer.close()
        self.table.save()

    def is_measured(self, point: Point, device: Device) -> bool:
        """Whether a launch was measured on a device."""
        kernel = self.kernels[point.kernel]
        return (kernel.source_id, kernel.name, device.name, point.size, point.group) in self._done

    def has_failed(self, point: Point, device: Device) -> bool:
        """Whether the kernel failed on a device, where no more launches are measured."""
        return f"{self.kernels[point.kernel].name} on {device.name}" in self.table.failed

    def missing(self, point: Point) -> list[Device]:
        """Devices on which a launch is still to be measured."""
        devices = [device for device in self.devices if not self.is_measured(point, device)]
        return [device for device in devices if not self.has_failed(point, device)]

    def run(self, order: Iterable[Point]) -> None:
        """Measure launches on the devices that miss them, until too few devices are left."""
        for point in order:
            if point.kernel not in self.timers:  # those used longest ago make room
                while len(self.timers) >= _MAX_TIMERS:
                    self.timers.popitem(last=False)[1].close()
                self.timers[point.kernel] = self._open(self.kernels[point.kernel], self._folder)
            self.timers.move_to_end(point.kernel)
            timer = self.timers[point.kernel]
            for device in self.missing(point):
                self._measure(point, device, timer)
            if time.monotonic() > self._save_at:
                self.table.save()
                self._save_at = time.monotonic() + _SAVE_S

    def _measure(self, point: Point, device: Device, timer: KernelTimer) -> None:
        kernel, failed = self.kernels[point.kernel], self.table.failed
        name, where = f"{kernel.name} on {device.name}", f"at {point.size:,} on {device.name}"
        try:
            row = timer.measure(device, point.size, point.wgsize)
        except InputError as error:
            failed[name] = str(error)
        except NccError as error:
            failed[name] = f"{error} ({where}); larger sizes are left out"
            if not timer.is_connected(device):
                failed[name] = f"{device.name} is gone; what was measured is kept"
                self.devices.remove(device)
                if len(self.devices) < self._min_devices:
                    raise NccError(
                        f"{device.name} is gone; {self.table.path} keeps {len(self.table.rows)} rows"
                    ) from error
        else:
            self.table.add(row)
            self._done |= {row.key, (kernel.source_id, kernel.name, device.name, point.size, point.group)}
            if row.time_ms > 1e3 * self._measurement_time:
                took = f"takes {row.time_ms / 1e3:.2g} s {where}"
                failed[name] = f"kernel {kernel.name}: {took}; larger sizes are left out"


def by_size(sweep: Sweep, end: float, report: Report) -> Iterator[Point]:
    """Take one kernel after the other, small sizes first; each has an equal part of the time until ``end``."""
    for index, kernel in enumerate(sweep.kernels):
        now, num_rows, failed = time.monotonic(), len(sweep.table.rows), set(sweep.table.failed)
        kernel_end = now + (end - now) / (len(sweep.kernels) - index)
        for point in sweep.points:
            if point.kernel == index and sweep.missing(point) and time.monotonic() <= kernel_end:
                yield point
        reasons = dict.fromkeys(reason for name, reason in sweep.table.failed.items() if name not in failed)
        line = f"{index + 1} of {len(sweep.kernels)}: {kernel.name}: {len(sweep.table.rows) - num_rows} rows"
        report("; ".join([line, *reasons]))


def by_information(sweep: Sweep, end: float, report: Report) -> Iterator[Point]:
    """Take the launch next that teaches most per second about all others, until ``end``."""
    points = sweep.points
    kernel = np.array([point.kernel for point in points])
    sizes = np.log(np.array([(point.size, point.wgsize) for point in points], np.float64))
    selector = LaunchSelector(sizes, np.array([sweep.kernels[index].features for index in kernel]), kernel)
    for launch, point in enumerate(points):
        if all(sweep.is_measured(point, device) for device in sweep.devices):
            selector.observe(launch)
    setup_s, launch_s = [_SETUP_S], defaultdict[int, list[float]](list)
    while time.monotonic() < end:
        missing = (sweep.missing(point) for point in points)
        failed = (any(sweep.has_failed(point, device) for device in sweep.devices) for point in points)
        is_open = np.array([bool(devices) and not has for devices, has in zip(missing, failed, strict=True)])
        if not is_open.any():
            return
        ready = np.array([index in sweep.timers for index in kernel])
        costs = np.array([np.mean(launch_s[point.size] or _LAUNCH_S) for point in points])
        launch = selector.next_launch(costs + np.mean(setup_s) * ~ready, is_open)
        selector.observe(launch)
        point, started = points[launch], time.monotonic()
        yield point
        (launch_s[point.size] if ready[launch] else setup_s).append(time.monotonic() - started)
        name, left = sweep.kernels[point.kernel].name, (end - time.monotonic()) / 60
        report(f"{len(sweep.table.rows)} rows, {left:.1f} min left: {name} at {point.size:,}")


class LaunchSelector:
    """Keeps what is not known yet of launches, and says which of them to measure."""

    def __init__(self, sizes: Floats, code: Floats, kernel: Ints) -> None:
        """Start from log sizes, (n, s), and features of kernels, (n, k), and indices of the kernels, (n,)."""
        self._shared = covariance(sizes, code)
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


def covariance(sizes: Floats, code: Floats) -> Floats:
    """Covariance, (n, n) float64, of launches by log sizes, (n, s), and features of their kernels, (n, k)."""
    near_sizes = np.exp(-0.5 * _squared_distances(sizes) / _SIZE_LENGTH**2)
    scaled = (code - code.mean(axis=0)) / np.where(np.ptp(code, axis=0) > 0, code.std(axis=0), np.inf)
    near_code = np.exp(-0.5 * _squared_distances(scaled) / (_CODE_LENGTH**2 * max(1, code.shape[1])))
    return near_sizes * (0.2 + 0.8 * near_code)


def _squared_distances(rows: Floats) -> Floats:
    squares = (rows**2).sum(axis=1)
    return np.maximum(squares[:, None] + squares[None, :] - 2 * rows @ rows.T, 0)


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
    budget: float | None = None,
    timeout: float = 30.0,
    measurement_time: float = 1.0,
    seed: int = 204,
    progress: Report | None = None,
) -> Measurements:
    """Time OpenCL kernels on your devices; run again with the same table to resume after a stop."""
    path = Path(output)
    grid = parse_sizes(sizes), parse_sizes(wgsize, "wgsize", 2**16)
    if path.suffix != ".parquet":
        raise InputError(f"{path}: expected a file that ends in .parquet")
    check_writable(path)
    check_positive(budget=budget, timeout=timeout, measurement_time=measurement_time)
    devices, table = choose_devices(device, progress), MeasuredTable.load(path)
    sources, failed = find_kernels([str(kernel) for kernel in kernels or [SHIPPED_KERNELS]])
    table.failed |= failed
    limits: dict[str, Any] = {"seed": seed, "timeout_s": timeout, "measurement_time": measurement_time}
    with Sweep(sources, devices, table, *grid, **limits) as sweep:
        end = time.monotonic() + (budget * 60 if budget else np.inf)
        sweep.run(by_size(sweep, end, progress or (lambda _line: None)))
        is_complete = not any(sweep.missing(point) for point in sweep.points)
    return Measurements(
        table=path,
        num_rows=len(table.rows),
        num_kernels=len({(row.source_id, row.kernel) for row in table.rows}),
        devices=tuple(dict.fromkeys(row.device for row in table.rows)),
        failed=dict(table.failed),
        is_complete=is_complete,
    )
