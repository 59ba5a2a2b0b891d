"""Samples of thread coarsening: OpenCL kernels, their text, and their runtimes at each factor on four GPUs.

Reads the table of Cummins et al. (PACT 2017, case study B), whose measurements are those of Magni et al. (PACT 2014).
A row here is a pair of kernel and device. The table has a line for each kernel *and factor*, and a different number of
them for each kernel: whoever takes its line k for kernel k, as two published programs do, pairs texts with the wrong
labels. Here lines are looked up by kernel and factor.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import DataError
from ncc.learning.data.archives import iter_members
from ncc.learning.data.registry import Folder, locate
from ncc.learning.data.tables import check_names, read_rows

CoarseningUnit = Literal["kernel", "source", "device"]

FACTORS = (1, 2, 4, 8, 16, 32)
"""Coarsening factors: how many work-items become one."""
DEVICES = ("Fermi", "Kepler", "Cypress", "Tahiti")
"""Names of the devices: NVIDIA GTX 480 and Tesla K20c, AMD Radeon HD 5900 and Tahiti 7970."""
_COMPONENTS = tuple(f"PCA{i}" for i in range(1, 8))
_NUMBERS = ("cf", *_COMPONENTS, *(f"runtime_{device}" for device in DEVICES))


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseningSamples:
    """Pairs of kernel and device, n rows; runtimes have no unit, only quotients are used.

    ``kernel`` and ``device`` are (n,) names, ``source`` (n,) object the kernels' texts, identifiers rewritten; runtimes
    at each of `FACTORS` are (n, 6) float64, and Magni et al.'s principal components of static counts of the kernel
    after coarsening (n, 6, 7) float64; NaN where not measured.
    """

    kernel: np.ndarray
    device: np.ndarray
    source: np.ndarray
    components: Floats
    runtime: Floats

    def __len__(self) -> int:
        return len(self.kernel)

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices, each once, in the order of the rows."""
        return tuple(dict.fromkeys(self.device.tolist()))

    @property
    def speedup(self) -> Floats:
        """Runtime without coarsening over that at each factor, (n, 6) float64; NaN where not measured."""
        return self.runtime[:, :1] / self.runtime

    @property
    def best(self) -> Ints:
        """Which of `FACTORS` is the fastest, (n,) int64 indices; -1 where nothing is measured."""
        measured = np.isfinite(self.runtime)
        fastest = np.argmin(np.where(measured, self.runtime, np.inf), axis=1)
        return np.where(measured.any(axis=1), fastest, -1)

    def groups(self, unit: CoarseningUnit) -> np.ndarray:
        """Name of each row's kernel or device, or its source text, (n,)."""
        return self.source.astype(str) if unit == "source" else getattr(self, unit)

    def without_answers(self, rows: Ints) -> "CoarseningSamples":
        """A copy in which the runtimes of rows, (m,) int64, are hidden, NaN."""
        runtime = self.runtime.copy()
        runtime[rows] = np.nan
        return dataclasses.replace(self, runtime=runtime)


def load_samples(folder: Folder = None) -> CoarseningSamples:
    """Load the 68 samples (17 kernels on 4 devices) of the dataset `coarsening`, by the kernels' names."""
    return read_table(locate("coarsening", "pact-2014-runtimes.csv", folder))


def load_kernel_ir(folder: Folder = None) -> dict[str, bytes]:
    """Load the kernels' LLVM 5 IR."""
    archive = locate("legacy_ir", "coarsening-kernels-llvm5.tar.xz", folder)
    return {PurePosixPath(name).stem: text for name, text in iter_members(archive, ".ll")}


def read_table(path: Path) -> CoarseningSamples:
    """Read a table of runtimes; kernels are in the order of their names, each with all devices."""
    rows = read_rows(path, ("kernel", "src", *_NUMBERS))
    check_names(path, rows, "kernel")
    names = sorted({row["kernel"] for row in rows})
    index = {name: position for position, name in enumerate(names)}
    source: dict[str, str] = {}
    table = np.full((len(names), len(FACTORS), len(_NUMBERS)), np.nan)
    for row in rows:
        where = f"{path}: {row['kernel']} at factor {row['cf']:.40}"
        try:
            numbers = [float(row[column] or "nan") for column in _NUMBERS]
            cell = index[row["kernel"]], FACTORS.index(numbers[0])
        except ValueError as error:
            factors = ", ".join(map(str, FACTORS))
            raise DataError(f"{where}: {error}; expected numbers, and a factor of {factors}") from error
        if not np.isnan(table[cell]).all() or source.setdefault(row["kernel"], row["src"]) != row["src"]:
            raise DataError(f"{where}: given twice, or with another text than at another factor")
        table[cell] = numbers
    components, runtime = np.split(table[:, :, 1:], [len(_COMPONENTS)], axis=2)
    wrong = np.isinf(table).any(axis=(1, 2)) | (runtime <= 0).any(axis=(1, 2)) | np.isnan(runtime[:, 0]).any(axis=1)
    if wrong.any():
        name = names[int(wrong.argmax())]
        wanted = "expected finite runtimes above 0, and one at factor 1"
        raise DataError(f"{path}: {name}: {wanted}")
    return CoarseningSamples(
        kernel=np.repeat(names, len(DEVICES)),
        device=np.tile(DEVICES, len(names)),
        source=np.repeat(np.array([source[name] for name in names], dtype=object), len(DEVICES)),
        components=np.repeat(components, len(DEVICES), axis=0),
        runtime=runtime.transpose(0, 2, 1).reshape(-1, len(FACTORS)),
    )


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
