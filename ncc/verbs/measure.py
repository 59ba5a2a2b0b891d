"""Times on your devices: ``ncc devices``, ``ncc measure``, ``ncc calibrate``."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ncc.errors import NccError, check_positive
from ncc.system.files.text import format_bytes
from ncc.system.files.writing import check_folder, check_writable
from ncc.verbs.train import card_answer, train_devmap
from ncc.verbs.types import Answer, PathLike, Rows, Words, command, verb

if TYPE_CHECKING:
    from ncc.kernels.measure.sweep import Measurements
    from ncc.tasks.devices.head import TimesHead

_KERNELS = "OpenCL C files, folders or globs; default: the shipped kernels."
Devices = Annotated[
    Sequence[str], Words("NAME", "Numbers from ``ncc devices``, or parts of names; default: all devices.")
]
Sizes = Annotated[
    str | Sequence[int],
    Words("A:B|A,B", "Work-items per launch: a range (growing by factors of 4) or a list."),
]
Wgsizes = Annotated[str | Sequence[int], Words("A,B", "Work-items per work-group: a range or a list.")]


@command(has_json=True, compiles=False)
def devices_command() -> Answer:
    """List the OpenCL devices that kernels can be measured on."""
    from ncc.kernels.measure.opencl import list_devices

    devices = list_devices()
    rows = [
        (str(number), device.name, device.kind, str(device.compute_units), str(device.max_wgsize),
         format_bytes(device.memory_bytes), device.driver)
        for number, device in enumerate(devices, 1)
    ]  # fmt: skip
    heading = ("number", "name", "kind", "units", "wgsize", "memory", "driver")
    return Answer(text=Rows(rows, heading), json=[device.to_dict() for device in devices])


@verb(
    show=lambda table: Answer(text=[table.summary()], json=table.to_dict(), is_failed=not table.num_rows),
    has_json=True,
    compiles=False,
    resumes=True,
)
def measure_kernels(
    kernels: Annotated[Sequence[PathLike], Words("[KERNEL...]", _KERNELS)],
    output: Annotated[PathLike, Words("TABLE.parquet", option=("-o", "--output"))],
    *,
    device: Devices | None = None,
    sizes: Sizes = "1K:16M",
    wgsize: Wgsizes = "64,256",
    timeout: float = 30.0,
    measurement_time: float = 1.0,
    progress: Callable[[str], None] | None = None,
) -> "Measurements":
    """Time OpenCL kernels on your devices. Run again with the same table to resume.

    Each kernel runs in a separate process, with arguments generated from type and size. It is timed if it terminates,
    writes output, is deterministic and stays within its buffers.

    Args:
        output: Table to write or extend (.parquet).
        timeout: Time limit per kernel, size and device, including compilation.
        measurement_time: Maximum time spent on repeating one size to get its median within 5%.

    Raises:
        InputError: There is no kernel, a device is unknown, a value is out of range, or the file is not such a table.
        OutputError: The table can't be written.
        NccError: pyopencl, a driver or a device is missing.
    """
    from ncc.kernels.measure.opencl import choose_devices
    from ncc.kernels.measure.sweep import Measurements, Sweep, parse_sizes

    path = Path(output)
    grid = parse_sizes(sizes), parse_sizes(wgsize, "wgsize", 2**16)
    check_writable(path, extensions=(".parquet",))
    check_positive(timeout=timeout, measurement_time=measurement_time)
    devices = choose_devices(device, progress)
    sweep = Sweep(kernels, devices, path, measurement_time=measurement_time, timeout_s=timeout)
    sweep.run(*grid, progress or (lambda _line: None))
    rows = sweep.rows.values()
    return Measurements(
        table=path,
        num_rows=len(rows),
        num_kernels=len({(row.source_id, row.kernel) for row in rows}),
        devices=tuple(dict.fromkeys(row.device for row in rows)),
        failed=sweep.failed,
        warnings=sweep.warnings,
    )


@verb(show=card_answer, compiles=False, resumes=True, is_brief=True)
def calibrate(
    output: PathLike,
    *,
    budget: float = 10.0,
    kernels: Annotated[Sequence[PathLike], Words("PATH", _KERNELS)] | None = None,
    device: Devices | None = None,
    sizes: Sizes = "1K:1M",
    wgsize: Wgsizes = "64,256",
    card: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> "TimesHead":
    """Measure kernels on your devices and train a head on the times. Run again to measure more.

    Args:
        output: Output folder for the head and its table, ``times.parquet``.
        budget: Minutes to spend on measuring, not counting training.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: A value is out of range, or a device is unknown.
        OutputError: The folder can't be written.
        NccError: pyopencl, a driver or a device is missing, or too few kernels could be measured.
    """
    from ncc.kernels.measure.opencl import choose_devices
    from ncc.kernels.measure.sweep import Sweep, parse_sizes
    from ncc.tasks.devices.train import MIN_KERNELS

    report, folder = progress or (lambda _line: None), Path(output)
    check_folder(folder)
    check_positive(budget=budget)
    grid = parse_sizes(sizes), parse_sizes(wgsize, "wgsize", 2**16)
    devices = choose_devices(device, progress)
    folder.mkdir(parents=True, exist_ok=True)
    sweep = Sweep(kernels, devices, folder / "times.parquet", measurement_time=0.3)
    sweep.run(*grid, report, budget_s=budget * 60)
    measured = {row.launch[:2] for row in sweep.rows.values()}
    if len(measured) < MIN_KERNELS:
        reasons = "; ".join(dict.fromkeys(sweep.failed.values())) or "the budget was too short"
        raise NccError(f"{len(measured)} kernels were measured, expected at least {MIN_KERNELS}: {reasons}")
    kinds = {device.name: device.kind for device in devices}
    known = {"name": folder.resolve().name, "kinds": kinds, "budget_minutes": budget, "failed": sweep.failed}
    return train_devmap(folder, tables=[sweep.path], card=known | (card or {}), progress=report)
