"""Runs a kernel in a worker process of its own, so that a failure affects only this kernel."""

import hashlib
import math
import os
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ncc.errors import CompileError, InputError, NccError
from ncc.ir.inputs import expand_inputs, load_module
from ncc.kernels.measure.arguments import read_rules, shape_of
from ncc.kernels.measure.opencl import Device, list_devices
from ncc.kernels.measure.table import MeasuredTime
from ncc.kernels.measure.timing import Job, run_job
from ncc.kernels.work import count_work
from ncc.system.files.reading import read_file
from ncc.system.workers.pool import Pool

SHIPPED_KERNELS = Path(__file__).parent / "kernels"
"""Folder of the kernels that ship, a file for each family."""

_EXTENSIONS = (".cl", ".ocl")


@dataclass(frozen=True)
class KernelSource:
    """A kernel to be measured.

    Attributes:
        file: Name of its file.
        name: Its own.
        source: OpenCL C of the file.
        dimensions: How many dimensions it asks for thread numbers of.
        family: The file's stem: kernels of one file are one family.
        features: What it does; see `ncc.kernels.work.FEATURE_NAMES`.
    """

    file: str
    name: str
    source: str
    dimensions: int
    family: str
    features: tuple[float, ...] = ()

    @property
    def source_id(self) -> str:
        """Of its file's text."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    def group(self, size: int, wgsize: int) -> int | None:
        """Work-items in a work-group at a size; None if none fits into it."""
        try:
            return math.prod(shape_of(self.name, read_rules(self.source), self.dimensions, size, wgsize).local)
        except InputError:
            return None


def find_kernels(inputs: list[str]) -> tuple[list[KernelSource], dict[str, str]]:
    """The kernels of files, folders and globs of OpenCL C, by the bundled clang.

    Returns:
        The kernels, and file → reason for files that have none.
    """
    kernels: list[KernelSource] = []
    failed: dict[str, str] = {}
    for item in expand_inputs(inputs):
        if item.name not in inputs and not item.name.endswith(_EXTENSIONS):
            continue
        try:
            if item.error:
                raise InputError(item.error)
            kernels += _kernels_of(item.name)
        except (CompileError, InputError) as error:
            failed[item.name] = str(error)
    return kernels, failed


def source_ids(kernels: list[KernelSource], folder: Path) -> dict[tuple[str, str], str]:
    """File, from a table's folder on, and name of each kernel → what its file's text is."""
    return {(os.path.relpath(one.file, folder.absolute()), one.name): one.source_id for one in kernels}


def _kernels_of(path: str) -> list[KernelSource]:
    if not path.endswith(_EXTENSIONS):
        raise InputError(f"{path}: not OpenCL C; expected a file that ends in .cl")
    source = read_file(path).decode("utf-8", "replace")
    module = load_module(path)
    read_rules(source)
    kernels = [number for number in range(module.num_functions) if module.function_is_kernel[number]]
    if not kernels:
        raise InputError(f"{path}: no kernel: expected a function marked __kernel")
    return [
        KernelSource(
            file=path,
            name=module.function_names[number],
            source=source,
            dimensions=_dimensions(count_work(module, number).dimensions),
            family=Path(path).stem,
            features=tuple(count_work(module, number).features().tolist()),
        )
        for number in kernels
    ]


def _dimensions(asked: Collection[str]) -> int:
    return 1 + max((int(one) for one in asked if one.isdecimal()), default=0)


class Bench:
    """One kernel and its worker; use it as a context manager.

    Attributes:
        kernel: The kernel.
        failed: Device → why it is not measured there (any more).
        gone: Devices that have vanished.
    """

    def __init__(self, kernel: KernelSource, folder: Path, *, seed: int, timeout_s: float, seconds: float) -> None:
        """Starts nothing yet.

        Args:
            kernel: The kernel.
            folder: That of the table, from which files are named.
            seed: Of its arguments.
            timeout_s: Time limit of a size on a device, compilation included.
            seconds: How long one is repeated at most.
        """
        self.kernel = kernel
        self._folder = folder.absolute()
        self.failed: dict[str, str] = {}
        self.gone: set[str] = set()
        self._seed, self._seconds = seed, seconds
        self._workers = Pool(seconds=timeout_s)
        self._checked: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._workers.close()

    def measure(self, device: Device, size: int, wgsize: int) -> MeasuredTime | None:
        """A row, or None where the kernel failed on the device, now or before; `failed` says why."""
        name = device.name
        if name in self.failed:
            return None
        job = Job(
            source=self.kernel.source,
            kernel=self.kernel.name,
            dimensions=self.kernel.dimensions,
            device=device.name,
            size=size,
            wgsize=wgsize,
            checked=device.name in self._checked,
            seed=self._seed,
            seconds=self._seconds,
        )
        began = time.monotonic()
        try:
            timing = self._workers.call(f"kernel {self.kernel.name}", run_job, job)
        except InputError as error:
            self.failed[name] = str(error)
        except NccError as error:
            self.failed[name] = f"{error} (at {size:,} on {device.name}); larger sizes are left out"
            self._look_for(device)
        else:
            self._checked.add(device.name)
            if timing.time_ms > 1e3 * self._seconds:
                took = f"takes {timing.time_ms / 1e3:.2g} s at {size:,} on {device.name}"
                self.failed[name] = f"kernel {self.kernel.name}: {took}; larger sizes are left out"
            return MeasuredTime(
                kernel_file=os.path.relpath(self.kernel.file, self._folder),
                kernel=self.kernel.name,
                device=device.name,
                **vars(timing),
                family=self.kernel.family,
                size=size,
                device_kind=device.kind,
                source_id=self.kernel.source_id,
                seconds=time.monotonic() - began,
            )
        return None

    def _look_for(self, device: Device) -> None:
        """Whether a device is still there, after it failed: asked in the worker, as the driver may end who asks."""
        try:
            there = device in self._workers.call("the list of devices", list_devices)
        except NccError:
            there = False
        if not there:
            self.gone.add(device.name)
            self.failed[device.name] = f"{device.name} is gone; what was measured is kept"
