"""One kernel on one device, in a worker process of its own: checked first, then timed.

Whether a kernel is worth timing is asked as by Cummins et al.: it ends, writes something, does so the same way twice,
otherwise for other input, and stays within its buffers, which lie between guard bands.

Reference: Cummins et al., Synthesizing Benchmarks for Predictive Modeling, CGO 2017, section 5.
"""

import hashlib
import math
import os
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from ncc.arrays import Floats
from ncc.errors import CompileError, InputError, NccError
from ncc.ir.frontend.scopes import Scopes
from ncc.ir.inputs import find_inputs, load_module
from ncc.kernels.measure.arguments import Argument, Shape, fill, local_bytes, num_bytes, read_rules, shape_of
from ncc.kernels.measure.opencl import Device, list_devices, open_device, refusal, without_messages
from ncc.kernels.measure.table import MeasuredTime
from ncc.kernels.work import count_work
from ncc.system.files.reading import read_input
from ncc.system.files.text import format_bytes
from ncc.system.workers.pool import Pool

_GUARD = 4096
_FEWEST, _MOST = 3, 200
_ENOUGH = 7
_TOLERANCE = 1e-3
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KERNEL = re.compile(r"\b(?:__)?kernel\b")


@dataclass(frozen=True)
class Job:
    """What a worker is asked for.

    Attributes:
        source: OpenCL C.
        kernel: Name of the kernel in it.
        dimensions: How many the kernel asks for thread numbers of.
        device: Name of the device.
        size: Work-items, or what the kernel's rules make of it.
        wgsize: Work-items of a work-group, likewise.
        checked: Whether the kernel was found to be good before.
        seed: Of its arguments.
        seconds: How long to repeat, where the interval stays wide.
        precision: Half the interval of the median over the median, at which to stop.
    """

    source: str
    kernel: str
    dimensions: int
    device: str
    size: int
    wgsize: int
    checked: bool = False
    seed: int = 204
    seconds: float = 1.0
    precision: float = 0.05


@dataclass(frozen=True)
class Timing:
    """Medians over repeats, in milliseconds.

    Attributes:
        global_size: Work-items.
        local_size: Of a work-group.
        transfer_bytes: Bytes to the device and back.
        time_ms: Wall-clock time of transfers and kernel.
        kernel_ms: The kernel's own, by the driver's clock.
        transfer_ms: That of the transfers, likewise.
        time_low: Lower end of the 95 % interval of `time_ms`.
        time_high: Upper end.
    """

    global_size: int
    local_size: int
    transfer_bytes: int
    time_ms: float
    kernel_ms: float
    transfer_ms: float
    time_low: float
    time_high: float


def median_interval(values: Floats) -> tuple[float, float]:
    """The 95 % interval of a median, by order statistics; all of the range where there are too few for one.

    Examples:
        >>> median_interval(np.arange(1.0, 12.0))
        (2.0, 10.0)
    """
    ordered = np.sort(values)
    rank = max(0, math.floor((len(ordered) - 1.96 * math.sqrt(len(ordered))) / 2) - 1)
    return float(ordered[rank]), float(ordered[-1 - rank])


def run_job(job: Job) -> Timing:
    """Times a kernel at a size, after checking it unless that is done."""
    import pyopencl as cl

    try:
        session = _session(job.source, job.kernel, job.device)
        shape = session.shape(job)
        if not job.checked:
            session.check(shape, job.seed)
        return session.time(shape, job)
    except cl.MemoryError as error:
        raise InputError(
            f"kernel {job.kernel}: does not fit into the memory of {job.device} at {job.size:,}"
        ) from error
    except cl.Error as error:
        open_device(job.device)
        raise NccError(f"kernel {job.kernel}: {job.device}: {error}") from error


def without_other_kernels(source: str, kernel: str) -> str:
    """A source of which one kernel is left, with all that is not a kernel, on the lines that they were on."""
    parts, at = [], 0
    text = _COMMENTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)
    for block in Scopes(text).functions():
        begins = _KERNEL.search(block.header)
        if begins and block.name != kernel:
            begin, end = block.begin + begins.start(), block.close + 1
            parts += [text[at:begin], re.sub(r"[^\n]", " ", text[begin:end])]
            at = end
    return "".join([*parts, text[at:]])


@cache
def _session(source: str, kernel: str, device: str) -> "_Session":
    return _Session(source, kernel, device)


class _Run:
    """Buffers on the device between guard bands, and what they hold at first."""

    def __init__(self, session: "_Session", shape: Shape, seed: int) -> None:
        import pyopencl as cl

        self._session, self._shape = session, shape
        self.given: dict[int, np.ndarray] = {}
        self.parents: dict[int, Any] = {}
        self.buffers: dict[int, Any] = {}
        for number, argument in enumerate(session.arguments):
            rng = np.random.default_rng((seed, number))
            if argument.space == "local":
                size = num_bytes(argument, session.rules, shape)
                session.kernel.set_arg(number, cl.LocalMemory(size))
                continue
            values = fill(argument, session.rules, shape, rng)
            if argument.space == "private":
                session.kernel.set_arg(number, values)
                continue
            self.given[number] = values
            parent = cl.Buffer(session.context, cl.mem_flags.READ_WRITE, values.nbytes + 2 * _GUARD)
            self.parents[number] = parent
            self.buffers[number] = parent.get_sub_region(_GUARD, values.nbytes)
            session.kernel.set_arg(number, self.buffers[number])
        self.written = {
            number: np.empty_like(values)
            for number, values in self.given.items()
            if not session.arguments[number].is_const
        }

    @property
    def transfer_bytes(self) -> int:
        """Bytes to the device and back."""
        return sum(values.nbytes for both in (self.given, self.written) for values in both.values())

    def guard(self, byte: int) -> None:
        """Writes the guard bands."""
        import pyopencl as cl

        band = np.full(_GUARD, byte, np.uint8)
        for number, parent in self.parents.items():
            for offset in (0, _GUARD + self.given[number].nbytes):
                cl.enqueue_copy(self._session.queue, parent, band, dst_offset=offset)

    def trespassed(self, byte: int) -> str | None:
        """Name of an argument around which the kernel wrote."""
        import pyopencl as cl

        band = np.empty(_GUARD, np.uint8)
        for number, parent in self.parents.items():
            for offset in (0, _GUARD + self.given[number].nbytes):
                cl.enqueue_copy(self._session.queue, band, parent, src_offset=offset)
                if (band != byte).any():
                    return self._session.arguments[number].name
        return None

    def run(self) -> tuple[float, float, float]:
        """Copies to the device, runs, copies back; milliseconds by the wall clock, of the kernel, of the copies."""
        import pyopencl as cl

        queue = self._session.queue
        began = time.perf_counter()
        copies = [
            cl.enqueue_copy(queue, self.buffers[number], values, is_blocking=False)
            for number, values in self.given.items()
        ]
        ran = cl.enqueue_nd_range_kernel(queue, self._session.kernel, self._shape.items, self._shape.local)
        copies += [
            cl.enqueue_copy(queue, values, self.buffers[number], is_blocking=False)
            for number, values in self.written.items()
        ]
        queue.finish()
        wall = time.perf_counter() - began
        kernel, *rest = [(event.profile.end - event.profile.start) * 1e-6 for event in (ran, *copies)]
        return wall * 1e3, kernel, sum(rest)

    def output(self, guard: int) -> dict[int, np.ndarray]:
        """What a run between guard bands of this byte writes."""
        self.guard(guard)
        self.run()
        outside = self.trespassed(guard)
        if outside is not None:
            raise InputError(f"kernel {self._session.name}: writes outside its buffer {outside!r}")
        return {number: values.copy() for number, values in self.written.items()}


class _Session:
    """A kernel that a device has compiled."""

    def __init__(self, source: str, kernel: str, device: str) -> None:
        import pyopencl as cl

        self.name = kernel
        self.device = open_device(device)
        self.context = cl.Context([self.device])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        try:
            self.kernel = self._build(source)
        except cl.RuntimeError:
            try:
                self.kernel = self._build(without_other_kernels(source, kernel))  # one of which may be to blame
            except cl.RuntimeError as error:
                raise InputError(f"kernel {kernel}: {device} does not compile it: {refusal(error)}") from error
        self.rules = read_rules(source)
        spaces, info = cl.kernel_arg_address_qualifier, cl.kernel_arg_info
        names = {spaces.GLOBAL: "global", spaces.CONSTANT: "constant", spaces.LOCAL: "local"}

        def ask(number: int) -> Callable[[Any], Any]:
            return lambda what: self.kernel.get_arg_info(number, what)

        self.arguments = [
            Argument(
                kernel=kernel,
                name=of(info.NAME),
                type_name=of(info.TYPE_NAME),
                space=names.get(of(info.ADDRESS_QUALIFIER), "private"),
                is_const=bool(of(info.TYPE_QUALIFIER) & cl.kernel_arg_type_qualifier.CONST)
                or of(info.ADDRESS_QUALIFIER) == spaces.CONSTANT,
            )
            for of in map(ask, range(self.kernel.num_args))
        ]
        for argument in self.arguments:
            _ = argument.element  # which refuses what can't be made

    def _build(self, source: str) -> Any:
        import pyopencl as cl

        with without_messages():
            return cl.Kernel(cl.Program(self.context, source).build(["-cl-kernel-arg-info"]), self.name)

    def shape(self, job: Job) -> Shape:
        """Work-items for a job."""
        import pyopencl as cl

        shape = shape_of(self.name, self.rules, job.dimensions, job.size, job.wgsize)
        of_kernel = cl.kernel_work_group_info
        fixed = tuple(self.kernel.get_work_group_info(of_kernel.COMPILE_WORK_GROUP_SIZE, self.device))
        if any(fixed):
            local = fixed[: len(shape.local)]
            items = tuple(one // group * group for one, group in zip(shape.items, local, strict=True))
            shape = Shape(items, local, shape.asked)
        group = math.prod(shape.local)
        most = self.kernel.get_work_group_info(of_kernel.WORK_GROUP_SIZE, self.device)
        sizes = [num_bytes(one, self.rules, shape) for one in self.arguments if one.space in ("global", "constant")]
        shared = local_bytes(self.arguments, self.rules, shape)
        limits = (
            (group, most, "work-items in a work-group", str),
            (shared, self.device.local_mem_size, "of local memory", format_bytes),
            (max(sizes, default=0), self.device.max_mem_alloc_size - 2 * _GUARD, "in a buffer", format_bytes),
            (2 * sum(sizes), self.device.global_mem_size, "of memory", format_bytes),
        )
        for needs, has, what, shown in limits:
            if needs > has:
                raise InputError(
                    f"kernel {self.name}: needs {shown(needs)} {what} at {job.size:,}; {job.device} has {shown(has)}"
                )
        if not all(shape.items):
            raise InputError(f"kernel {self.name}: a work-group of {group} does not fit into {job.size:,} work-items")
        return shape

    def check(self, shape: Shape, seed: int) -> None:
        """Refuses a kernel that is nothing to be timed."""
        one = _Run(self, shape, seed)
        first = one.output(0x5A)
        written = {number: first[number] != one.given[number] for number in first}
        if not any(changed.any() for changed in written.values()):
            raise InputError(f"kernel {self.name}: writes no output")
        if not _same(first, one.output(0x5A)):
            raise InputError(f"kernel {self.name}: gives other output for the same input; it is not deterministic")
        if not _same(first, one.output(0xA5)):
            raise InputError(f"kernel {self.name}: reads outside its buffers")
        other = _Run(self, shape, seed + 1)
        second = other.output(0x5A)
        touched = {number: changed | (second[number] != other.given[number]) for number, changed in written.items()}
        if all((first[number][where] == second[number][where]).all() for number, where in touched.items()):
            raise InputError(f"kernel {self.name}: gives the same output for other input; it does not depend on it")

    def time(self, shape: Shape, job: Job) -> Timing:
        """Repeats until the interval of the median is narrow, or the time is up."""
        run = _Run(self, shape, job.seed)
        run.output(0x5A)  # which warms up, too
        rows: list[tuple[float, float, float]] = []
        end = time.monotonic() + job.seconds
        while len(rows) < _MOST:
            rows.append(run.run())
            wall = np.array([row[0] for row in rows])
            low, high = median_interval(wall)
            narrow = len(rows) >= _ENOUGH and high - low <= 2 * job.precision * np.median(wall)
            if narrow or (len(rows) >= _FEWEST and time.monotonic() >= end):
                break
        wall_ms, kernel_ms, transfer_ms = np.median(np.array(rows), axis=0).tolist()
        return Timing(
            math.prod(shape.items),
            math.prod(shape.local),
            run.transfer_bytes,
            wall_ms,
            kernel_ms,
            transfer_ms,
            low,
            high,
        )


def _same(one: dict[int, np.ndarray], other: dict[int, np.ndarray]) -> bool:
    """Whether two outputs agree, floating-point numbers but for the order of sums."""
    return all(
        np.allclose(one[number], other[number], rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
        if np.issubdtype(one[number].dtype, np.floating)
        else np.array_equal(one[number], other[number])
        for number in one
    )


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
    """The kernels of files, folders and globs of OpenCL C, by the bundled clang."""
    kernels: list[KernelSource] = []
    failed: dict[str, str] = {}
    for item in find_inputs(inputs):
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
    source = read_input(path).decode("utf-8", "replace")
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
        """Starts nothing yet."""
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
