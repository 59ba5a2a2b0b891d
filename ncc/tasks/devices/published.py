"""The published times of two platforms as launches: the suites of device mapping, and CLgen's generated kernels.

Reference: Cummins et al., PACT 2017, case study A (suites); Cummins et al., CGO 2017 (CLgen).
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

import numpy as np

from ncc.arrays import Bools, Floats
from ncc.errors import DataError, NccError
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module
from ncc.kernels.measure.table import LaunchTimes
from ncc.learning.data import tables
from ncc.learning.data.archives import iter_members
from ncc.learning.data.registry import Folder, locate
from ncc.learning.embedding.embedding import Embedding
from ncc.tasks.devices.features import KernelFeatures, KernelWork
from ncc.tasks.devices.fit import CLGEN
from ncc.tasks.devices.head import Platform, check_platform
from ncc.tasks.devices.models import Launches

_TEXTS, _NUMBERS = ("benchmark", "dataset"), ("transfer", "wgsize", "runtime_cpu", "runtime_gpu")
_MAX_NUMBER = 1e18
# suite, its version, application, kernel: "npb-3.3-BT-add", "amd-app-sdk-3.0-Reduction-reduce"
_BENCHMARK = re.compile(r"(?P<suite>[^-]+)(?:-[^-]+)*?-\d+(?:\.\d+)+-(?P<application>[^-]+)-(?P<kernel>.+)")


def suite_launches(platform: Platform, embedding: Embedding, folder: Folder = None) -> Launches:
    """Load the 680 rows of device mapping by the published IR, and again by today's clang's if it compiles them."""
    table, ir_names = read_suites(locate("devmap", f"cgo17-{check_platform(platform)}.csv", folder))
    described = _compiled_features(locate("devmap", "kernels.tar.bz2", folder), embedding)
    compiled = np.flatnonzero([name in described for name in table.kernel.tolist()])
    features = KernelFeatures.joined([described[name] for name in table.kernel[compiled].tolist()])
    legacy = Launches.of(table, legacy_features(ir_names, embedding, folder))
    return Launches.joined([legacy, Launches.of(table.rows(compiled), features)])


def read_suites(path: Path) -> tuple[LaunchTimes, list[str]]:
    """Read the table of the suites, and the names of its rows' kernels in the legacy IR; DataError if malformed."""
    rows = tables.read_rows(path, (*_TEXTS, *_NUMBERS))
    for column in _TEXTS:
        tables.check_names(path, rows, column)
    numbers = read_numbers(path, rows, _NUMBERS)
    check_rows(path, numbers[:, 2:].min(axis=1) > 0, "runtimes must be positive")
    numbers[:, 1] = np.maximum(numbers[:, 1], 1)
    names = [_BENCHMARK.fullmatch(row["benchmark"]) for row in rows]
    check_rows(path, np.array([name is not None for name in names]), "expected SUITE-VERSION-APPLICATION-KERNEL")
    suites, applications = zip(*(name.group("suite", "application") for name in names if name), strict=True)
    families = [" ".join(pair) for pair in zip(suites, applications, strict=True)]
    items = np.full((len(rows), 1), np.nan)
    table = _launch_times("devmap", [row["benchmark"] for row in rows], families, suites, np.hstack([items, numbers]))
    return table, [legacy_name(row["benchmark"], row["dataset"]) for row in rows]


def _launch_times(
    file: str, kernels: Sequence[str], families: Sequence[str], suites: Sequence[str], numbers: Floats
) -> LaunchTimes:
    """Launches by (n, 5) float64 global size, bytes moved, work-group size, and times on the CPU and the GPU."""
    names = {"file": [file] * len(kernels), "kernel": kernels, "family": families, "suite": suites}
    sizes = dict(zip(("global_size", "transfer_bytes", "local_size"), numbers.T, strict=False))
    texts = {name: np.array(column) for name, column in names.items()}
    return LaunchTimes(devices=("CPU", "GPU"), **texts, **sizes, times_ms=numbers[:, 3:])


def read_numbers(path: Path, rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> Floats:
    """(n, columns) float64 numbers from 0; DataError for others."""
    numbers = np.stack([tables.read_numbers(path, rows, column, _MAX_NUMBER) for column in columns], axis=1)
    check_rows(path, np.isfinite(numbers.sum(axis=1)), f"expected numbers in {', '.join(columns)}")
    return numbers


def check_rows(path: Path, holds: Bools, rule: str) -> None:
    """Raise DataError for the first row that breaks a rule."""
    if not holds.all():
        raise DataError(f"{path}: row {int(np.argmin(holds))} (of {len(holds)}, from 0): {rule}")


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
    modules = ((name, read_module(legacy[name], name=name, abstraction=embedding.abstraction)) for name in set(names))
    known = {name: _features(module, embedding) for name, module in modules}
    return KernelFeatures.joined([known[name] for name in names])


def _features(module: Module, embedding: Embedding) -> KernelFeatures:
    words, _ = embedding.vocabulary.encode(module.texts)
    return KernelWork(module, module.first_kernel).features(embedding.vectors[words[module.text_id]])


def clgen_launches(platform: Platform, embedding: Embedding, folder: Folder = None) -> Launches:
    """Load CLgen's kernels that compile, each at up to 16 sizes."""
    # 16 of the 1,000 that were published mix pointers with integers; none of them was measured
    described = _compiled_features(locate("clgen", "kernels.tar.xz", folder), embedding)
    path = locate("clgen", f"{platform}.csv", folder)
    rows = tables.read_rows(path, (*_TEXTS, *_NUMBERS))
    rows = [row for row in rows if row["benchmark"].partition(".")[0] in described]
    if not rows:
        raise DataError(f"{path}: no times of the kernels in kernels.tar.xz")
    numbers = read_numbers(path, rows, ("dataset", *_NUMBERS))
    check_rows(path, numbers.min(axis=1) > 0, "sizes and times must be positive")
    names = [row["benchmark"].partition(".")[0] for row in rows]
    table = _launch_times(CLGEN, names, names, [CLGEN] * len(names), numbers)
    return Launches.of(table, KernelFeatures.joined([described[name] for name in names]))


def _compiled_features(archive: Path, embedding: Embedding) -> dict[str, KernelFeatures]:
    """Describe the kernel of every source in an archive that compiles, by the file's stem."""
    described: dict[str, KernelFeatures] = {}
    for name, text in iter_members(archive, ".cl"):
        with suppress(NccError):
            ir = compile_source(text, CompileOptions(language="opencl", is_strict=True)).ir
            module = read_module(ir, abstraction=embedding.abstraction)
            described[PurePosixPath(name).stem] = _features(module, embedding)
    return described
