"""The machine's OpenCL devices, by the names that tables and commands use."""

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ncc.errors import InputError, NccError
from ncc.system.workers.pool import Pool

_HOW_TO_INSTALL = (
    "a CPU needs PoCL (in ncc's checkout, pip install -c constraints.txt '.[measure]'; or Debian's pocl-opencl-icd), "
    "a GPU its vendor's driver"
)
_NEW_PROCESSOR = "the processor is newer than this PoCL's LLVM: get another, as by 'conda install -c conda-forge pocl'"
_LOCATION = re.compile(r"\S+\.cl:(\d+):\d+: ")
"""Location of an error, in a copy of the source with a name that users don't know."""
_NO_COMPILER = "compiles no OpenCL C at all"
_TRIVIAL = "__kernel void fill(__global int *a) { a[get_global_id(0)] = 0; }"


@dataclass(frozen=True)
class Device:
    """An OpenCL device.

    Attributes:
        name: The driver's name for it, numbered if several share it.
        kind: "CPU", "GPU" or "other".
        driver: Name of the OpenCL driver.
        compute_units: Number of compute units.
        max_wgsize: Maximum number of work-items per work-group.
        memory_bytes: Size of global memory in bytes.
        local_bytes: Local memory per work-group in bytes.
    """

    name: str
    kind: str
    driver: str
    compute_units: int
    max_wgsize: int
    memory_bytes: int
    local_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


def _handles() -> dict[Device, Any]:
    """Device → pyopencl's object for it."""
    os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    # pin PoCL's threads to cores; otherwise they may share one by chance, which halves the speed
    os.environ.setdefault("POCL_AFFINITY", "1")
    try:
        import pyopencl as cl
    except ImportError as error:
        raise NccError(f"measuring devices needs pyopencl, which is missing: {_HOW_TO_INSTALL}") from error
    try:
        all_handles = [handle for platform in cl.get_platforms() for handle in platform.get_devices()]
    except cl.Error:  # no driver, or one without devices
        all_handles = []
    kinds = {cl.device_type.CPU: "CPU", cl.device_type.GPU: "GPU"}
    times: Counter[str] = Counter()
    handles = {}
    for handle in all_handles:
        name, driver = (" ".join(text.split()) for text in (handle.name, handle.platform.name))
        times[name] += 1
        name = name if times[name] == 1 else f"{name} #{times[name]}"
        kind = next((kind for flag, kind in kinds.items() if handle.type & flag), "other")
        sizes = (handle.max_compute_units, handle.max_work_group_size, handle.global_mem_size, handle.local_mem_size)
        handles[Device(name, kind, driver, *sizes)] = handle
    return handles


def list_devices() -> list[Device]:
    """List the OpenCL devices that kernels can be measured on.

    Raises:
        NccError: pyopencl is not installed, or no driver reports a device.
    """
    devices = list(_handles())
    if not devices:
        raise NccError(f"no OpenCL driver reports a device: {_HOW_TO_INSTALL}")
    return devices


def choose_devices(names: Sequence[str] | None, progress: Callable[[str], None] | None = None) -> list[Device]:
    """Devices by number in the list, from 1, or by part of their names; None for all that can compile kernels."""
    devices, usable, failed = list_devices(), [], []
    with Pool(seconds=60.0) as worker:
        for device in dict.fromkeys(_find_device(devices, name) for name in names) if names else devices:
            try:
                worker.call(f"{device.name} {_NO_COMPILER}", _build_trivial, device.name)
                usable.append(device)
            except NccError as error:
                failed.append(str(error))
    if not usable:
        raise NccError("; ".join(failed))
    if progress:
        for reason in failed:
            progress(f"passed over: {reason}")
    return usable


def _build_trivial(name: str) -> None:
    """Compile a kernel in a worker, since a driver may abort or hang."""
    import pyopencl as cl

    try:
        cl.Program(cl.Context([open_device(name)]), _TRIVIAL).build()
    except cl.Error as error:
        raise NccError(f"{name} {_NO_COMPILER}: {compiler_error(error)}") from error


def _find_device(devices: list[Device], name: str) -> Device:
    matches = [device for device in devices if name == device.name]
    matches = matches or [device for number, device in enumerate(devices, 1) if name == str(number)]
    matches = matches or [device for device in devices if name.lower() in device.name.lower()]
    if len(matches) != 1:
        all_names = ", ".join(f"{number}: {device.name}" for number, device in enumerate(devices, 1))
        raise InputError(f"device {name!r} matches {len(matches)} devices ({all_names}); expected one")
    return matches[0]


def compiler_error(error: Exception) -> str:
    """A compiler's error in one line, with advice if PoCL does not know the processor."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = _LOCATION.sub(r"line \1: ", next((line for line in lines if "error:" in line), lines[-1]))
    return f"{reason} ({_NEW_PROCESSOR})" if "unknown target CPU" in reason else reason


def open_device(name: str) -> Any:
    """The object of pyopencl for a device of `list_devices`."""
    handles = {device.name: handle for device, handle in _handles().items()}
    if name not in handles:
        raise NccError(f"{name}: the device is gone; found {', '.join(handles) or 'none'}")
    return handles[name]
