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
    """List the OpenCL devices on which kernels can be measured.

    Raises:
        NccError: The package pyopencl is missing, or no driver shows a device.
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
    """Time OpenCL kernels on your devices; run again with the same table to resume after a stop.

    A kernel runs in a process of its own, with arguments made by type and size. It is timed if it terminates,
    writes output, is deterministic, depends on its input and stays within its buffers.

    Args:
        kernels: Files of OpenCL C, folders and globs; default the shipped kernels.
        output: Table to write or to add to, .parquet.
        device: Numbers in ``ncc devices``, from 1, or parts of names; default all devices.
        sizes: Work-items: a range in steps of 4, a list, or the numbers.
        wgsize: Work-items per work-group, likewise.
        timeout: Time limit for a kernel at one size on one device, compilation included.
        measurement_time: Longest time to repeat one size for a median within 5%.
        progress: Called with a line of text after each kernel.

    Raises:
        InputError: There is no kernel or no such device, a number is out of its range, or the table is something else.
        OutputError: The table can't be written.
        NccError: The package pyopencl, drivers or all devices are missing.
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
    """Measure kernels on your devices and train a head on the times; run again to measure more.

    Args:
        output: Folder that gets the head, and the table ``times.parquet``.
        budget: Minutes for measuring; training takes extra time.
        kernels: Files of OpenCL C, folders and globs; default the shipped kernels.
        device: Numbers in ``ncc devices``, from 1, or parts of names; default all devices.
        sizes: Work-items: a range in steps of 4, a list, or the numbers.
        wgsize: Work-items per work-group, likewise.
        card: Additional fields of the card, such as the command.
        progress: Called with a line of text after each launch.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: A number is out of its range, there is no such device, or fewer than two.
        OutputError: The folder can't be written.
        NccError: The package pyopencl, drivers or all devices are missing, or too few kernels could be measured.
    """


calibrate_command = Command(run=calibrate, show=card_answer, compiles=False, resumes=True, is_brief=True)
