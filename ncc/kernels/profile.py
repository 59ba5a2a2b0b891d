"""The work of a kernel at a launch: counts for a thread, with loops and branches as sizes and arguments decide them.

They are of a weighted sample of blocks: few if all do the same, and where they differ, those on either side. Some are
tried along each dimension of the grid, and more between those that differ. A condition that is linear in a block's
number changes twice at most, so that shares are exact; else evenly spread blocks are an estimate.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Ints
from ncc.ir.reader.locations import header_files
from ncc.ir.reader.module import Module
from ncc.kernels.execution import Execution, LoopTripCount, infer_arguments
from ncc.kernels.launch import Launch, Threads, argument_names, given_arguments
from ncc.kernels.work import TENSOR_KIND, Work, count_work
from ncc.system.files.summaries import Summarized, Summary
from ncc.system.files.text import align_columns, demangle

_MAX_COLUMNS = 16384
_MAX_VALUES = 2**25
_FIRST = {1: 8, 2: 6, 3: 4}
_MAX_TRIED = {1: 64, 2: 20, 3: 10}
"""Blocks along a dimension by the number of dimensions: first, and at most."""
_MAX_ROUNDS, _MAX_BETWEEN, _MAX_CHANGES = 16, 15, 4
_SPREAD = 0.6180339887
_EXACT = 1e-9


@dataclass(frozen=True, eq=False)
class LaunchProfile(Summarized):
    """A kernel's work at a launch.

    Attributes:
        name: Name of the kernel in the IR.
        arguments: Names of its arguments, or "arg0" and so on if the IR has none.
        per_thread: Kind of work or access → average count per thread.
        loops: Its loops and its callees' loops.
        inferred_arguments: Missing arguments → values inferred from the kernel's comparisons.
        launch: Sizes and arguments of the launch.
        num_sampled_blocks: Number of blocks that averages are estimated from; 0 if from all blocks.
        assumptions: Sizes, values and buffers read from host code, each with its line, and the file if it is not the
            source.
    """

    name: str
    arguments: tuple[str, ...]
    per_thread: Mapping[str, float]
    loops: tuple[LoopTripCount, ...]
    inferred_arguments: Mapping[str, float]
    launch: Launch
    num_sampled_blocks: int = 0
    assumptions: tuple[str, ...] = ()

    @property
    def data_dependent_loops(self) -> tuple[LoopTripCount, ...]:
        """Loops whose trip count is not known; each is assumed to run eight times."""
        return tuple(loop for loop in self.loops if loop.trip_count is None)

    @property
    def uncounted_operations(self) -> tuple[str, ...]:
        """Operations that are not counted."""
        return ("tensor-core operations (wmma, mma)",) if self.per_thread.get(TENSOR_KIND) else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of JSON."""
        return {
            "kernel": self.name,
            "demangled": demangle(self.name),
            "grid": list(self.launch.grid),
            "block": list(self.launch.block),
            "arguments": list(self.arguments),
            "per_thread": dict(self.per_thread),
            "loops": [{key: value for key, value in asdict(loop).items() if key != "statement"} for loop in self.loops],
            "inferred_arguments": dict(self.inferred_arguments),
            "assumptions": list(self.assumptions),
            "data_dependent_loops": len(self.data_dependent_loops),
            "num_sampled_blocks": self.num_sampled_blocks,
            "uncounted_operations": list(self.uncounted_operations),
        }

    def summary(self) -> Summary:
        """Return the work of a thread: operations and accesses by kind, and trip counts."""
        flops, num_bytes = (_format_count(self.per_thread.get(kind, 0)) for kind in ("flops", "global_bytes"))
        sampled = f", estimated from {self.num_sampled_blocks:,} of them" if self.num_sampled_blocks else ""
        counts = ((kind, _format_count(amount)) for kind, amount in sorted(self.per_thread.items()))
        work = [(kind, count) for kind, count in counts if count != "0"]
        loops = [
            (loop.location, "8x", f"assumed: {loop.reason}")
            if loop.trip_count is None
            else (loop.location, f"{loop.trip_count:,.6g}x", "")
            for loop in self.loops
        ]
        inferred = [
            f"{name} = {value:,.0f}, the bound that thread indices are checked against"
            for name, value in self.inferred_arguments.items()
        ]
        return Summary(
            verdict=f"{flops} flops",
            interval=f"{num_bytes} B of memory",
            confidence="per thread",
            subject=demangle(self.name),
            details=[
                ("threads", f"{self.launch.num_threads:,} in {self.launch.num_blocks:,} blocks{sampled}"),
                ("work", align_columns(work) if work else "none"),
                ("loops", align_columns(loops, left=(0, 2)) if loops else ""),
                ("assumed", [*self.assumptions, *inferred]),
                *(("caution", f"{kind} are not counted as flops") for kind in self.uncounted_operations),
            ],
        )


def _format_count(count: float) -> str:
    return f"{count:,.2f}".rstrip("0").rstrip(".")


def run_launch(module: Module, kernel: int, launch: Launch) -> tuple[LaunchProfile, Work]:
    """Run a kernel for threads of blocks that differ; return the average work of a thread, and the ledger."""
    inferred = infer_arguments(module, kernel, launch)
    values = given_arguments(module, kernel, launch) | inferred
    threads, num_blocks = sample_blocks(module, kernel, launch, values)
    execution = Execution(module, kernel, threads.add_scattered(), values)
    work = count_work(module, kernel, execution, keep_clamped_strides=True)
    per_thread = {kind: float(amount) for kind, amount in work.dynamic.items() if amount and kind != "flops"}
    if flops := sum(work.dynamic[f"{precision}_flops"] for precision in ("single", "double", "half")):
        per_thread["flops"] = flops
    files = header_files(module, kernel, [loop.statement for loop in work.loops]) if work.loops else []
    names = argument_names(module, kernel)
    profile = LaunchProfile(
        name=module.function_names[kernel],
        arguments=tuple(names.values()),
        per_thread=per_thread,
        loops=tuple(
            replace(loop, file=file, missing=loop.missing if loop.function == module.function_names[kernel] else ())
            for loop, file in zip(work.loops, files, strict=True)
        ),
        inferred_arguments={names[node]: value for node, value in inferred.items()},
        launch=launch,
        num_sampled_blocks=num_blocks,
    )
    return profile, work


def sample_blocks(module: Module, kernel: int, launch: Launch, values: dict[int, float]) -> tuple[Threads, int]:
    """Choose threads of blocks that differ, weighted by equal blocks; also return their number, 0 if exact."""
    dimensions = max(sum(size > 1 for size in launch.grid), 1)
    axes = [_Axis(size, _FIRST[dimensions], _MAX_TRIED[dimensions]) for size in launch.grid]
    for _ in range(_MAX_ROUNDS):  # more between those that differ
        trial = Execution(module, kernel, Threads.outer(launch, _block_numbers(launch, axes)), values, 1.0)
        shape = [len(axis.points) for axis in axes]
        signs = trial.signs() or [np.zeros(len(trial.unknown), np.int8)]
        tables: list[Any] = [
            np.stack(arrays, axis=1).reshape(*shape, -1) for arrays in (signs, list(trial.times.values()))
        ]
        refined = [
            axis.refine(*(np.moveaxis(table, position, 0).reshape(shape[position], -1) for table in tables))
            for position, axis in enumerate(axes)
        ]
        if not any(refined):
            break
    if not any(axis.differs for axis in axes):
        return Threads.of_launch(launch), 0
    max_columns = min(_MAX_COLUMNS, max(_MAX_VALUES // max(len(module.body(kernel)), 1), 1))
    max_blocks = max(max_columns // launch.block_threads, 8)
    for axis in axes:
        axis.prune()
    while np.prod([len(axis.points) for axis in axes]) > max_blocks:
        longest = max(axes, key=lambda axis: len(axis.points))
        longest.spread(max(len(longest.points) * 3 // 4, 1))
    weights = np.einsum("x,y,z->xyz", *(axis.weights() for axis in axes)).ravel()
    threads = Threads.of_blocks(launch, _block_numbers(launch, axes), weights / launch.num_blocks)
    return threads, 0 if all(axis.is_exact for axis in axes) else len(weights)


class _Axis:
    """Blocks tried along a dimension, (k,) int64, whether they differ, and whether those between follow from them."""

    def __init__(self, size: int, first: int, most: int) -> None:
        self.size, self.most = size, most
        # the first two, the last one, and others, each somewhere in its share
        at = (np.arange(first) + (np.arange(1, first + 1) * _SPREAD) % 1.0) * size / first
        some = [0, 1, *np.minimum(at.astype(np.int64), size - 1)[2:-1].tolist(), size - 1]
        self.points = np.unique(some if size > first else range(size)).astype(np.int64)
        self.differs, self.is_exact, self.is_even = False, True, False
        self.flat = self.open = np.zeros(0, bool)  # by gap: whether nothing changes, and whether something may

    def refine(self, signs: NDArray[np.int8], times: Floats) -> bool:
        """Add blocks between those that differ in signs, (k, n), of comparisons or in runs, (k, m); whether it did."""
        gaps = np.diff(self.points)
        same, scale = (signs[1:] == signs[:-1]).all(axis=1), np.abs(times).max(initial=1.0)
        self.flat = same & (np.abs(np.diff(times, axis=0)) <= _EXACT * scale).all(axis=1)
        self.differs = not self.flat.all()
        smooth = np.zeros(len(self.points), bool)
        if len(self.points) > 2:
            slope = np.diff(times, axis=0) / gaps[:, None]
            bent = np.abs(slope[1:] - slope[:-1]) * np.minimum(gaps[1:], gaps[:-1])[:, None]
            smooth[1:-1] = same[1:] & same[:-1] & (bent <= _EXACT * scale).all(axis=1)
        self.open = ~self.flat & (gaps > 1) & ~smooth[1:] & ~smooth[:-1]
        turns = np.sign(np.diff(times, axis=0))
        changes = np.concatenate([(signs[1:] != signs[:-1]).sum(axis=0), (turns[1:] != turns[:-1]).sum(axis=0)])
        # changes are all over, not in the two or three places that are searched
        is_ragged = ((~same) | (turns != 0).any(axis=1)).sum() > _MAX_CHANGES
        if len(self.points) < self.size and changes.max(initial=0) > _MAX_CHANGES and is_ragged:
            self.spread(self.most)
        if not self.open.any() or not self.is_exact:
            return False
        self.prune()
        left = self.most - len(self.points)
        between = min(left // int(self.open.sum()), _MAX_BETWEEN)
        if between < 1:
            self.is_exact = False
            return False
        more = np.linspace(self.points[:-1][self.open], self.points[1:][self.open], between + 2)
        self.points = np.union1d(self.points, more.astype(np.int64))
        return True

    def prune(self) -> None:
        """Drop blocks between others that do the same."""
        if not self.is_exact or len(self.flat) < 1:
            return
        kept = np.ones(len(self.points), bool)
        kept[1:-1] = ~(self.flat[1:] & self.flat[:-1])
        at = np.flatnonzero(kept)[:-1]
        self.open, self.flat = self.open[at], self.flat[at]
        self.points = self.points[kept]

    def spread(self, num: int) -> None:
        """Use evenly spread groups of adjacent blocks, since many kernels alternate, instead of the chosen blocks."""
        self.is_exact, self.is_even = self.size <= num, True
        group = 1 if self.is_exact or num < 4 else 4 if num >= 16 else 2
        groups = min(num, self.size) // group
        free = self.size / groups - group
        starts = np.arange(groups) * self.size / groups + (np.arange(1, groups + 1) * _SPREAD) % 1.0 * free
        self.points = np.unique(starts.astype(np.int64)[:, None] + np.arange(group))
        self.open = self.flat = np.zeros(len(self.points) - 1, bool)

    def weights(self) -> Floats:
        """Number of blocks that each represents by linear interpolation, (k,) float64."""
        if self.is_even:
            return np.full(len(self.points), self.size / len(self.points))
        between = (np.diff(self.points) - 1) / 2
        return 1.0 + np.concatenate([between, [0.0]]) + np.concatenate([[0.0], between])


def _block_numbers(launch: Launch, axes: list[_Axis]) -> Ints:
    """Numbers of the blocks at all combinations of points along the dimensions, z fastest."""
    x, y, z = np.meshgrid(*(axis.points for axis in axes), indexing="ij")
    return np.asarray(x + launch.grid[0] * (y + launch.grid[1] * z), np.int64).ravel()
