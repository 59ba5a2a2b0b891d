"""The work of a kernel at a launch: counts for a thread, with loops and branches as sizes and arguments decide them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.locations import header_files
from ncc.ir.reader.module import Module
from ncc.kernels.addresses import Access
from ncc.kernels.execution import LoopTrips, infer_arguments
from ncc.kernels.launch import Launch, Threads, argument_names, check_arguments, given_arguments
from ncc.kernels.reading import Source, load_kernels
from ncc.kernels.sampling import sample_blocks
from ncc.kernels.work import TENSOR_KIND, LaunchContext, count_work
from ncc.system.files.text import demangle


@dataclass(frozen=True, eq=False)
class LaunchedKernel:
    """A kernel's work at a launch.

    Attributes:
        name: The kernel, as the IR calls it.
        arguments: Names of its arguments, or "arg0" and so on if the IR has none.
        per_thread: Kind of work or access → how often a thread does it, on average over the launch.
        loops: Its loops and those of what it calls.
        guessed: Arguments that were not given → the value that the kernel's own comparisons hint at.
        launch: Sizes and arguments as given.
        accesses: Its accesses of memory, each with how often a thread makes it.
        estimated_from: Blocks that averages are estimated from; 0 if they are averages over all blocks.
        threads: The weighted threads that were counted.
    """

    name: str
    arguments: tuple[str, ...]
    per_thread: Mapping[str, float]
    loops: tuple[LoopTrips, ...]
    guessed: Mapping[str, float]
    launch: Launch
    accesses: tuple[tuple[Access, float], ...] = ()
    estimated_from: int = 0
    threads: Threads | None = None

    @property
    def unbounded(self) -> tuple[LoopTrips, ...]:
        """Loops whose number of trips is not known; each is assumed to run eight times."""
        return tuple(loop for loop in self.loops if loop.trips is None)

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Operations that no count includes."""
        return ("tensor-core operations (wmma, mma)",) if self.per_thread.get(TENSOR_KIND) else ()

    def __str__(self) -> str:
        return demangle(self.name)

    def to_dict(self) -> dict[str, Any]:
        """JSON fields."""
        return {
            "kernel": self.name,
            "demangled": str(self),
            "grid": list(self.launch.grid),
            "block": list(self.launch.block),
            "arguments": list(self.arguments),
            "per_thread": dict(self.per_thread),
            "loops": [{key: one for key, one in asdict(loop).items() if key != "statement"} for loop in self.loops],
            "guessed": dict(self.guessed),
            "unbounded": len(self.unbounded),
            "estimated_from": self.estimated_from,
            "uncounted": list(self.uncounted),
        }


def profile_launch(module: Module, function: int, launch: Launch) -> LaunchedKernel:
    """Count the work of a thread, on average over the threads of a launch.

    Raises:
        InputError: The launch names an argument that the kernel does not have, or gives one what its type can't hold.
    """
    names = argument_names(module, function)
    check_arguments(module, function, launch.arguments)
    guessed = infer_arguments(module, function, launch)
    sample = sample_blocks(module, function, launch, guessed)
    values = given_arguments(module, function, launch) | guessed
    arguments = {node: np.full(len(sample.threads.weight), float(value)) for node, value in values.items()}
    work = count_work(module, function, LaunchContext(sample.threads, arguments, keep_clamped_strides=True))
    per_thread = {kind: float(amount) for kind, amount in work.dynamic.items() if amount and kind != "flops"}
    if flops := sum(work.dynamic[f"{precision}_flops"] for precision in ("single", "double", "half")):
        per_thread["flops"] = flops
    files = header_files(module, function, [loop.statement for loop in work.loops]) if work.loops else []
    return LaunchedKernel(
        name=module.function_names[function],
        arguments=tuple(names.values()),
        per_thread=per_thread,
        loops=tuple(replace(loop, file=file) for loop, file in zip(work.loops, files, strict=True)),
        guessed={names[node]: value for node, value in guessed.items()},
        launch=launch,
        accesses=work.accesses,
        estimated_from=sample.num_blocks,
        threads=sample.threads,
    )


def profile(
    source: Source,
    *,
    grid: Sequence[int] | int,
    block: Sequence[int] | int,
    arguments: Mapping[str, float] | None = None,
    kernel: str | None = None,
    options: CompileOptions | None = None,
) -> tuple[LaunchedKernel, ...]:
    """Count the work of the threads of GPU kernels at a launch.

    Loops run as often as constants, sizes and arguments say; one that memory decides on is assumed to run eight times,
    and named. An argument that is not given may follow from what it is compared with.

    Args:
        source: As for `load_module`.
        grid: Blocks in each dimension, up to three; a number of one dimension.
        block: Threads of a block, the same way.
        arguments: Values of arguments by name, or by index from "0" on.
        kernel: Name of one kernel, mangled or not; None for all.
        options: How source is compiled.

    Returns:
        A profile for each kernel.

    Raises:
        InputError: A size is out of range, there is no such kernel or argument, or the source holds no kernel.
        CompileError, IRError: as for `load_module`.
    """
    launch = Launch.of(grid, block, arguments or {})
    module, kernels = load_kernels(source, kernel, options)
    return tuple(profile_launch(module, function, launch) for function in kernels)
