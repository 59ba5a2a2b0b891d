"""Samples of heterogeneous device mapping: kernels, data sizes, static counts and measured runtimes.

Reads the two tables of Cummins et al. (PACT 2017, case study A) as arrays, one row per table row.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Bools, Floats, Ints
from ncc.errors import InputError
from ncc.ir.graph.reach import reachable_statements
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module
from ncc.kernels.measure.table import LaunchTimes
from ncc.learning.data.registry import Folder, locate
from ncc.learning.data.tables import check_names, read_rows
from ncc.learning.embedding.embedding import Embedding
from ncc.tasks.devices.features import KernelFeatures
from ncc.tasks.devices.head import Platform, check_platform
from ncc.tasks.devices.train import (
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
    """The n rows of one platform's table.

    Attributes:
        platform: "amd" or "nvidia": whose GPU the runtimes were measured on.
        benchmark: (n,) names of kernels; rows of one kernel differ in data size.
        dataset: (n,) names of the data sizes.
        application: (n,) suite and application, such as "npb BT".
        suite: (n,) benchmark suites, such as "npb".
        source: (n,) OpenCL texts of the kernels, identifiers rewritten.
        counts: (n, 8) static counts in the order of `COUNT_NAMES`; the last two are `transfer_bytes` and `wgsize`.
        transfer_bytes: (n,) bytes moved between host and device.
        wgsize: (n,) work-items per work-group.
        runtime_cpu_ms: (n,) times on the CPU.
        runtime_gpu_ms: (n,) times on the GPU, transfers included.
        log_ratio: (n,) log(CPU time / GPU time), positive where the GPU is faster.
        is_gpu: (n,) whether the GPU is the faster device.
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
        """Return the name of each row's kernel, application or suite, (n,) str."""
        if unit not in get_args(MappingUnit):
            raise InputError(f"no grouping {unit!r}; expected one of {', '.join(get_args(MappingUnit))}")
        return self.benchmark if unit == "kernel" else getattr(self, unit)

    def ir_name(self, row: int) -> str:
        """Return the file name of a row's kernel in the legacy IR."""
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
        """Return a copy in which some rows' runtimes and log ratios are NaN, and `is_gpu` is False."""

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
    """Load the 680 samples of "amd" (Tahiti 7970) or "nvidia" (GTX 970); both have the same kernels in one order.

    Reference: Cummins et al., End-to-End Deep Learning of Optimization Heuristics, PACT 2017, case study A.
    """
    return read_table(locate("devmap", f"cgo17-{check_platform(platform)}.csv", folder), platform)


def read_table(path: Path, platform: str) -> DeviceMappingSamples:
    """Read a CSV file of the published columns; refuse oracles that contradict the runtimes."""
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
    """Return the mean vector of every row's statements in the legacy IR, (n, dim) float64."""

    def mean(module: Module) -> Floats:
        words, _ = embedding.vocabulary.encode(module.texts)
        statements = reachable_statements(module, module.first_kernel)
        return embedding.vectors[words[module.text_id[statements]]].mean(axis=0, dtype=np.float64)

    return describe_kernels(samples, mean, folder, embedding.abstraction)


def describe_kernels(
    samples: DeviceMappingSamples,
    describe: Callable[[Module], NDArray[Any]],
    folder: Folder = None,
    abstraction: Abstraction | None = None,
) -> Floats:
    """Return what a function makes of each row's module in the legacy IR, (n, k) float64."""
    legacy = load_legacy_ir(folder)
    names = [samples.ir_name(row) for row in range(len(samples))]
    modules = ((name, read_module(legacy[name], name=name, abstraction=abstraction)) for name in set(names))
    described = {name: describe(module) for name, module in modules}
    return np.asarray([described[name] for name in names], np.float64)
