"""Times on your devices: ``ncc devices``, ``ncc measure``, ``ncc calibrate``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ncc.verbs.train import card_answer
from ncc.verbs.types import Answer, Card, Command, Minutes, Output, Progress, Rows, Seconds, Words, defined_in

if TYPE_CHECKING:
    from ncc.kernels.measure.opencl import Device
    from ncc.kernels.measure.sweep import Measurements
    from ncc.tasks.devices.head import TimesHead

Kernels = Annotated[Sequence[Path | str], Words(metavar="PATH")]
MeasuredKernels = Annotated[Sequence[Path | str], Words(metavar="[KERNEL...]")]
Devices = Annotated[Sequence[str], Words(metavar="NAME")]
Sizes = Annotated[str | Sequence[int], Words(metavar="A:B|A,B")]
Wgsizes = Annotated[str | Sequence[int], Words(metavar="A,B")]
Table = Annotated[Path | str, Words(metavar="TABLE.parquet", option=("-o", "--output"))]


@defined_in("ncc.kernels.measure.opencl")
def list_devices() -> "list[Device]":
    """List the OpenCL devices that kernels can be measured on.

    Raises:
        NccError: pyopencl is not installed, or no driver reports a device.
    """


def _device_rows(devices: "list[Device]") -> Answer:
    from ncc.system.files.text import format_bytes

    rows = [
        (str(number), device.name, device.kind, str(device.compute_units), str(device.max_wgsize),
         format_bytes(device.memory_bytes), device.driver)
        for number, device in enumerate(devices, 1)
    ]  # fmt: skip
    heading = ("number", "name", "kind", "units", "wgsize", "memory", "driver")
    return Answer(text=Rows(rows, heading), json=[device.to_dict() for device in devices])


devices_command = Command(run=list_devices, show=_device_rows, has_json=True, compiles=False)


@defined_in("ncc.kernels.measure.sweep")
def measure_kernels(
    kernels: MeasuredKernels,
    output: Table,
    *,
    device: Devices | None = None,
    sizes: Sizes = "1K:16M",
    wgsize: Wgsizes = "64,256",
    timeout: Seconds = 30.0,
    measurement_time: Seconds = 1.0,
    progress: Progress | None = None,
) -> "Measurements":
    """Time OpenCL kernels on your devices. Run again with the same table to resume.

    Each kernel runs in a separate process, with arguments generated from type and size. It is timed if it terminates,
    writes output, is deterministic and stays within its buffers.

    Args:
        kernels: OpenCL C files, folders or globs; default: the shipped kernels.
        output: Table to write or extend (.parquet).
        device: Numbers from ``ncc devices``, or parts of names; default: all devices.
        sizes: Work-items per launch: a range (growing by factors of 4) or a list.
        wgsize: Work-items per work-group: a range or a list.
        timeout: Time limit per kernel, size and device, including compilation.
        measurement_time: Maximum time spent on repeating one size to get its median within 5%.
        progress: Called with a line of text after each kernel.

    Raises:
        InputError: There is no kernel, a device is unknown, a value is out of range, or the file is not such a table.
        OutputError: The table can't be written.
        NccError: pyopencl, a driver or a device is missing.
    """


measure_command = Command(
    run=measure_kernels,
    show=lambda table: Answer(text=[table.summary()], json=table.to_dict(), is_failed=not table.num_rows),
    has_json=True,
    compiles=False,
    resumes=True,
)


@defined_in("ncc.tasks.devices.calibrate")
def calibrate(
    output: Output,
    *,
    budget: Minutes = 10.0,
    kernels: Kernels | None = None,
    device: Devices | None = None,
    sizes: Sizes = "1K:1M",
    wgsize: Wgsizes = "64,256",
    card: Card | None = None,
    progress: Progress | None = None,
) -> "TimesHead":
    """Measure kernels on your devices and train a head on the times. Run again to measure more.

    Args:
        output: Output folder for the head and its table, ``times.parquet``.
        budget: Minutes to spend on measuring, not counting training.
        kernels: OpenCL C files, folders or globs; default: the shipped kernels.
        device: Numbers from ``ncc devices``, or parts of names; default: all devices.
        sizes: Work-items per launch: a range (growing by factors of 4) or a list.
        wgsize: Work-items per work-group: a range or a list.
        card: Additional model card fields, such as the command.
        progress: Called with a line of text after each launch.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: A value is out of range, a device is unknown, or there are fewer than two.
        OutputError: The folder can't be written.
        NccError: pyopencl, a driver or a device is missing, or too few kernels could be measured.
    """


calibrate_command = Command(run=calibrate, show=card_answer, compiles=False, resumes=True, is_brief=True)
