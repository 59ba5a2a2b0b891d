"""Samples of heterogeneous device mapping: kernels, data sizes, static counts and measured runtimes.

Reads the two tables of Cummins et al. (PACT 2017, case study A) as arrays, one row per table row.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from ncc.arrays import Bools, Floats, Ints
from ncc.errors import InputError
from ncc.ir.graph.reach import reachable_statements
from ncc.ir.reader.reader import read_module
from ncc.kernels.measure.table import LaunchTimes
from ncc.learning.data.registry import Folder, locate
from ncc.learning.data.tables import check_names, read_rows
from ncc.learning.embedding.embedding import Embedding
from ncc.tasks.devices.features import KernelFeatures
from ncc.tasks.devices.published import (
    Platform,
    check_platform,
    check_rows,
    legacy_features,
    legacy_name,
    load_legacy_ir,
    read_numbers,
    read_suites,
)

MappingUnit = Literal["kernel", "application", "suite"]

COUNT_NAMES = ("comp", "rational", "mem", "localmem", "coalesced", "atomic", "transfer", "wgsize")
_COLUMNS = ("oracle", "src", "dataset", *COUNT_NAMES)


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
        """Return the file name of a row's kernel in the legacy IR ."""
        return legacy_name(str(self.benchmark[row]), str(self.dataset[row]))

    @property
    def launches(self) -> LaunchTimes:
        """The rows as launches."""
        return LaunchTimes(
            devices=("CPU", "GPU"),
            file=np.full(len(self), "devmap"),
            kernel=self.benchmark,
            family=self.application,
            suite=self.suite,
            global_size=np.full(len(self), np.nan),
            local_size=np.maximum(self.wgsize, 1),
            transfer_bytes=self.transfer_bytes,
            times_ms=np.stack([self.runtime_cpu_ms, self.runtime_gpu_ms], axis=1),
        )

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
    return read_table(locate("devmap", f"cgo17-{check_platform(platform)}.csv", folder), platform)


def read_table(path: Path, platform: str) -> DeviceMappingSamples:
    """Read a table of samples from a CSV file that has the published columns.

    Returns:
        The samples, in the file's order.

    Raises:
        DataError: A column is missing, a value is malformed, or an oracle contradicts the runtimes.
    """
    launches, _ = read_suites(path)
    rows = read_rows(path, _COLUMNS)
    check_names(path, rows, "oracle")
    counts = read_numbers(path, rows, COUNT_NAMES)
    cpu_ms, gpu_ms = launches.times_ms.T
    oracle = np.array([row["oracle"] for row in rows])
    check_rows(path, np.isin(oracle, ("CPU", "GPU")), "the oracle must be CPU or GPU")
    is_gpu = oracle == "GPU"
    check_rows(path, is_gpu == (gpu_ms < cpu_ms), "the oracle is not the faster device")
    with np.errstate(over="ignore", divide="ignore"):
        log_ratio = np.log(cpu_ms / gpu_ms)
    check_rows(path, np.isfinite(log_ratio), "runtimes must not differ beyond all measure")
    return DeviceMappingSamples(
        platform=platform,
        benchmark=launches.kernel,
        dataset=np.array([row["dataset"] for row in rows]),
        application=launches.family,
        suite=launches.suite,
        source=np.array([row["src"] for row in rows], dtype=object),
        counts=counts,
        transfer_bytes=counts[:, COUNT_NAMES.index("transfer")].copy(),
        wgsize=counts[:, COUNT_NAMES.index("wgsize")].copy(),
        runtime_cpu_ms=cpu_ms,
        runtime_gpu_ms=gpu_ms,
        log_ratio=log_ratio,
        is_gpu=is_gpu,
    )


def load_inputs(samples: DeviceMappingSamples, embedding: Embedding, folder: Folder = None) -> KernelFeatures:
    """Describe every row's kernel, from the legacy IR."""
    return legacy_features([samples.ir_name(row) for row in range(len(samples))], embedding, folder)


def load_vectors(samples: DeviceMappingSamples, embedding: Embedding, folder: Folder = None) -> Floats:
    """Mean vector of every row's statements, from the legacy IR: (n, dim) float64."""
    legacy = load_legacy_ir(folder)
    names = [samples.ir_name(row) for row in range(len(samples))]
    means: dict[str, Floats] = {}
    for name in set(names):
        module = read_module(legacy[name], name=name, abstraction=embedding.abstraction)
        words, _ = embedding.vocabulary.encode(module.texts)
        statements = reachable_statements(module, module.first_kernel)
        means[name] = embedding.vectors[words[module.text_id[statements]]].mean(axis=0, dtype=np.float64)
    return np.stack([means[name] for name in names])
