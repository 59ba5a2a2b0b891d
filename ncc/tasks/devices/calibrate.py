"""``ncc calibrate``: measures the kernels that ship, the most informative first, and trains a head on their times."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.errors import InputError, NccError, check_positive
from ncc.kernels.measure.opencl import Device, choose_devices
from ncc.kernels.measure.sweep import Chooser, parse_sizes
from ncc.kernels.measure.table import MeasuredTable
from ncc.kernels.measure.timing import SHIPPED_KERNELS, Bench, KernelSource, find_kernels, source_ids
from ncc.system.files.writing import check_folder

if TYPE_CHECKING:
    from ncc.tasks.devices.head import TimesHead

_OPEN = 8
_SETUP_S, _LAUNCH_S = 2.0, 0.5
"""What a new kernel and a launch are taken to cost before any was measured."""
_FEWEST = 8


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
    """Measures kernels on the machine's devices and trains a head on them; called again, it measures more.

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

    tell = progress or (lambda _line: None)
    folder = Path(output)
    check_folder(folder)
    check_positive(budget_minutes=budget_minutes, timeout_s=timeout_s, seconds=seconds)
    devices = choose_devices(device, progress)
    if len(devices) < 2:
        raise InputError(f"{devices[0].name} is the only device; expected two or more, since devices are compared")
    found, failed = find_kernels([str(kernel) for kernel in kernels or [SHIPPED_KERNELS]])
    if not found:
        raise InputError("; ".join(failed.values()))
    folder.mkdir(parents=True, exist_ok=True)
    table = MeasuredTable.load(folder / "times.parquet")
    table.failed |= failed
    table.begin(source_ids(found, folder))
    with _Calibration(found, devices, table, seed=seed, timeout_s=timeout_s, seconds=seconds) as run:
        run.measure(parse_sizes(sizes), parse_sizes(wgsize, "wgsize", 2**16), budget_minutes * 60, tell)
    table.save()
    measured = {row.kernel for row in table.rows}
    if len(measured) < _FEWEST:
        reasons = "; ".join(dict.fromkeys(table.failed.values())) or "the budget was too short"
        raise NccError(f"{len(measured)} kernels were measured, expected at least {_FEWEST}: {reasons}")
    card = {"budget_minutes": budget_minutes, "failed": table.failed} | (about or {})
    return train_devmap(folder, tables=[table.path], seed=seed, about=card, progress=tell)


class _Calibration:
    """Kernels on the bench, and what they cost; use it as a context manager."""

    def __init__(self, kernels: list[KernelSource], devices: list[Device], table: MeasuredTable, **limits: Any) -> None:
        """Starts nothing yet; limits are those of a `Bench`."""
        self._kernels, self._devices, self._table = kernels, devices, table
        self._limits = limits
        self._benches: OrderedDict[int, Bench] = OrderedDict()
        self._spent: dict[str, list[float]] = {"setup": [_SETUP_S]}

    def __enter__(self) -> "_Calibration":
        return self

    def __exit__(self, *_: object) -> None:
        for bench in self._benches.values():
            bench.__exit__(None, None, None)

    def measure(
        self,
        sizes: Sequence[int],
        groups: Sequence[int],
        budget_s: float,
        tell: Callable[[str], None],
    ) -> None:
        """Measures launches on all devices until the time is up, or nothing is left.

        Raises:
            InputError: No work-group fits into any size.
            NccError: A device is gone; what was measured is kept.
        """
        end = time.monotonic() + budget_s
        launches = [
            (number, size, group)
            for number, size, group in product(range(len(self._kernels)), sorted(sizes), groups)
            if self._kernels[number].group(size, group)
        ]
        if not launches:
            raise InputError(f"no work-group of {list(groups)} fits into any of {list(sizes)} work-items")
        kernel = np.array([launch[0] for launch in launches])
        size = np.log(np.array([launch[1:] for launch in launches], np.float64).reshape(-1, 2))
        code = np.array([self._kernels[number].features for number in kernel])
        chooser = Chooser(size, code, kernel)
        allowed = np.ones(len(launches), bool)
        done = {row.key[:2] + row.key[3:5] for row in self._table.rows}
        for number, launch in enumerate(launches):
            if self._key(launch) in done:
                chooser.observe(number)
                allowed[number] = False
        last = time.monotonic()
        while allowed.any() and time.monotonic() < end:
            number = chooser.choose(self._costs(launches), allowed)
            chooser.observe(number)
            rows = self._measure(launches[number])
            allowed[number] = False
            if not rows:
                allowed[(kernel == kernel[number]) & (size[:, 0] >= size[number, 0])] = False
            chosen = self._kernels[kernel[number]]
            left = f"{(end - time.monotonic()) / 60:.1f} min left"
            tell(f"{len(self._table.rows)} rows, {left}: {chosen.name} at {launches[number][1]:,}")
            if time.monotonic() - last > 20:
                self._table.save()
                last = time.monotonic()

    def _key(self, launch: tuple[int, int, int]) -> tuple[Any, ...]:
        kernel = self._kernels[launch[0]]
        return kernel.source_id, kernel.name, launch[1], kernel.group(*launch[1:])

    def _costs(self, launches: list[tuple[int, int, int]]) -> np.ndarray:
        """Seconds that each would take: as others of its size did, and more for a kernel that is not on the bench."""
        usual = {size: _LAUNCH_S for _, size, _ in launches}
        usual |= {int(name): float(np.mean(spent)) for name, spent in self._spent.items() if name != "setup"}
        setup = float(np.mean(self._spent["setup"]))
        return np.array([usual[size] + setup * (number not in self._benches) for number, size, _ in launches])

    def _measure(self, launch: tuple[int, int, int]) -> bool:
        """Measures a launch on all devices; says whether all have it."""
        number, size, group = launch
        is_new = number not in self._benches
        began = time.monotonic()
        bench = self._bench(number)
        rows = [bench.measure(device, size, group) for device in self._devices]
        spent = time.monotonic() - began
        if bench.gone:
            self._table.save()
            raise NccError(
                f"{', '.join(sorted(bench.gone))}: gone; {self._table.path} keeps {len(self._table.rows)} rows"
            )
        self._spent.setdefault("setup" if is_new else str(size), []).append(spent)
        name = self._kernels[number].name
        self._table.failed |= {f"{name} on {device}": reason for device, reason in bench.failed.items()}
        if not all(rows):
            return False
        self._table.add(row for row in rows if row)
        return not bench.failed

    def _bench(self, number: int) -> Bench:
        """The bench of a kernel; those used longest ago make room for it."""
        if number not in self._benches:
            while len(self._benches) >= _OPEN:
                self._benches.popitem(last=False)[1].__exit__(None, None, None)
            self._benches[number] = Bench(self._kernels[number], self._table.path.parent, **self._limits)
        self._benches.move_to_end(number)
        return self._benches[number]
