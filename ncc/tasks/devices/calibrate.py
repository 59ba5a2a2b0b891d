"""``ncc calibrate``: measures the kernels that ship, the most informative first, and trains a head on their times."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.errors import InputError, NccError, check_positive
from ncc.kernels.measure.opencl import choose_devices
from ncc.kernels.measure.sources import SHIPPED_KERNELS, find_kernels
from ncc.kernels.measure.sweep import Sweep, by_information, parse_sizes
from ncc.kernels.measure.table import MeasuredTable
from ncc.system.files.writing import check_folder

if TYPE_CHECKING:
    from ncc.tasks.devices.head import TimesHead

_MIN_KERNELS = 8


def calibrate(
    output: str | Path,
    *,
    budget_minutes: float = 10.0,
    kernels: Sequence[str | Path] | None = None,
    device: Sequence[str] | None = None,
    sizes: str | Sequence[int] = "1K:1M",
    wgsize: str | Sequence[int] = "64,256",
    timeout_s: float = 30.0,
    seconds: float = 0.3,
    seed: int = 204,
    about: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> "TimesHead":
    """Measure kernels on the machine's devices and train a head on them; called again, it measures more.

    Args:
        output: Folder that gets the head, and the table ``times.parquet``.
        budget_minutes: Time for measuring; training comes on top.
        kernels: Files of OpenCL C, folders and globs; default the kernels that ship.
        device: Numbers in `list_devices`, from 1, or parts of names; default all devices.
        sizes: Work-items: a range in steps of 4, a list, or the numbers.
        wgsize: Those of a work-group, likewise.
        timeout_s: Time limit of a kernel at one size on one device, compilation included.
        seconds: How long that is repeated at most for a median within 5 %.
        seed: Of the arguments and of training.
        about: What else the card is to say, such as the command.
        progress: Called with a line of text after each launch.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: A number is out of its range, there is no such device, or fewer than two.
        OutputError: The folder can't be written.
        NccError: The package pyopencl, drivers or all devices are missing, or too few kernels could be measured.
    """
    from ncc.tasks.devices.train import train_devmap

    report = progress or (lambda _line: None)
    folder = Path(output)
    check_folder(folder)
    check_positive(budget_minutes=budget_minutes, timeout_s=timeout_s, seconds=seconds)
    devices = choose_devices(device, progress)
    if len(devices) < 2:
        raise InputError(f"{devices[0].name} is the only device; expected two or more, since devices are compared")
    sources, failed = find_kernels([str(kernel) for kernel in kernels or [SHIPPED_KERNELS]])
    folder.mkdir(parents=True, exist_ok=True)
    table = MeasuredTable.load(folder / "times.parquet")
    table.failed |= failed
    grid = parse_sizes(sizes), parse_sizes(wgsize, "wgsize", 2**16)
    limits: dict[str, Any] = {"seed": seed, "timeout_s": timeout_s, "measurement_time": seconds}
    with Sweep(sources, devices, table, *grid, min_devices=len(devices), **limits) as sweep:
        sweep.run(by_information(sweep, time.monotonic() + budget_minutes * 60, report))
    measured = {row.kernel for row in table.rows}
    if len(measured) < _MIN_KERNELS:
        reasons = "; ".join(dict.fromkeys(table.failed.values())) or "the budget was too short"
        raise NccError(f"{len(measured)} kernels were measured, expected at least {_MIN_KERNELS}: {reasons}")
    card = {"budget_minutes": budget_minutes, "failed": table.failed} | (about or {})
    return train_devmap(folder, tables=[table.path], seed=seed, about=card, progress=report)
