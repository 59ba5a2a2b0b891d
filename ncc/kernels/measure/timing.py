"""Checks, then times one kernel on one device, in a separate worker process.

It must terminate, write something, write the same twice, and stay within its buffers, which have guard bands.

Reference: Cummins et al., Synthesizing Benchmarks for Predictive Modeling, CGO 2017, section 5.
"""

import math
import os
import time
from functools import cache, partial
from typing import Any

import numpy as np
import pyopencl as cl

from ncc.errors import InputError, NccError
from ncc.kernels.measure.arguments import Argument, NDRange, fill, read_annotations
from ncc.kernels.measure.opencl import compiler_error, open_device
from ncc.kernels.measure.sources import KernelSource
from ncc.kernels.measure.table import MeasuredTime
from ncc.system.files.text import format_bytes

_GUARD_BYTES = 4096
_SEED = 204
_MIN_RUNS, _MAX_RUNS = 3, 200
_RUNS_OF_INTERVAL = 7
"""Minimum number of runs for an interval of the median."""
_TARGET_RELATIVE_ERROR = 0.05
"""Relative half width of the median's interval at which to stop."""
_TOLERANCE = 1e-3
"""Tolerance of outputs that are sums in a different order."""


def time_launch(
    kernel: KernelSource, device: str, size: int, wgsize: int, measurement_time: float, is_checked: bool = False
) -> tuple[MeasuredTime, str]:
    """Time a kernel at a size, checked first unless it already was; also return a warning if it is unusual."""
    try:
        session = _open_session(kernel, device)
        nd_range = session.fit_range(size, wgsize)
        warning = "" if is_checked else session.check(nd_range)
        return session.time(nd_range, measurement_time), warning
    except cl.Error as error:
        raise NccError(f"kernel {kernel.name}: {device}: {error}") from error


class _Run:
    """Buffers on the device between guard bands, and their initial content."""

    def __init__(self, session: "_Session", nd_range: NDRange, seed: int = _SEED) -> None:
        self._session, self._nd_range = session, nd_range
        self.given: dict[int, np.ndarray] = {}
        self.parents: dict[int, Any] = {}
        self.buffers: dict[int, Any] = {}
        for index, argument in enumerate(session.arguments):
            if argument.space == "local":
                session.kernel.set_arg(index, cl.LocalMemory(argument.num_bytes(nd_range)))
                continue
            values = fill(argument, nd_range, np.random.default_rng((seed, index)))
            if argument.space != "private":
                self.given[index] = values
                size = values.nbytes + 2 * _GUARD_BYTES
                self.parents[index] = cl.Buffer(session.context, cl.mem_flags.READ_WRITE, size)
                self.buffers[index] = self.parents[index].get_sub_region(_GUARD_BYTES, values.nbytes)
            session.kernel.set_arg(index, self.buffers.get(index, values))
        written = [index for index in self.given if not session.arguments[index].is_const]
        self.written = {index: np.empty_like(self.given[index]) for index in written}

    def run(self) -> tuple[float, float, float]:
        """Copy to the device, run, copy back; milliseconds by the wall clock, of the kernel, of the copies."""
        queue, nd_range = self._session.queue, self._nd_range
        started = time.perf_counter()
        copy = partial(cl.enqueue_copy, queue, is_blocking=False)
        copies = [copy(self.buffers[index], values) for index, values in self.given.items()]
        launch = cl.enqueue_nd_range_kernel(queue, self._session.kernel, nd_range.global_size, nd_range.local_size)
        copies += [copy(values, self.buffers[index]) for index, values in self.written.items()]
        queue.finish()
        wall = time.perf_counter() - started
        kernel, *rest = [(event.profile.end - event.profile.start) * 1e-6 for event in (launch, *copies)]
        return wall * 1e3, kernel, sum(rest)

    def output(self, byte: int) -> dict[int, np.ndarray]:
        """Index of each argument → output of a run with guard bands of this byte."""
        queue, band = self._session.queue, np.full(_GUARD_BYTES, byte, np.uint8)
        after = np.empty_like(band)
        ends = {index: (0, _GUARD_BYTES + values.nbytes) for index, values in self.given.items()}
        bands = [(index, parent, offset) for index, parent in self.parents.items() for offset in ends[index]]
        for _, parent, offset in bands:
            cl.enqueue_copy(queue, parent, band, dst_offset=offset)
        self.run()
        for index, parent, offset in bands:
            cl.enqueue_copy(queue, after, parent, src_offset=offset)
            if (after != band).any():
                name = self._session.arguments[index].name
                raise InputError(f"kernel {self._session.name}: writes outside its buffer {name!r}")
        return {index: values.copy() for index, values in self.written.items()}


@cache
def _open_session(kernel: KernelSource, device: str) -> "_Session":
    # drops output of kernels and of the driver's compiler
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    return _Session(kernel, device)


class _Session:
    """A kernel compiled for a device."""

    def __init__(self, kernel: KernelSource, device: str) -> None:
        self.source, self.name, self.device_name = kernel, kernel.name, device
        self.device = open_device(device)
        self.context = cl.Context([self.device])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        try:
            program = cl.Program(self.context, kernel.source).build(["-cl-kernel-arg-info"])
            self.kernel = cl.Kernel(program, self.name)
        except cl.RuntimeError as error:
            reason = compiler_error(error)
            raise InputError(f"kernel {self.name}: {device} does not compile it: {reason}") from error
        annotations = read_annotations(kernel.source)
        spaces, info = cl.kernel_arg_address_qualifier, cl.kernel_arg_info
        names = {spaces.GLOBAL: "global", spaces.CONSTANT: "constant", spaces.LOCAL: "local"}
        self.arguments = []
        for index in range(self.kernel.num_args):
            name, type_name, space, qualifiers = (
                self.kernel.get_arg_info(index, field)
                for field in (info.NAME, info.TYPE_NAME, info.ADDRESS_QUALIFIER, info.TYPE_QUALIFIER)
            )
            space = names.get(space, "private")
            is_const = bool(qualifiers & cl.kernel_arg_type_qualifier.CONST) or space == "constant"
            self.arguments.append(Argument(self.name, name, type_name, space, is_const, annotations))
        for argument in self.arguments:
            _ = argument.element  # raises an error for impossible sizes

    def fit_range(self, size: int, wgsize: int) -> NDRange:
        """Work-items for a size, within the limits of the device."""
        nd_range = self.source.nd_range(size, wgsize)
        info = cl.kernel_work_group_info
        group = math.prod(nd_range.local_size)
        arguments = [argument for argument in self.arguments if argument.space != "private"]
        sizes = [(argument.space, argument.num_bytes(nd_range)) for argument in arguments]
        buffers, device = [0, *(num for space, num in sizes if space != "local")], self.device
        local = sum(num for space, num in sizes if space == "local")
        max_group = self.kernel.get_work_group_info(info.WORK_GROUP_SIZE, device)
        limits = (
            (group, max_group, "work-items in a work-group", str),
            (local, device.local_mem_size, "of local memory", format_bytes),
            (max(buffers), device.max_mem_alloc_size - 2 * _GUARD_BYTES, "in a buffer", format_bytes),
            (2 * sum(buffers), device.global_mem_size, "of memory", format_bytes),
        )
        for needed, limit, noun, display in limits:
            if needed > limit:
                needs = f"needs {display(needed)} {noun} at {size:,}"
                raise InputError(f"kernel {self.name}: {needs}; {self.device_name} has {display(limit)}")
        return nd_range

    def check(self, nd_range: NDRange) -> str:
        """Refuse a kernel that can't be timed; return a warning if its output does not depend on its input."""
        run = _Run(self, nd_range)
        first = run.output(0x5A)
        written = {index: values != run.given[index] for index, values in first.items()}
        if not any(changed.any() for changed in written.values()):
            raise InputError(f"kernel {self.name}: writes no output")
        if not _agree(first, run.output(0x5A)):
            raise InputError(f"kernel {self.name}: is not deterministic: its output differs for the same input")
        if not _agree(first, run.output(0xA5)):
            raise InputError(f"kernel {self.name}: reads outside its buffers")
        other = _Run(self, nd_range, _SEED + 1)
        second = other.output(0x5A)
        touched = {index: changed | (second[index] != other.given[index]) for index, changed in written.items()}
        is_same = all((first[index][where] == second[index][where]).all() for index, where in touched.items())
        return f"kernel {self.name}: its output does not depend on its input" if is_same else ""

    def time(self, nd_range: NDRange, measurement_time: float) -> MeasuredTime:
        """Repeat until the interval of the median is narrow, or the time is up."""
        run = _Run(self, nd_range)
        run.output(0x5A)  # also warms up
        rows: list[tuple[float, float, float]] = []
        end = time.monotonic() + measurement_time
        while len(rows) < _MAX_RUNS:
            rows.append(run.run())
            wall = sorted(row[0] for row in rows)
            # the median's 95% interval, by order statistics; the whole range if there are too few runs
            rank = max(0, math.floor((len(wall) - 1.96 * math.sqrt(len(wall))) / 2) - 1)
            low, high = wall[rank], wall[-1 - rank]
            is_narrow = high - low <= 2 * _TARGET_RELATIVE_ERROR * np.median(wall)
            if (is_narrow and len(rows) >= _RUNS_OF_INTERVAL) or (len(rows) >= _MIN_RUNS and time.monotonic() >= end):
                break
        time_ms, kernel_ms, transfer_ms = np.median(np.array(rows), axis=0).tolist()
        return MeasuredTime(
            kernel_file=self.source.file,
            kernel=self.name,
            device=self.device_name,
            global_size=math.prod(nd_range.global_size),
            local_size=math.prod(nd_range.local_size),
            transfer_bytes=sum(values.nbytes for values in (*run.given.values(), *run.written.values())),
            time_ms=time_ms,
            kernel_ms=kernel_ms,
            transfer_ms=transfer_ms,
            time_low=low,
            time_high=high,
            family=self.source.family,
            size=nd_range.requested_size,
            source_id=self.source.source_id,
        )


def _agree(left: dict[int, np.ndarray], right: dict[int, np.ndarray]) -> bool:
    """Whether two outputs are equal, floating-point numbers up to the order of sums."""
    return all(
        np.allclose(values, right[index], rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
        if np.issubdtype(values.dtype, np.floating)
        else np.array_equal(values, right[index])
        for index, values in left.items()
    )
