"""The machine's OpenCL devices, by the names that tables and commands use."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from ncc.errors import InputError, NccError

_WHAT_TO_INSTALL = (
    "a CPU needs PoCL (in ncc's checkout, pip install -c constraints.txt '.[measure]'; or Debian's pocl-opencl-icd), "
    "a GPU its vendor's driver "
    "(intel-opencl-icd, mesa-opencl-icd, nvidia-opencl-icd, rocm-opencl-icd)"
)
_NEW_PROCESSOR = (
    "the processor is newer than this PoCL's LLVM: get another PoCL, as by 'apt install pocl-opencl-icd' or "
    "'conda install -c conda-forge pocl', or another driver for CPUs"
)
_PLACE = re.compile(r"\S+\.cl:(\d+):\d+: ")
"""Where an error is: in a copy of the source, of a name that its user does not know."""
_TRIVIAL = "__kernel void fill(__global int *a) { a[get_global_id(0)] = 0; }"


@dataclass(frozen=True)
class Device:
    """An OpenCL device.

    Attributes:
        name: The driver's name for it, with a number where several have the same.
        kind: "CPU", "GPU" or "other".
        platform: The driver.
        compute_units: Number of compute units.
        max_wgsize: Most work-items in a work-group.
        memory_bytes: Global memory.
        local_bytes: Local memory of a work-group.
    """

    name: str
    kind: str
    platform: str
    compute_units: int
    max_wgsize: int
    memory_bytes: int
    local_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """The fields by their names."""
        return asdict(self)


def _handles() -> dict[Device, Any]:
    """Device → pyopencl's object for it."""
    os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    # a thread of PoCL for each core, or both may share one by chance while others are busy: half the speed, or twice
    os.environ.setdefault("POCL_AFFINITY", "1")
    try:
        import pyopencl as cl
    except ImportError as error:
        raise NccError(f"devices are measured with pyopencl, which is missing: {_WHAT_TO_INSTALL}") from error
    try:
        found = [handle for platform in cl.get_platforms() for handle in platform.get_devices()]
    except cl.Error:  # no driver, or one without devices
        found = []
    kinds = {cl.device_type.CPU: "CPU", cl.device_type.GPU: "GPU"}
    times: Counter[str] = Counter()
    handles = {}
    for handle in found:
        name = " ".join(handle.name.split())
        times[name] += 1
        described = Device(
            name=name if times[name] == 1 else f"{name} #{times[name]}",
            kind=next((kind for flag, kind in kinds.items() if handle.type & flag), "other"),
            platform=" ".join(handle.platform.name.split()),
            compute_units=handle.max_compute_units,
            max_wgsize=handle.max_work_group_size,
            memory_bytes=handle.global_mem_size,
            local_bytes=handle.local_mem_size,
        )
        handles[described] = handle
    return handles


def list_devices() -> list[Device]:
    """Lists the OpenCL devices that the installed drivers offer, like ``ncc devices``.

    Raises:
        NccError: The package pyopencl is missing, or no driver shows a device.
    """
    devices = list(_handles())
    if not devices:
        raise NccError(f"no OpenCL driver shows a device: {_WHAT_TO_INSTALL}")
    return devices


def choose_devices(names: Sequence[str] | None, progress: Callable[[str], None] | None = None) -> list[Device]:
    """Devices by number in the list, from 1, or by part of their names; None for all that compile anything.

    Raises:
        InputError: A name fits no device or several, or two name the same.
        NccError: There are no devices, or one that is named, or all, compile nothing.
    """
    devices = list_devices()
    if names is None:
        return _those_that_compile(devices, progress)
    chosen: list[Device] = []
    for name in names:
        fitting = [one for one in devices if name == one.name]
        fitting = fitting or [one for number, one in enumerate(devices, 1) if name == str(number)]
        fitting = fitting or [one for one in devices if name.lower() in one.name.lower()]
        if len(fitting) != 1:
            all_names = ", ".join(f"{number}: {one.name}" for number, one in enumerate(devices, 1))
            raise InputError(f"device {name!r} fits {len(fitting)} of the devices here ({all_names}); expected one")
        if fitting[0] in chosen:
            raise InputError(f"device {name!r} is {fitting[0].name}, which was named before")
        chosen += fitting
    return [_compiling(one) for one in chosen]


def _those_that_compile(devices: Sequence[Device], progress: Callable[[str], None] | None) -> list[Device]:
    chosen, failed = [], []
    for device in devices:
        try:
            chosen.append(_compiling(device))
        except NccError as error:
            failed.append(error)
    if not chosen:
        raise failed[0]
    if progress:
        for reason in failed:
            progress(f"passed over: {reason}")
    return chosen


def _compiling(device: Device) -> Device:
    """The same device, if it compiles anything at all."""
    import pyopencl as cl

    try:
        cl.Program(cl.Context([open_device(device.name)]), _TRIVIAL).build()
    except cl.Error as error:
        raise NccError(f"{device.name} compiles no OpenCL C at all: {refusal(error)}") from error
    return device


def refusal(error: Exception) -> str:
    """What a compiler said, in one line, and what to do where it is PoCL that does not know the processor."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = _PLACE.sub(r"line \1: ", next((line for line in lines if "error:" in line), lines[-1]))
    return f"{said} ({_NEW_PROCESSOR})" if "unknown target CPU" in said else said


@contextmanager
def without_messages() -> Iterator[None]:
    """Has what a driver's compiler prints by itself go nowhere; what it says of errors comes with them."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def open_device(name: str) -> Any:
    """The object of pyopencl for a device of `list_devices`."""
    handles = {device.name: handle for device, handle in _handles().items()}
    if name not in handles:
        raise NccError(f"{name}: the device is gone; found {', '.join(handles) or 'none'}")
    return handles[name]
