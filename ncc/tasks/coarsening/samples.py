"""Times of thread coarsening: OpenCL kernels at each factor on four GPUs.

Reads the table of Cummins et al. (PACT 2017, case study B), whose measurements are those of Magni et al. (PACT 2014). A
row here is a pair of kernel and device; the table has a line for each kernel and factor.
"""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import DataError
from ncc.learning.data.archives import iter_members
from ncc.learning.data.registry import Folder, locate
from ncc.learning.data.tables import check_names, read_numbers, read_rows

FACTORS = (1, 2, 4, 8, 16, 32)
"""Coarsening factors: how many work-items become one."""
DEVICES = ("Fermi", "Kepler", "Cypress", "Tahiti")
"""Names of the devices: NVIDIA GTX 480 and Tesla K20c, AMD Radeon HD 5900 and Tahiti 7970."""
TABLE = "pact-2014-runtimes.csv"
_NUMBERS = ("cf", *(f"runtime_{device}" for device in DEVICES))
_MAX_NUMBER = 1e18


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseningTimes:
    """Pairs of kernel and device, n rows."""

    kernel: np.ndarray  # (n,) names
    device: np.ndarray  # (n,) names
    runtime: Floats  # (n, 6) float64 at each of `FACTORS`, without a unit; NaN where not measured

    def __len__(self) -> int:
        return len(self.kernel)

    @property
    def speedup(self) -> Floats:
        """Runtime without coarsening over that at each factor, (n, 6) float64; NaN where not measured."""
        return self.runtime[:, :1] / self.runtime


def load_kernel_ir(folder: Folder = None) -> dict[str, bytes]:
    """Load the kernels' LLVM 5 IR."""
    archive = locate("legacy_ir", "coarsening-kernels-llvm5.tar.xz", folder)
    return {PurePosixPath(name).stem: text for name, text in iter_members(archive, ".ll")}


def read_times(path: Path) -> CoarseningTimes:
    """Read a table of runtimes; kernels are in the order of their names, each with all devices."""
    rows = read_rows(path, ("kernel", *_NUMBERS))
    check_names(path, rows, "kernel")
    names = sorted({row["kernel"] for row in rows})
    numbers = np.stack([read_numbers(path, rows, column, _MAX_NUMBER) for column in _NUMBERS], axis=1)
    table = np.full((len(names), len(DEVICES), len(FACTORS)), np.nan)
    seen: set[tuple[str, float]] = set()
    for row, (factor, *times) in zip(rows, numbers.tolist(), strict=True):
        where = row["kernel"], factor
        if factor not in FACTORS or where in seen:
            expected = f"expected each of {', '.join(map(str, FACTORS))} once"
            raise DataError(f"{path}: {row['kernel']} at factor {factor:g}; {expected}")
        seen.add(where)
        table[names.index(row["kernel"]), :, FACTORS.index(int(factor))] = times
    runtime = table.reshape(-1, len(FACTORS))
    wrong = (runtime == 0).any(axis=1) | np.isnan(runtime[:, 0])
    if wrong.any():
        name = names[int(wrong.argmax()) // len(DEVICES)]
        raise DataError(f"{path}: {name}: expected runtimes above 0, and one at factor 1")
    kernel, device = np.repeat(names, len(DEVICES)), np.tile(DEVICES, len(names))
    return CoarseningTimes(kernel=kernel, device=device, runtime=runtime)


def clamp_to_measured(runtime: Floats, chosen: Ints) -> Ints:
    """Replace factors, (..., n) indices, without a runtime, (n, 6), by the largest smaller one that has one."""
    measured = np.where(np.isfinite(runtime), np.arange(runtime.shape[1]), 0)
    return np.maximum.accumulate(measured, axis=1)[np.arange(len(runtime)), chosen]


def complete_log_speedups(runtime: Floats) -> Floats:
    """Log speedups over no coarsening at factors 1, 2, 4 …, (n, k) float64, of runtimes that may be NaN, (n, k).

    A parabola in log2(factor) through the origin is fitted to what was measured of a row, and followed beyond it but
    never upwards, so that what was not tried is not believed to be better. Rows wholly NaN stay so.
    """
    with np.errstate(invalid="ignore"):
        curves = np.log(runtime[:, :1] / runtime)
    doublings = np.arange(runtime.shape[1], dtype=np.float64)
    parabola = np.stack([doublings, doublings**2], axis=1)
    for curve in curves:
        measured = np.isfinite(curve)
        if not measured.any():
            continue
        coefficients = np.linalg.lstsq(parabola[measured], curve[measured], rcond=None)[0]
        for k in np.flatnonzero(~measured).tolist():
            fastest = max(curve[k - 1], curve[k + 1 :][measured[k + 1 :]].max(initial=-np.inf))
            curve[k] = min(float(parabola[k] @ coefficients), fastest)
    return curves
