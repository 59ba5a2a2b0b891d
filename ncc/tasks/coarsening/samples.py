"""Samples of thread coarsening: OpenCL kernels, their text, and their runtimes at each factor on four GPUs.

Reads the tables of Cummins et al. (PACT 2017, case study B), whose measurements are those of Magni et al. (PACT 2014).
A row here is a pair of kernel and device. The runtimes' table has a line for each kernel *and factor*, and a different
number of them for each kernel: whoever takes its line k for kernel k, as two published programs do, pairs texts with
the wrong labels. Here lines are looked up by kernel and factor.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import DataError, InputError
from ncc.learning.data.archives import iter_members
from ncc.learning.data.registry import Folder, locate
from ncc.learning.data.tables import check_names, read_rows

CoarseningUnit = Literal["kernel", "source", "device"]

FACTORS = (1, 2, 4, 8, 16, 32)
"""Coarsening factors: how many work-items become one."""
DEVICES = ("Fermi", "Kepler", "Cypress", "Tahiti")
"""The devices by the names that the tables have for them."""
DEVICE_TITLES = {
    "Fermi": "NVIDIA GTX 480",
    "Kepler": "NVIDIA Tesla K20c",
    "Cypress": "AMD Radeon HD 5900",
    "Tahiti": "AMD Tahiti 7970",
}
_NUM_COMPONENTS = 7
_RUNTIME_COLUMNS = (
    "kernel",
    "cf",
    *(f"PCA{i + 1}" for i in range(_NUM_COMPONENTS)),
    *(f"runtime_{device}" for device in DEVICES),
    "src",
)
_ORACLE_COLUMNS = ("kernel", *(f"{what}_{device}" for device in DEVICES for what in ("cf", "runtime")))


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseningSamples:
    """Pairs of kernel and device; row i of every array belongs to pair i.

    Args:
        kernel: Names of the kernels, (n,) str.
        device: Names of the devices, (n,) str; those of the published table are `DEVICES`.
        source: OpenCL text of the kernels, identifiers rewritten, (n,) object. Two kernels can have one text.
        components: Magni et al.'s seven principal components of static counts of the kernel after coarsening by each
            of `FACTORS`, (n, 6, 7) float64; NaN where the kernel was not coarsened by so much on any device.
        runtime: Runtimes at each of `FACTORS`, (n, 6) float64; NaN where not measured. The tables name no unit;
            only quotients are used.
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
        """Runtime without coarsening / runtime at each factor, (n, 6) float64; NaN where not measured."""
        return self.runtime[:, :1] / self.runtime

    @property
    def best(self) -> Ints:
        """Which of `FACTORS` is the fastest, (n,) int64 indices; -1 where nothing is known."""
        known = np.isfinite(self.runtime)
        fastest = np.argmin(np.where(known, self.runtime, np.inf), axis=1)
        return np.where(known.any(axis=1), fastest, -1)

    def groups(self, unit: CoarseningUnit) -> np.ndarray:
        """Return the name of each row's kernel or device, or its source text, (n,)."""
        if unit not in get_args(CoarseningUnit):
            raise InputError(f"no grouping {unit!r}; expected one of {', '.join(get_args(CoarseningUnit))}")
        return self.source.astype(str) if unit == "source" else getattr(self, unit)

    def without_answers(self, rows: Ints) -> "CoarseningSamples":
        """Return a copy in which some rows' runtimes are hidden, NaN; rows are (m,) int64."""
        runtime = self.runtime.copy()
        runtime[rows] = np.nan
        return dataclasses.replace(self, runtime=runtime)


def load_samples(folder: Folder = None) -> CoarseningSamples:
    """Load the 68 samples (17 kernels on 4 devices) of the dataset `coarsening`, kernel by kernel.

    Raises:
        DataError: A table is missing, fails its checksum or is malformed.

    Reference:
        Magni, Dubach, O'Boyle, Automatic Optimization of Thread-Coarsening for Graphics Processors, PACT 2014;
        Cummins et al., End-to-End Deep Learning of Optimization Heuristics, PACT 2017, case study B.
    """
    runtimes = locate("coarsening", "pact-2014-runtimes.csv", folder)
    return read_tables(runtimes, locate("coarsening", "pact-2014-oracles.csv", folder))


def load_kernel_ir(folder: Folder = None) -> dict[str, bytes]:
    """Load the kernels' LLVM 5 IR.

    Raises:
        DataError: The archive is missing, fails its checksum or is damaged.
    """
    archive = locate("legacy_ir", "coarsening-kernels-llvm5.tar.xz", folder)
    return {PurePosixPath(name).stem: text for name, text in iter_members(archive, ".ll")}


def read_tables(runtimes: Path, oracles: Path) -> CoarseningSamples:
    """Read the two published tables.

    Returns:
        The samples, in the order of the oracles' table.
    """
    best_rows, rows = read_rows(oracles, _ORACLE_COLUMNS), read_rows(runtimes, _RUNTIME_COLUMNS)
    check_names(oracles, best_rows, "kernel")
    best = {row["kernel"]: row for row in best_rows}
    names = list(best)
    if unknown := {row["kernel"] for row in rows}.symmetric_difference(names):
        raise DataError(f"{runtimes}: {oracles.name} has other kernels: {', '.join(sorted(unknown)):.200}")
    source: dict[str, str] = {}
    components = np.full((len(names), len(FACTORS), _NUM_COMPONENTS), np.nan)
    runtime = np.full((len(names), len(DEVICES), len(FACTORS)), np.nan)
    seen = np.zeros((len(names), len(FACTORS)), bool)
    place = {name: number for number, name in enumerate(names)}
    for row in rows:
        kernel, factor = place[row["kernel"]], _factor_index(runtimes, row)
        if seen[kernel, factor] or source.setdefault(row["kernel"], row["src"]) != row["src"]:
            raise DataError(f"{runtimes}: {_where(row)}: given twice, or with another text than at another factor")
        seen[kernel, factor] = True
        components[kernel, factor] = [_number(runtimes, row, f"PCA{i + 1}") for i in range(_NUM_COMPONENTS)]
        runtime[kernel, :, factor] = [_number(runtimes, row, f"runtime_{device}") for device in DEVICES]
    if np.isinf(components).any():
        raise DataError(f"{runtimes}: a component is not finite")
    samples = CoarseningSamples(
        kernel=np.repeat(names, len(DEVICES)),
        device=np.tile(DEVICES, len(names)),
        source=np.repeat(np.array([source[name] for name in names], dtype=object), len(DEVICES)),
        components=np.repeat(components, len(DEVICES), axis=0),
        runtime=runtime.reshape(-1, len(FACTORS)),
    )
    _check(runtimes, samples, best)
    return samples


def _check(path: Path, samples: CoarseningSamples, oracles: dict[str, dict[str, str]]) -> None:
    for row in range(len(samples)):
        kernel, device = str(samples.kernel[row]), str(samples.device[row])
        measured = samples.runtime[row]
        if not np.isfinite(measured[0]) or (measured <= 0).any() or np.isinf(measured).any():
            raise DataError(f"{path}: {kernel} on {device}: a runtime is not above 0, or that at factor 1 is missing")
        oracle = oracles[kernel]
        factor, fastest = (_number(path, oracle, f"{what}_{device}") for what in ("cf", "runtime"))
        if factor not in FACTORS or measured[FACTORS.index(int(factor))] != fastest or fastest > np.nanmin(measured):
            raise DataError(f"{path}: {kernel} on {device}: the oracle, factor {factor:g}, is not the fastest")


def _factor_index(path: Path, row: dict[str, str]) -> int:
    factor = _number(path, row, "cf")
    if factor not in FACTORS:
        raise DataError(f"{path}: {_where(row)}: expected a factor of {', '.join(map(str, FACTORS))}")
    return FACTORS.index(int(factor))


def _number(path: Path, row: dict[str, str], column: str) -> float:
    try:
        return float(row[column] or "nan")
    except ValueError as error:
        raise DataError(f"{path}: {_where(row)}: column {column}: {error}") from error


def _where(row: dict[str, str]) -> str:
    factor = f" at factor {row['cf']:.40}" if "cf" in row else ""
    return f"{row['kernel']:.80}{factor}"


def clamp_to_measured(runtime: Floats, chosen: Ints) -> Ints:
    """Replace factors, (..., n) indices, without a runtime, (n, 6), by the largest smaller one that has one."""
    number = np.where(np.isfinite(runtime), np.arange(runtime.shape[1]), 0)
    last_measured = np.maximum.accumulate(number, axis=1)
    return last_measured[np.arange(len(runtime)), chosen]


def complete_log_speedups(runtime: Floats) -> Floats:
    """Return the logarithms of all speedups over no coarsening; factors that were not measured are extrapolated.

    Large factors are missing where a kernel has no work left to merge, or failed. A parabola in log2(factor) through
    the origin is fitted to what was measured of a row and followed beyond it, but never upwards, so that what was not
    tried is not believed to be better than what was.

    Runtimes are (n, k) float64 at factors 1, 2, 4 …, NaN where not measured; so is the result, for rows wholly NaN.
    """
    with np.errstate(invalid="ignore"):
        curves = np.log(runtime[:, :1] / runtime)
    doublings = np.arange(runtime.shape[1], dtype=np.float64)
    shape = np.stack([doublings, doublings**2], axis=1)
    for curve in curves:
        known = np.isfinite(curve)
        if not known.any():
            continue
        coefficients = np.linalg.lstsq(shape[known], curve[known], rcond=None)[0]
        for k in np.flatnonzero(~known).tolist():
            fastest = max(curve[k - 1], curve[k + 1 :][known[k + 1 :]].max(initial=-np.inf))
            curve[k] = min(float(shape[k] @ coefficients), fastest)
    return curves
