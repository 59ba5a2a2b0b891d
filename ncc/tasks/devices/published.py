"""Samples of heterogeneous device mapping: kernels, data sizes, static counts and measured runtimes.

Reads the two tables of Cummins et al. (PACT 2017, case study A) as arrays, one row per table row.
"""

import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

import numpy as np

from ncc.arrays import Bools, Floats, Ints
from ncc.errors import DataError, InputError
from ncc.learning.data.archives import iter_members
from ncc.learning.data.registry import Folder, locate
from ncc.learning.data.tables import check_names, read_rows

Platform = Literal["amd", "nvidia"]
MappingUnit = Literal["kernel", "application", "suite"]

COUNT_NAMES = ("comp", "rational", "mem", "localmem", "coalesced", "atomic", "transfer", "wgsize")
_COLUMNS = ("benchmark", "dataset", *COUNT_NAMES, "oracle", "runtime_cpu", "runtime_gpu", "src")

# suite, its version, application, kernel: "npb-3.3-BT-add", "amd-app-sdk-3.0-Reduction-reduce"
_BENCHMARK = re.compile(r"(?P<suite>[^-]+)(?:-[^-]+)*?-\d+(?:\.\d+)+-(?P<application>[^-]+)-(?P<kernel>.+)")


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceMappingSamples:
    """The rows of one platform's table; row i of every array belongs to sample i.

    Args:
        platform: "amd" or "nvidia": whose GPU the runtimes were measured on.
        benchmark: Kernel names, (n,) str. Rows of one kernel differ in data size.
        dataset: Names of the data sizes, (n,) str.
        application: Suite and application, such as "npb BT", (n,) str.
        suite: Benchmark suites, such as "npb", (n,) str.
        source: OpenCL text of the kernels, identifiers rewritten, (n,) object.
        counts: Grewe et al.'s static counts in the order of `COUNT_NAMES`, (n, 8) float64; the last
            two repeat `transfer_bytes` and `wgsize`.
        transfer_bytes: Bytes moved between host and device, (n,) float64.
        wgsize: Work-items per work-group, (n,) float64.
        runtime_cpu_ms: Time on the CPU, (n,) float64.
        runtime_gpu_ms: Time on the GPU, transfers included, (n,) float64.
        log_ratio: Log(CPU time / GPU time), positive where the GPU is faster, (n,) float64.
        is_gpu: Whether the GPU is the faster device, (n,) bool.
    """

    platform: str
    benchmark: np.ndarray
    dataset: np.ndarray
    application: np.ndarray
    suite: np.ndarray
    source: np.ndarray
    counts: Floats
    transfer_bytes: Floats
    wgsize: Floats
    runtime_cpu_ms: Floats
    runtime_gpu_ms: Floats
    log_ratio: Floats
    is_gpu: Bools

    def __len__(self) -> int:
        return len(self.is_gpu)

    def groups(self, unit: MappingUnit) -> np.ndarray:
        """Return the name of each row's kernel, application or suite, (n,) str.

        Raises:
            InputError: `unit` is none of these.
        """
        if unit not in get_args(MappingUnit):
            raise InputError(f"no grouping {unit!r}; expected one of {', '.join(get_args(MappingUnit))}")
        return self.benchmark if unit == "kernel" else getattr(self, unit)

    def ir_name(self, row: int) -> str:
        """Return the file name of a row's kernel in the legacy IR (see `load_legacy_ir`)."""
        name = str(self.benchmark[row])
        # NPB's kernels have sizes compiled in, so there the IR depends on the data size.
        return f"{name}_{self.dataset[row]}.ll" if self.suite[row] == "npb" else f"{name}.ll"

    def without_answers(self, rows: Ints) -> "DeviceMappingSamples":
        """Return a copy in which some rows' measurements are hidden.

        Args:
            rows: Row indices, (m,) int64.

        Returns:
            The samples, with NaN for these rows' runtimes and log ratios, and False for `is_gpu`.
        """

        def hide(column: np.ndarray, blank: float | bool) -> np.ndarray:
            hidden = column.copy()
            hidden[rows] = blank
            return hidden

        return dataclasses.replace(
            self,
            runtime_cpu_ms=hide(self.runtime_cpu_ms, np.nan),
            runtime_gpu_ms=hide(self.runtime_gpu_ms, np.nan),
            log_ratio=hide(self.log_ratio, np.nan),
            is_gpu=hide(self.is_gpu, False),
        )


def load_samples(platform: Platform, folder: Folder = None) -> DeviceMappingSamples:
    """Load the 680 samples of a platform from the dataset `devmap`.

    Args:
        platform: "amd" (Tahiti 7970) or "nvidia" (GTX 970).
        folder: The data folder; None stands for NCC_DATA, then the cache.

    Returns:
        The samples, in the table's order; both platforms have the same kernels in the same order.

    Raises:
        InputError: `platform` is neither of the two.
        DataError: The table is missing, fails its checksum or is malformed.

    Reference:
        Cummins et al., End-to-End Deep Learning of Optimization Heuristics, PACT 2017, case study A.
    """
    if platform not in get_args(Platform):
        raise InputError(f"no platform {platform!r}; expected one of {', '.join(get_args(Platform))}")
    return read_table(locate("devmap", f"cgo17-{platform}.csv", folder), platform)


def load_legacy_ir(folder: Folder = None) -> dict[str, bytes]:
    """Load the LLVM 5 IR of the kernels, which covers every row of both platforms.

    Returns:
        File name (see `DeviceMappingSamples.ir_name`) → text of the .ll file.

    Raises:
        DataError: The archive is missing, fails its checksum or is damaged.
    """
    archive = locate("legacy_ir", "devmap-kernels-llvm5.tar.xz", folder)
    return {PurePosixPath(name).name: text for name, text in iter_members(archive, ".ll")}


def read_table(path: Path, platform: str) -> DeviceMappingSamples:
    """Read a table of samples from a CSV file that has the published columns.

    Returns:
        The samples, in the file's order.

    Raises:
        DataError: A column is missing, a value is malformed, or an oracle contradicts the runtimes.
    """
    rows = read_rows(path, _COLUMNS)
    for column in ("benchmark", "dataset", "oracle"):
        check_names(path, rows, column)
    counts = np.stack([_numbers(path, rows, name) for name in COUNT_NAMES], axis=1)
    cpu_ms, gpu_ms = _numbers(path, rows, "runtime_cpu"), _numbers(path, rows, "runtime_gpu")
    _require(path, (cpu_ms > 0) & (gpu_ms > 0), "runtimes must be positive")
    oracle = np.array([row["oracle"] for row in rows])
    _require(path, np.isin(oracle, ("CPU", "GPU")), "the oracle must be CPU or GPU")
    is_gpu = oracle == "GPU"
    _require(path, is_gpu == (gpu_ms < cpu_ms), "the oracle is not the faster device")
    names = [_BENCHMARK.fullmatch(row["benchmark"]) for row in rows]
    _require(path, np.array([name is not None for name in names]), "expected SUITE-VERSION-APPLICATION-KERNEL")
    with np.errstate(over="ignore", divide="ignore"):
        log_ratio = np.log(cpu_ms / gpu_ms)
    _require(path, np.isfinite(log_ratio), "runtimes must not differ beyond all measure")
    parts = [name.group("suite", "application") for name in names if name is not None]
    return DeviceMappingSamples(
        platform=platform,
        benchmark=np.array([row["benchmark"] for row in rows]),
        dataset=np.array([row["dataset"] for row in rows]),
        application=np.array([" ".join(part) for part in parts]),
        suite=np.array([suite for suite, _ in parts]),
        source=np.array([row["src"] for row in rows], dtype=object),
        counts=counts,
        transfer_bytes=counts[:, COUNT_NAMES.index("transfer")].copy(),
        wgsize=counts[:, COUNT_NAMES.index("wgsize")].copy(),
        runtime_cpu_ms=cpu_ms,
        runtime_gpu_ms=gpu_ms,
        log_ratio=log_ratio,
        is_gpu=is_gpu,
    )


def _numbers(path: Path, rows: list[dict[str, str]], column: str) -> Floats:
    try:
        values = np.array([float(row[column]) for row in rows], dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{path}: column {column}: {error}") from error
    _require(path, np.isfinite(values) & (values >= 0), f"column {column} must be finite and not negative")
    return values


def _require(path: Path, holds: Bools, rule: str) -> None:
    if not holds.all():
        # Numbered as samples, because cells with line breaks make the file's line numbers useless.
        raise DataError(f"{path}: row {int(np.argmin(holds))} (of {len(holds)}, from 0): {rule}")
