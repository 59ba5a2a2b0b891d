"""The inputs that every device head gets about a kernel and its sizes, and the answer that it returns."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Rows
from ncc.errors import AssetError, InputError
from ncc.ir.graph.reach import reachable_statements
from ncc.ir.reader.module import Module
from ncc.ir.reader.native import OPCODES
from ncc.kernels.reading import LONGEST, Kernel
from ncc.kernels.work import FEATURE_NAMES, count_work
from ncc.system.files.quantities import LARGEST_BYTES
from ncc.tasks.devices.work import launch_work

Blocks = dict[str, Floats]
"""Name of a block of columns → (n, k) float64."""

INTERVAL = 0.8
_LARGEST_GROUP = 1 << 16
_LARGEST_LOG = 100.0
"""Of a ratio of times: e¹⁰⁰ is out of this world."""

_COLUMN = {name: number for number, name in enumerate(FEATURE_NAMES)}
_PROFILE = (
    "dimensions", "depth", "open_depth", "fixed_trips", "weighted_flops", "intensity", "coalesced_share",
    "weighted_global_irregular", "local_share", "weighted_barrier", "divergent_share", "weighted_divergent_branch",
    "statements", "double_share", "weighted_special", "weighted_atomic", "pointer_arguments", "scalar_arguments",
    "weighted_division", "divergent_loops",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class KernelInputs(Rows):
    """What is known of kernels before they run; a row a kernel, or a row of a table of samples.

    Attributes:
        profile: (n, len(FEATURE_NAMES)) float64, see `ncc.kernels.work.Work.features`.
        opcodes: (n, num_opcodes) float64 how often each opcode occurs.
        vectors: (n, dim) float64 means of the vectors of the kernels' statements.
        work: (n, WORK_WIDTH) float64 what a thread does at two launches, see `ncc.tasks.devices.work.launch_work`.
        sequences: (n,) of (time, dim) vectors of the kernels' first 1024 statements, in order.
    """

    profile: Floats
    opcodes: Floats
    vectors: Floats
    work: Floats
    sequences: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.profile)

    def repeat(self, times: int) -> "KernelInputs":
        """The first row as often as that."""
        return self.rows(np.zeros(times, np.int64))

    def blocks(self, transfer_bytes: Floats, wgsize: Floats) -> Blocks:
        """The blocks of columns that the members of a head look at.

        ``data`` is the size of the data and of work-groups, ``shape`` how much work there is for that data: threads
        have as many dimensions as ``get_global_id`` is asked for, loops add theirs, so that work grows with a power of
        the data.

        Args:
            transfer_bytes: (n,) float64.
            wgsize: (n,) float64.
        """
        transfer, group = np.log1p(transfer_bytes), np.log1p(wgsize)
        column = {name: self.profile[:, number] for name, number in _COLUMN.items()}
        dims, depth, open_depth = column["dimensions"], column["depth"], column["open_depth"]

        def total(*names: str) -> Floats:
            return np.log1p(sum(np.expm1(column[name]) for name in names))

        data = [transfer, group]
        profile = [
            *(column[name] for name in _PROFILE),
            total("weighted_global_load", "weighted_global_store"),
            total("weighted_global_far", "weighted_global_irregular"),
            total("weighted_private_load", "weighted_private_store"),
            dims + depth,
            dims + open_depth,
            dims * transfer,
            (dims + depth) * transfer,
            (dims + open_depth) * transfer,
            transfer + column["weighted_flops"],
        ]
        return {
            "data": np.stack(data, axis=1),
            "shape": np.stack([dims, depth], axis=1),
            "growth": np.stack([dims + depth, (dims + depth) * transfer], axis=1),
            "profile": np.stack([*data, *profile], axis=1),
            "opcodes": np.log1p(self.opcodes),
            "embedding": self.vectors,
        }


def describe_kernel(
    module: Module, function: int, vectors: NDArray[np.floating], without: Collection[int] = ()
) -> KernelInputs:
    """What is known of one kernel from its IR, as inputs of one row.

    Args:
        module: The module.
        function: Number of the kernel among its functions.
        vectors: (num_statements of the module, dim) vectors of its statements.
        without: Statements that are taken to do nothing.
    """
    statements = reachable_statements(module, function)
    if without:
        statements = statements[~np.isin(statements, list(without))]
    profile = count_work(module, function).without(without).features()
    dimensions = int(profile[_COLUMN["dimensions"]])
    sequence = np.empty(1, object)
    sequence[0] = vectors[statements[:LONGEST]]
    return KernelInputs(
        profile[None, :],
        np.bincount(module.opcode[statements], minlength=len(OPCODES))[None, :].astype(np.float64),
        vectors[statements].mean(axis=0, dtype=np.float64)[None, :],
        launch_work(module, function, dimensions, without)[None, :],
        sequence,
    )


def kernel_inputs(kernel: Kernel, without: Collection[int] = ()) -> KernelInputs:
    """What a head is told of a kernel that was read, as if some statements did nothing."""
    return describe_kernel(kernel.module, kernel.function, kernel.vectors, without)


@dataclass(frozen=True)
class RatioPrediction:
    """What is known of log(CPU time / GPU time) for one kernel.

    Attributes:
        log_ratio: Positive where the GPU is the faster device.
        interval: (low, high), which should hold the true value in 80 % of cases.
        probability_gpu: Of the GPU being faster; above 0.5 exactly where ``log_ratio`` is positive.
        times_ms: Device → expected time, and both ends of its 80 % interval; None of a head that knows no times.
        distance: From the kernels of training; None of a head that does not know it.
        familiar: Whether that is within what was measured.
        nearest: Names of the nearest kernels of training.
        devices: What is compared: the first, where the ratio is negative, with the second, called GPU here.
    """

    log_ratio: float
    interval: tuple[float, float]
    probability_gpu: float
    times_ms: Mapping[str, tuple[float, ...]] | None = None
    distance: float | None = None
    familiar: bool = True
    nearest: tuple[str, ...] = ()
    devices: tuple[str, ...] = ("CPU", "GPU")


def check_sizes(transfer_bytes: float | None, wgsize: float | None, global_size: float | None = None) -> None:
    """Refuses sizes that no kernel can have.

    Raises:
        InputError: One is not a number, the transfer is below 0 or beyond all machines, the work-group size is not a
            whole number from 1, or there are no work-items or more than any machine runs.
    """
    named = {"transfer_bytes": transfer_bytes, "wgsize": wgsize, "global_size": global_size}
    for name, size in named.items():
        if not isinstance(size, Real | None):
            raise InputError(f"{name} is {size!r:.80}; expected a number")
    if global_size is not None and not 1 <= global_size <= LARGEST_BYTES:
        raise InputError(f"global_size is {global_size:g} work-items; expected 1 to {LARGEST_BYTES:g}")
    if transfer_bytes is not None and not 0 <= transfer_bytes <= LARGEST_BYTES:
        raise InputError(f"transfer is {transfer_bytes:g} bytes; expected 0 to {LARGEST_BYTES:g}")
    if wgsize is not None and not (1 <= wgsize <= _LARGEST_GROUP and wgsize == int(wgsize)):
        raise InputError(f"wgsize is {wgsize:g} work-items; expected a whole number from 1 to {_LARGEST_GROUP}")


def checked_ratio(answer: RatioPrediction) -> RatioPrediction:
    """The answer as it is.

    Raises:
        AssetError: It is not a ratio that two devices can have: the head's file was damaged, or forged.
    """
    if not max(map(abs, (answer.log_ratio, *answer.interval))) < _LARGEST_LOG:
        raise AssetError(
            f"the device-mapping head says that one device is e^{answer.log_ratio:.3g} times as fast as the other "
            f"(interval {answer.interval}); its file is damaged"
        )
    return answer
