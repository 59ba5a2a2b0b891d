"""What a kernel does at a launch: counts for a thread, with loops and branches as sizes and arguments decide them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ncc.ir.frontend.languages import language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.inputs import load_module
from ncc.ir.reader.module import Module
from ncc.ir.reader.places import header_files
from ncc.kernels.arguments import argument_names, check_arguments, given_arguments
from ncc.kernels.execution import guess_arguments
from ncc.kernels.launch import Launch, LoopTrips, Threads
from ncc.kernels.memory import Access
from ncc.kernels.names import find_kernels, kernel_numbers
from ncc.kernels.sampling import standing_threads
from ncc.kernels.work import TENSOR_KIND, AtLaunch, count_kernel
from ncc.system.files.text import source_name

_NAMES_FLAG = "-fno-discard-value-names"


@dataclass(frozen=True, eq=False)
class LaunchedKernel:
    """A kernel's work at a launch.

    Attributes:
        name: The kernel, as the IR calls it.
        arguments: Names of its arguments, or "arg0" and so on where the IR has none.
        per_thread: Kind of work or access → how often a thread does it, on average over the launch.
        loops: Its loops and those of what it calls.
        guessed: Arguments that were not given → the value that the kernel's own comparisons hint at.
        launch: Sizes and arguments as given.
        accesses: Its accesses of memory, each with how often a thread makes it.
        estimated_from: Blocks that averages are estimated from; 0 where they are those of all blocks.
        threads: Those that stood for all.
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
        """Loops whose number of trips is not known; each is taken to run eight times."""
        return tuple(loop for loop in self.loops if loop.trips is None)

    @property
    def uncounted(self) -> tuple[str, ...]:
        """What the kernel does that no count of operations has."""
        return ("tensor-core operations (wmma, mma)",) if self.per_thread.get(TENSOR_KIND) else ()

    def __str__(self) -> str:
        return source_name(self.name)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
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
    """Counts what a thread does, on average over the threads of a launch.

    Raises:
        InputError: The launch names an argument that the kernel does not have, or gives one what its type can't hold.
    """
    names = argument_names(module, function)
    check_arguments(module, function, launch.arguments)
    guessed = guess_arguments(module, function, launch)
    standing = standing_threads(module, function, launch, guessed)
    threads = standing.threads
    values = given_arguments(module, function, launch) | guessed
    arguments = {node: np.full(len(threads.weight), float(value)) for node, value in values.items()}
    at = AtLaunch(threads, arguments, clamps=True)
    counts = count_kernel(module, function, at=at)
    counts.weighted["flops"] = sum(counts.weighted[f"{name}_flops"] for name in ("single", "double", "half"))
    return LaunchedKernel(
        name=module.function_names[function],
        arguments=tuple(names.values()),
        per_thread={kind: float(amount) for kind, amount in counts.weighted.items() if amount},
        loops=_placed(module, function, at.loops),
        guessed={names[node]: value for node, value in guessed.items()},
        launch=launch,
        accesses=tuple(counts.accesses),
        estimated_from=standing.estimated_from,
        threads=threads,
    )


def _placed(module: Module, kernel: int, loops: Sequence[LoopTrips]) -> tuple[LoopTrips, ...]:
    """Loops with the files that their lines are in."""
    files = header_files(module, kernel, [loop.statement for loop in loops]) if loops else []
    return tuple(replace(loop, file=file) for loop, file in zip(loops, files, strict=True))


def load_kernels(
    source: str | os.PathLike[str] | bytes, kernel: str | None, options: CompileOptions | None
) -> tuple[Module, list[int]]:
    """A module with the names of its arguments, and the numbers of the kernels that are asked for.

    Args:
        source: As for `ncc.load_module`.
        kernel: Name of one kernel, or of all instances of a template; None for all.
        options: How source is compiled.

    Raises:
        InputError: There is no kernel, or none of that name.
    """
    options = options or CompileOptions()
    if options.language or (not isinstance(source, bytes) and language_of(source)):
        options = replace(options, flags=(_NAMES_FLAG, *options.flags), debug_lines=True)
    module = load_module(source, options=options)
    return module, kernel_numbers(module) if kernel is None else find_kernels(module, kernel)


def profile(
    source: str | os.PathLike[str] | bytes,
    *,
    grid: Sequence[int] | int,
    block: Sequence[int] | int,
    arguments: Mapping[str, float] | None = None,
    kernel: str | None = None,
    options: CompileOptions | None = None,
) -> tuple[LaunchedKernel, ...]:
    """Counts what the threads of GPU kernels do at a launch.

    Loops run as often as constants, sizes and arguments say; one that memory decides on is taken to run eight times,
    and named. An argument that is not given may follow from what it is compared with.

    Args:
        source: As for `load_module`.
        grid: Blocks in each dimension, up to three; a number of one dimension.
        block: Threads of a block, the same way.
        arguments: Values of arguments by name, or by number from "0" on.
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
    return tuple(profile_launch(module, number, launch) for number in kernels)
