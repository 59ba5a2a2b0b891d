"""The work of a kernel at a launch: counts for a thread, with loops and branches as sizes and arguments decide them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ncc.ir.reader.locations import header_files
from ncc.ir.reader.module import Module
from ncc.kernels.execution import Execution, LoopTripCount, infer_arguments
from ncc.kernels.launch import Launch, add_scattered, argument_names, given_arguments
from ncc.kernels.sampling import sample_blocks
from ncc.kernels.work import TENSOR_KIND, Work, count_work
from ncc.system.files.summaries import Summarized, Summary
from ncc.system.files.text import align_columns, demangle


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
        """Return what a thread does: its operations and accesses by kind, and how often loops run."""
        flops, num_bytes = (_format_count(self.per_thread.get(kind, 0)) for kind in ("flops", "global_bytes"))
        sampled = f", estimated from {self.num_sampled_blocks:,} of them" if self.num_sampled_blocks else ""
        work = [(kind, _format_count(amount)) for kind, amount in sorted(self.per_thread.items())]
        loops = [
            (loop.location, "8x", "assumed: trip count depends on data")
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
                ("caution", "; ".join(f"{kind} are not counted as flops" for kind in self.uncounted_operations)),
            ],
        )


def _format_count(count: float) -> str:
    return f"{count:,.2f}".rstrip("0").rstrip(".")


def run_launch(module: Module, kernel: int, launch: Launch) -> tuple[LaunchProfile, Work]:
    """Run a kernel for threads of the blocks that differ; return what a thread does on average, and the ledger."""
    inferred = infer_arguments(module, kernel, launch)
    values = given_arguments(module, kernel, launch) | inferred
    threads, num_blocks = sample_blocks(module, kernel, launch, values)
    execution = Execution(module, kernel, add_scattered(threads), values)
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
        loops=tuple(replace(loop, file=file) for loop, file in zip(work.loops, files, strict=True)),
        inferred_arguments={names[node]: value for node, value in inferred.items()},
        launch=launch,
        num_sampled_blocks=num_blocks,
    )
    return profile, work
