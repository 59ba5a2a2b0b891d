"""A launch as numbers: its threads' work, its times by the card's data sheet, and how much of it is known.

Times are in seconds, as in a roofline: operations at the peak of their type, bytes at the bandwidth, and latencies for
each wave of blocks. Time bounds follow from what is certain of the work.
"""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ncc.ir.reader.module import Module
from ncc.kernels.addresses import Access, access_pattern, base_argument
from ncc.kernels.bounds import WorkBound, work_lower_bound
from ncc.kernels.execution import Execution
from ncc.kernels.launch import Launch, argument_names, argument_types, converted, given_arguments
from ncc.kernels.profile import LaunchProfile, run_launch
from ncc.tasks.gpus.cards import Card
from ncc.tasks.gpus.host import ReadArguments

KINDS = (
    "float", "double", "single_flops", "double_flops", "half_flops", "integer", "division", "special",
    "comparison", "conversion", "call", "atomic", "barrier", "branch", "divergent_branch", "lane_shuffle",
    "thread_query", "global_load", "global_store", "global_bytes", "global_uniform", "global_coalesced",
    "global_strided", "global_far", "global_irregular", "local_load", "local_store", "constant_load",
    "private_load", "private_store",
)  # fmt: skip
"""Kinds of work that are counted for a thread."""

_SECTOR = 32.0
_CYCLES = {"memory": 400.0, "shared": 25.0, "double": 16.0, "division": 30.0, "special": 20.0, "atomic": 300.0}
_OVERHEAD_S = 2e-6
_SHARED = re.compile(r"addrspace\(3\) (?:global|constant) (.*?)(?:, align|, section|$)")
_ARRAY = re.compile(r"\[(\d+) x ")
_TINY = 1e-12
OVERHEAD = "launch overhead"
_SHORTEST_S = 1.7e-6
"""The shortest of gpuFLOPBench's 1,460 launches."""


@dataclass(frozen=True, eq=False)
class Work:
    """Work of a launch.

    Attributes:
        launched: Its counts.
        known: Arguments read from host code.
        sector_bytes: Bytes moved by accesses of global memory, in whole sectors of 32 bytes.
        store_bytes: Bytes moved by stores.
        compulsory_bytes: Bytes moved with each buffer at most once, as by a perfect cache.
        broadcast_read_bytes: Bytes moved with reads that all threads of a warp share once per launch.
        buffer_bytes: Bytes of the known buffers.
        shared_bytes: Shared memory that a block declares.
        least: Lower bound by arguments that are given, or read at a launch of these very sizes.
        assumed: Lower bound with arguments inferred from the launch's sizes too.
    """

    launched: LaunchProfile
    known: ReadArguments
    sector_bytes: float
    store_bytes: float
    compulsory_bytes: float
    broadcast_read_bytes: float
    buffer_bytes: float
    shared_bytes: float
    least: WorkBound
    assumed: WorkBound

    @property
    def launch(self) -> Launch:
        """Sizes and arguments."""
        return self.launched.launch

    def total(self, kind: str) -> float:
        """Work of a kind of all threads."""
        return self.launched.per_thread.get(kind, 0.0) * self.launch.num_threads


def count_launch(module: Module, kernel: int, launch: Launch, known: ReadArguments) -> Work:
    """Count a launch; missing arguments come from host code."""
    arguments = module.operands(int(module.function_start[kernel]))
    names = list(argument_names(module, kernel).values())
    types = argument_types(module, kernel)
    read = {
        names[number]: held
        for number, value in known.values.items()
        if number < len(names)
        and launch.arguments.keys().isdisjoint((str(number), names[number]))
        and (held := converted(value, types[number])) is not None
    }
    run = run_launch(module, kernel, replace(launch, arguments=read | dict(launch.arguments)))
    launched = run.profile()
    moved: dict[int, float] = defaultdict(float)
    alike: dict[int, float] = defaultdict(float)
    loads, stores = 0.0, 0.0
    for access, weight in run.work.accesses:
        if access.space != "global" or not weight:
            continue
        sectors = _sector_bytes(access) * weight * launch.num_threads
        number = base_argument(module, access.pointer, arguments)
        moved[number] += sectors
        alike[number] += sectors if access.stride else max(access.num_bytes * weight, _SECTOR)
        loads += sectors if access.kind == "load" else 0
        stores += sectors if access.kind == "store" else 0
    assumed = least = WorkBound() if run.num_sampled_blocks else work_lower_bound(run.execution, launch)
    if (run.inferred or known.solved or known.conflicts) and not run.num_sampled_blocks:
        given = given_arguments(module, kernel, launch if known.solved or known.conflicts else launched.launch)
        least = work_lower_bound(Execution(module, kernel, run.execution.threads, given), launch)
    return Work(
        launched=launched,
        known=known,
        sector_bytes=loads + stores,
        store_bytes=stores,
        compulsory_bytes=sum(min(each, known.buffers.get(number, math.inf)) for number, each in moved.items()),
        broadcast_read_bytes=sum(min(each, known.buffers.get(number, math.inf)) for number, each in alike.items()),
        buffer_bytes=sum(known.buffers.get(number, 0.0) for number in moved),
        shared_bytes=_shared_bytes(module, kernel),
        least=least,
        assumed=least if known.conflicts else assumed,
    )


def _sector_bytes(access: Access) -> float:
    """Bytes that an access moves per thread, in whole sectors that its neighbors share."""
    pattern = access_pattern(access.stride, access.num_bytes)
    if pattern == "uniform":
        return max(_SECTOR, access.num_bytes) / 32
    if pattern == "coalesced":
        return access.num_bytes
    if pattern == "strided":
        return max(access.num_bytes, min(abs(access.stride), _SECTOR))
    return max(access.num_bytes, _SECTOR)


def _shared_bytes(module: Module, kernel: int) -> float:
    """Shared memory that a kernel declares, found by the names of its arrays."""
    total, name = 0.0, module.function_names[kernel].removeprefix("_Z")
    for line in module.ir.decode(errors="replace").splitlines():
        if line.startswith("define"):
            break
        if line.startswith("@") and name in line and (found := _SHARED.search(line)):
            sizes = [float(one) for one in _ARRAY.findall(found[1])]
            element = 8.0 if "double" in found[1] or "i64" in found[1] else 1.0 if "i8" in found[1] else 4.0
            total += math.prod(sizes) * element
    return total


def roofline_times(work: Work, card: Card) -> dict[str, float]:
    """Seconds of each part of a launch at the card's peaks."""
    launch, per_thread = work.launch, work.launched.per_thread
    warps = math.ceil(launch.block_threads / 32)
    resident = max(
        1,
        min(
            card.processor_threads // (32 * warps),
            card.processor_blocks,
            int(card.shared_bytes // work.shared_bytes) if work.shared_bytes else card.processor_blocks,
        ),
    )
    waves = math.ceil(launch.num_blocks / (card.processors * resident))
    busy = min(1.0, launch.num_blocks / card.processors)
    # lanes that do nothing take as long, and processors without a block do nothing
    full = launch.num_blocks * warps * 32 / busy
    get = per_thread.get
    latencies = {
        "memory": get("global_load", 0),
        "shared": get("local_load", 0) + get("local_store", 0) + get("barrier", 0),
        **{name: get(name, 0) for name in ("double", "division", "special", "atomic")},
    }
    cycles = 4 * sum(get(name, 0) for name in ("float", "integer", "comparison", "conversion", "branch"))
    cycles += sum(amount * _CYCLES[name] for name, amount in latencies.items())
    misses = min(work.sector_bytes, work.compulsory_bytes)
    return {
        "single": full * (get("single_flops", 0) + get("half_flops", 0)) / card.single,
        "double": full * get("double_flops", 0) / card.double,
        "integer": full * get("integer_operations", 0) / card.integer,
        "special": full * (get("special", 0) + get("division", 0)) / (card.single / 16),
        "cache": work.sector_bytes / (3 * card.bandwidth) / busy,
        "memory": misses / card.bandwidth / busy**0.5,
        "shared": full * (get("local_load", 0) + get("local_store", 0)) / (card.single / 4),
        "atomic": launch.num_threads * get("atomic", 0) / (card.single / 100),
        "latency": waves * cycles / card.clock_hz,
        "waves": waves * 1e-6,
        "residency": 1e-6 * resident * warps / (card.processor_threads / 32),
    }


@dataclass(frozen=True)
class TimeBounds:
    """Lower bounds of a launch.

    Attributes:
        seconds: Cause ("launch overhead", "bandwidth", "compute", "chain") → seconds.
        num_bytes: Bytes that memory and card exchange; 0 if the card's cache may hold all.
    """

    seconds: Mapping[str, float]
    num_bytes: float

    @property
    def binding_bound(self) -> str:
        """The cause of the largest bound."""
        return max(self.seconds, key=lambda name: self.seconds[name])


def time_bounds(least: WorkBound, buffers: Mapping[int, float], card: Card) -> TimeBounds:
    """Bound a launch by a card's data sheet; its level-2 cache may hold data before and after the launch.

    Args:
        least: Lower bound on its work.
        buffers: Index of an argument → bytes of its memory, if known.
        card: The card.
    """
    touched = sum(
        min(size, buffers.get(number, size))
        for part in (least.load_bytes, least.store_bytes)
        for number, size in part.items()
    )
    peaks = {"single": card.single, "double": card.double}
    seconds = {
        OVERHEAD: _SHORTEST_S,
        "bandwidth": max(touched - card.cache_bytes, 0.0) / card.bandwidth,
        "compute": max(least.flops.get(name, 0.0) / peak for name, peak in peaks.items()),
        "chain": least.critical_path_cycles / card.clock_hz,
    }
    return TimeBounds(seconds, touched if touched > card.cache_bytes else 0.0)


def log(value: float) -> float:
    """Logarithm to base 10 of an amount that may be 0."""
    return math.log10(max(value, _TINY))


def launch_columns(work: Work, card: Card) -> dict[str, float]:
    """Named columns that models read; logarithms to base 10 of amounts and times."""
    launch, launched = work.launch, work.launched
    times = roofline_times(work, card)
    limits = [times[name] for name in ("single", "double", "integer", "special", "cache", "memory", "shared", "atomic")]
    peak = max(limits)
    bounds = time_bounds(work.least, work.known.buffers, card)
    columns = {
        "least_time": log(max(bounds.seconds.values())),
        "least_bytes": log(bounds.num_bytes + 1),
        "threads": log(launch.num_threads),
        "blocks": log(launch.num_blocks),
        "block": log(launch.block_threads),
        "block_x": log(launch.block[0]),
        "grid_x": log(launch.grid[0]),
        "warp_fill": launch.block_threads / (32 * math.ceil(launch.block_threads / 32)),
        **{f"time_{name}": log(value + 1e-9) for name, value in times.items()},
        "roofline": log(max(peak, times["latency"], _OVERHEAD_S)),
        "roofline_time": log(_OVERHEAD_S + peak + times["latency"] / 4),
        **{f"each_{kind}": math.log10(1 + launched.per_thread.get(kind, 0.0)) for kind in KINDS},
    }
    moved = max(work.compulsory_bytes, 32.0)
    operations = {
        "double": work.total("double_flops"),
        "single": work.total("single_flops"),
        "integer": work.total("integer_operations"),
    }
    peaks = {"double": card.double, "single": card.single, "integer": card.integer}
    least = {"intensity": moved, "cached": work.sector_bytes + 32, "broadcast_read": work.broadcast_read_bytes + 32}
    for title, num_bytes in least.items():
        columns |= {f"{title}_{name}": log((amount + 1e-3) / num_bytes) for name, amount in operations.items()}
        columns[f"margin_{title}"] = max(
            columns[f"{title}_{name}"] - math.log10(peak / card.bandwidth) for name, peak in peaks.items()
        )
    known = {float(number) for number in (*work.known.values, *work.known.buffers)}
    unbounded = launched.data_dependent_loops
    columns |= {
        "sector_bytes": log(work.sector_bytes + 1),
        "compulsory_bytes": log(work.compulsory_bytes + 1),
        "broadcast_read_bytes": log(work.broadcast_read_bytes + 1),
        "buffer_bytes": log(work.buffer_bytes + 1),
        "all_buffers": log(sum(work.known.buffers.values()) + 1),
        "reuse": log((work.sector_bytes + 1) / moved),
        "log_l2_ratio": log(moved / card.cache_bytes),
        "store_share": work.store_bytes / (work.sector_bytes + 1),
        "shared_bytes": math.log10(1 + work.shared_bytes),
        "known_share": len(known) / max(len(launched.arguments), 1),
        "arguments": float(len(launched.arguments)),
        "unbounded": float(len(unbounded)),
        "unbounded_depth": float(max((loop.depth for loop in unbounded), default=0)),
        "loops": float(len(launched.loops)),
        "log_max_trip_count": math.log10(1 + max((loop.trip_count or 0.0 for loop in launched.loops), default=0.0)),
        "depth": float(max((loop.depth for loop in launched.loops), default=0)),
        "guessed": float(len(launched.inferred_arguments)),
    }
    return columns
