"""The published times of two platforms as launches: the suites of device mapping, and CLgen's generated kernels."""

from collections.abc import Mapping
from pathlib import PurePosixPath

import numpy as np

from ncc.errors import DataError, NccError
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.reader import read_module
from ncc.kernels.measure.devices_table import LaunchTimes
from ncc.learning.data.archives import iter_members
from ncc.learning.data.registry import Folder, locate
from ncc.learning.data.tables import read_rows
from ncc.learning.embedding.embedding import Embedding
from ncc.tasks.devices.features import KernelInputs, describe_kernel
from ncc.tasks.devices.published import DeviceMappingSamples, Platform, load_legacy_ir, load_samples

DEVICES = ("CPU", "GPU")
SOURCES: Mapping[str, str] = {"clgen": "clgen"} | dict.fromkeys(
    ("amd", "npb", "nvidia", "parboil", "polybench", "rodinia", "shoc"), "suites"
)
"""Suite → source: what was written by people for a purpose, and what was generated."""

_COLUMNS = ("benchmark", "dataset", "transfer", "wgsize", "runtime_cpu", "runtime_gpu")


def load_inputs(samples: DeviceMappingSamples, embedding: Embedding, folder: str | None = None) -> KernelInputs:
    """Describes every row's kernel, from the legacy IR.

    Raises:
        DataError: The archive of legacy IR is missing or damaged.
    """
    legacy = load_legacy_ir(folder)
    known: dict[str, KernelInputs] = {}
    for name in {samples.ir_name(row) for row in range(len(samples))}:
        module = read_module(legacy[name], name=name, abstraction=embedding.abstraction)
        words, _ = embedding.vocabulary.encode(module.texts)
        vectors = embedding.vectors[words[module.text_id]]
        known[name] = describe_kernel(module, module.first_kernel, vectors)
    return KernelInputs.joined([known[samples.ir_name(row)] for row in range(len(samples))])


def suite_launches(platform: Platform, embedding: Embedding, folder: Folder = None) -> tuple[LaunchTimes, KernelInputs]:
    """The 680 rows of device mapping; their tables do not say how many work-items there were.

    Raises:
        DataError: The table or the IR is missing or damaged.
    """
    samples = load_samples(platform, folder)
    return launches_of(samples), load_inputs(samples, embedding, None if folder is None else str(folder))


def launches_of(samples: DeviceMappingSamples) -> LaunchTimes:
    """Rows of device mapping as launches."""
    return LaunchTimes(
        devices=DEVICES,
        file=np.full(len(samples), "devmap"),
        kernel=samples.benchmark,
        family=samples.application,
        suite=samples.suite,
        global_size=np.full(len(samples), np.nan),
        local_size=np.maximum(samples.wgsize, 1),
        transfer_bytes=samples.transfer_bytes,
        times_ms=np.stack([samples.runtime_cpu_ms, samples.runtime_gpu_ms], axis=1),
    )


def clgen_launches(platform: Platform, embedding: Embedding, folder: Folder = None) -> tuple[LaunchTimes, KernelInputs]:
    """CLgen's kernels that compile, each at up to 16 sizes.

    Args:
        platform: "amd" (Tahiti 7970) or "nvidia" (GTX 970).
        embedding: Where statements are looked up.
        folder: The data folder; None stands for NCC_DATA, then the cache.

    Raises:
        DataError: The table or the sources are missing or damaged.

    Reference: Cummins, Petoumenos, Wang, Leather, CGO 2017.
    """
    described: dict[str, KernelInputs] = {}
    for name, text in iter_members(locate("clgen", "kernels.tar.xz", folder), ".cl"):
        try:
            ir = compile_source(text, CompileOptions(language="opencl", is_strict=True)).ir
            module = read_module(ir, abstraction=embedding.abstraction)
        except NccError:
            continue  # 16 of the 1,000 that were published mix pointers with integers: what is measured is without them
        words, _ = embedding.vocabulary.encode(module.texts)
        vectors = embedding.vectors[words[module.text_id]]
        described[PurePosixPath(name).stem] = describe_kernel(module, module.first_kernel, vectors)
    path = locate("clgen", f"{platform}.csv", folder)
    rows = [(row["benchmark"].partition(".")[0], row) for row in read_rows(path, _COLUMNS)]
    rows = [(name, row) for name, row in rows if name in described]
    try:
        numbers = np.array([[float(row[column]) for column in _COLUMNS[1:]] for _, row in rows])
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error
    if not rows or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise DataError(f"{path}: expected sizes and times above 0 of the kernels in kernels.tar.xz")
    names = np.array([name for name, _ in rows])
    return (
        LaunchTimes(
            devices=DEVICES,
            file=np.full(len(rows), "clgen"),
            kernel=names,
            family=names,
            suite=np.full(len(rows), "clgen"),
            global_size=numbers[:, 0],
            local_size=numbers[:, 2],
            transfer_bytes=numbers[:, 1],
            times_ms=numbers[:, 3:],
        ),
        KernelInputs.joined([described[name] for name, _ in rows]),
    )


def combine(
    one: tuple[LaunchTimes, KernelInputs], other: tuple[LaunchTimes, KernelInputs]
) -> tuple[LaunchTimes, KernelInputs]:
    """The rows of both, of the same devices."""
    assert one[0].devices == other[0].devices
    return LaunchTimes.joined([one[0], other[0]]), KernelInputs.joined([one[1], other[1]])
