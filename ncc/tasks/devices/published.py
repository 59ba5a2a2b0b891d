"""The published times of two platforms as launches: the suites of device mapping, and CLgen's generated kernels.

Reference: Cummins et al., PACT 2017, case study A (suites); Cummins et al., CGO 2017 (CLgen).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

import numpy as np

from ncc.arrays import Bools, Floats
from ncc.errors import DataError, InputError, NccError
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module
from ncc.kernels.measure.table import LaunchTimes
from ncc.learning.data.archives import iter_members
from ncc.learning.data.registry import Folder, locate
from ncc.learning.data.tables import check_names, read_rows
from ncc.learning.embedding.embedding import Embedding
from ncc.tasks.devices.features import KernelFeatures, kernel_features

Platform = Literal["amd", "nvidia"]
Launches = tuple[LaunchTimes, KernelFeatures]

DEVICES = ("CPU", "GPU")
SOURCES: Mapping[str, str] = {"clgen": "clgen"} | dict.fromkeys(
    ("amd", "npb", "nvidia", "parboil", "polybench", "rodinia", "shoc"), "suites"
)
"""Suite → source: written by people for a purpose, or generated."""
_COLUMNS = ("benchmark", "dataset", "transfer", "wgsize", "runtime_cpu", "runtime_gpu")
# suite, its version, application, kernel: "npb-3.3-BT-add", "amd-app-sdk-3.0-Reduction-reduce"
_BENCHMARK = re.compile(r"(?P<suite>[^-]+)(?:-[^-]+)*?-\d+(?:\.\d+)+-(?P<application>[^-]+)-(?P<kernel>.+)")


def suite_launches(platform: Platform, embedding: Embedding, folder: Folder = None) -> Launches:
    """Load the 680 rows of device mapping; their tables do not say how many work-items there were."""
    table, ir_names = read_suites(locate("devmap", f"cgo17-{check_platform(platform)}.csv", folder))
    return table, legacy_features(ir_names, embedding, folder)


def check_platform(platform: str) -> str:
    """Return a platform that there is, or raise InputError."""
    if platform not in get_args(Platform):
        raise InputError(f"no platform {platform!r}; expected one of {', '.join(get_args(Platform))}")
    return platform


def read_suites(path: Path) -> tuple[LaunchTimes, list[str]]:
    """Read the table of the suites, and the names of its rows' kernels in the legacy IR; DataError if malformed."""
    rows = read_rows(path, _COLUMNS)
    for column in ("benchmark", "dataset"):
        check_names(path, rows, column)
    transfer, wgsize, cpu_ms, gpu_ms = read_numbers(path, rows, _COLUMNS[2:]).T
    check_rows(path, (cpu_ms > 0) & (gpu_ms > 0), "runtimes must be positive")
    suite, application = benchmark_names(path, rows)
    kernel, items = np.array([row["benchmark"] for row in rows]), np.full(len(rows), np.nan)
    sizes = np.stack([items, transfer, np.maximum(wgsize, 1)], axis=1)
    table = _launch_times("devmap", kernel, application, suite, sizes, np.stack([cpu_ms, gpu_ms], axis=1))
    return table, [legacy_name(row["benchmark"], row["dataset"]) for row in rows]


def _launch_times(
    file: str, kernel: np.ndarray, family: np.ndarray, suite: np.ndarray, sizes: Floats, times_ms: Floats
) -> LaunchTimes:
    """Launches of (n, 3) float64 global size, bytes and work-group size, and (n, devices) float64 times."""
    return LaunchTimes(
        devices=DEVICES,
        file=np.full(len(kernel), file),
        kernel=kernel,
        family=family,
        suite=suite,
        global_size=sizes[:, 0],
        transfer_bytes=sizes[:, 1],
        local_size=sizes[:, 2],
        times_ms=times_ms,
    )


def read_numbers(path: Path, rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> Floats:
    """(n, columns) float64 finite numbers from 0; DataError for others."""
    numbers = np.empty((len(rows), len(columns)))
    for index, column in enumerate(columns):
        try:
            numbers[:, index] = [float(row[column]) for row in rows]
        except ValueError as error:
            raise DataError(f"{path}: column {column}: {error}") from error
        values = numbers[:, index]
        check_rows(path, np.isfinite(values) & (values >= 0), f"column {column} must be finite and not negative")
    return numbers


def check_rows(path: Path, holds: Bools, rule: str) -> None:
    """Raise DataError for the first row that breaks a rule."""
    if not holds.all():
        # numbered as samples, because cells with line breaks make the file's line numbers useless
        raise DataError(f"{path}: row {int(np.argmin(holds))} (of {len(holds)}, from 0): {rule}")


def benchmark_names(path: Path, rows: Sequence[Mapping[str, str]]) -> tuple[np.ndarray, np.ndarray]:
    """Suites, such as "npb", and applications, such as "npb BT": (n,) str; DataError for other names."""
    names = [_BENCHMARK.fullmatch(row["benchmark"]) for row in rows]
    check_rows(path, np.array([name is not None for name in names]), "expected SUITE-VERSION-APPLICATION-KERNEL")
    parts = [name.group("suite", "application") for name in names if name is not None]
    return np.array([suite for suite, _ in parts]), np.array([" ".join(part) for part in parts])


def legacy_name(benchmark: str, dataset: str) -> str:
    """File name of a row's kernel in the legacy IR."""
    # NPB's kernels have sizes compiled in, so there the IR depends on the data size
    return f"{benchmark}_{dataset}.ll" if benchmark.startswith("npb-") else f"{benchmark}.ll"


def load_legacy_ir(folder: Folder = None) -> dict[str, bytes]:
    """Load the LLVM 5 IR of the suites' kernels, by file name; DataError if it is missing or damaged."""
    archive = locate("legacy_ir", "devmap-kernels-llvm5.tar.xz", folder)
    return {PurePosixPath(name).name: text for name, text in iter_members(archive, ".ll")}


def legacy_features(names: Sequence[str], embedding: Embedding, folder: Folder = None) -> KernelFeatures:
    """Describe the kernel of every file of the legacy IR, names repeated as often as they are given."""
    legacy = load_legacy_ir(folder)
    modules = {name: read_module(legacy[name], name=name, abstraction=embedding.abstraction) for name in set(names)}
    known = {name: _features(module, embedding) for name, module in modules.items()}
    return KernelFeatures.joined([known[name] for name in names])


def _features(module: Module, embedding: Embedding) -> KernelFeatures:
    words, _ = embedding.vocabulary.encode(module.texts)
    return kernel_features(module, module.first_kernel, embedding.vectors[words[module.text_id]])


def clgen_launches(platform: Platform, embedding: Embedding, folder: Folder = None) -> Launches:
    """Load CLgen's kernels that compile, each at up to 16 sizes."""
    described: dict[str, KernelFeatures] = {}
    for name, text in iter_members(locate("clgen", "kernels.tar.xz", folder), ".cl"):
        try:
            ir = compile_source(text, CompileOptions(language="opencl", is_strict=True)).ir
            module = read_module(ir, abstraction=embedding.abstraction)
        except NccError:
            continue  # 16 of the 1,000 that were published mix pointers with integers; none of them was measured
        described[PurePosixPath(name).stem] = _features(module, embedding)
    path = locate("clgen", f"{platform}.csv", folder)
    named = [(row["benchmark"].partition(".")[0], row) for row in read_rows(path, _COLUMNS)]
    named = [(name, row) for name, row in named if name in described]
    numbers = read_numbers(path, [row for _, row in named], _COLUMNS[1:])
    if not named or not (numbers > 0).all():
        raise DataError(f"{path}: expected sizes and times above 0 of the kernels in kernels.tar.xz")
    names = np.array([name for name, _ in named])
    suite = np.full(len(names), "clgen")
    table = _launch_times("clgen", names, names, suite, numbers[:, :3], numbers[:, 3:])
    return table, KernelFeatures.joined([described[name] for name in names.tolist()])


def combine(parts: Iterable[Launches]) -> Launches:
    """Rows of several tables of the same devices."""
    tables, features = zip(*parts, strict=True)
    return LaunchTimes.joined(tables), KernelFeatures.joined(features)
