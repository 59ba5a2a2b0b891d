"""``ncc calibrate``: measures the kernels that ship, one of each family in turn, and trains a head on their times."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.errors import InputError, NccError, check_positive
from ncc.kernels.measure.opencl import choose_devices
from ncc.kernels.measure.sweep import Sweep, parse_sizes
from ncc.system.files.writing import check_folder

if TYPE_CHECKING:
    from ncc.tasks.devices.head import TimesHead

_MIN_KERNELS = 8
_MEASUREMENT_S = 0.3


def calibrate(
    output: str | Path,
    *,
    budget: float = 10.0,
    kernels: Sequence[str | Path] | None = None,
    device: Sequence[str] | None = None,
    sizes: str | Sequence[int] = "1K:1M",
    wgsize: str | Sequence[int] = "64,256",
    card: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> "TimesHead":
    """Measure kernels on your devices and train a head on the times; run again to measure more."""
    from ncc.tasks.devices.train import train_devmap

    report = progress or (lambda _line: None)
    folder = Path(output)
    check_folder(folder)
    check_positive(budget=budget)
    grid = parse_sizes(sizes), parse_sizes(wgsize, "wgsize", 2**16)
    devices = choose_devices(device, progress)
    if len(devices) < 2:
        raise InputError(f"{devices[0].name} is the only device; expected two or more to compare")
    folder.mkdir(parents=True, exist_ok=True)
    sweep = Sweep(kernels, devices, folder / "times.parquet", measurement_time=_MEASUREMENT_S)
    sweep.run(*grid, report, budget_s=budget * 60)
    measured = {row.launch[:2] for row in sweep.rows.values()}
    if len(measured) < _MIN_KERNELS:
        reasons = "; ".join(dict.fromkeys(sweep.failed.values())) or "the budget was too short"
        raise NccError(f"{len(measured)} kernels were measured, expected at least {_MIN_KERNELS}: {reasons}")
    known = {"budget_minutes": budget, "failed": sweep.failed} | (card or {})
    return train_devmap(folder, tables=[sweep.path], card=known, progress=report)
