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
    budget: float = 10.0,
    kernels: Sequence[str | Path] | None = None,
    device: Sequence[str] | None = None,
    sizes: str | Sequence[int] = "1K:1M",
    wgsize: str | Sequence[int] = "64,256",
    timeout: float = 30.0,
    measurement_time: float = 0.3,
    seed: int = 204,
    card: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> "TimesHead":
    """Measure kernels on your devices and train a head on the times; run again to measure more."""
    from ncc.tasks.devices.train import train_devmap

    report = progress or (lambda _line: None)
    folder = Path(output)
    check_folder(folder)
    check_positive(budget=budget, timeout=timeout, measurement_time=measurement_time)
    devices = choose_devices(device, progress)
    if len(devices) < 2:
        raise InputError(f"{devices[0].name} is the only device; expected two or more, since devices are compared")
    sources, failed = find_kernels([str(kernel) for kernel in kernels or [SHIPPED_KERNELS]])
    folder.mkdir(parents=True, exist_ok=True)
    table = MeasuredTable.load(folder / "times.parquet")
    table.failed |= failed
    grid = parse_sizes(sizes), parse_sizes(wgsize, "wgsize", 2**16)
    limits: dict[str, Any] = {"seed": seed, "timeout_s": timeout, "measurement_time": measurement_time}
    with Sweep(sources, devices, table, *grid, min_devices=len(devices), **limits) as sweep:
        sweep.run(by_information(sweep, time.monotonic() + budget * 60, report))
    measured = {row.kernel for row in table.rows}
    if len(measured) < _MIN_KERNELS:
        reasons = "; ".join(dict.fromkeys(table.failed.values())) or "the budget was too short"
        raise NccError(f"{len(measured)} kernels were measured, expected at least {_MIN_KERNELS}: {reasons}")
    known = {"budget_minutes": budget, "failed": table.failed} | (card or {})
    return train_devmap(folder, tables=[table.path], seed=seed, card=known, progress=report)
