"""A launch as numbers: its threads' work, its times by a GPU's data sheet, and how much of it is known.

Times are in seconds, as in a roofline: operations at the peak of their type, bytes at the bandwidth, and latencies for
each wave of blocks. Time bounds follow from what is certain of the work.
"""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from ncc.ir.reader.module import Module
from ncc.kernels.addresses import Access, base_argument
from ncc.kernels.bounds import WorkBound, work_lower_bound
from ncc.kernels.execution import Execution
from ncc.kernels.host.launches import HostLaunch
from ncc.kernels.launch import Launch, given_arguments
from ncc.kernels.profile import LaunchProfile, run_launch
from ncc.tasks.gpus.specs import GpuSpec

KINDS = (
    "float", "double", "single_flops", "double_flops", "half_flops", "integer", "division", "special",
    "comparison", "conversion", "call", "atomic", "barrier", "branch", "divergent_branch", "lane_shuffle",
    "thread_query", "global_load", "global_store", "global_bytes", "global_uniform", "global_coalesced",
    "global_strided", "global_far", "global_irregular", "local_load", "local_store", "constant_load",
    "private_load", "private_store",
)  # fmt: skip
"""Kinds of work per thread."""
OVERHEAD = "launch overhead"
ROOFLINE_PARTS = ("single", "double", "integer", "special", "cache", "memory", "shared", "atomic", "latency")

# from gpuFLOPBench's 1,460 launches on an RTX 3080: the shortest, and most of the short ones
_SHORTEST_S, _OVERHEAD_S = 1.7e-6, 2e-6
# rough values of published latencies; trees correct their errors
_LATENCY_CYCLES = {"memory": 400, "shared": 25, "double": 16, "division": 30, "special": 20, "atomic": 300}
_SECTOR = 32.0
_TINY = 1e-12
_SHARED = re.compile(r"addrspace\(3\) (?:global|constant) (.*?)(?:, align|, section|$)")
_ARRAY = re.compile(r"\[(\d+) x ")


@dataclass(frozen=True, eq=False)
class LaunchWork:
    """Work of a launch."""

    profile: LaunchProfile  # its counts
    host: HostLaunch  # its launch in host code
    sector_bytes: float  # bytes moved by accesses to global memory, in whole sectors of 32 bytes
    store_bytes: float  # bytes moved by stores
    compulsory_bytes: float  # bytes moved with each buffer at most once, as by a perfect cache
    broadcast_read_bytes: float  # bytes moved if reads shared by all threads of a warp happen once per launch
    buffer_bytes: float  # bytes of the known buffers
    shared_bytes: float  # shared memory that a block declares
    bound: WorkBound  # lower bound with arguments that are given, or read from a host launch of the same sizes
    assumed_bound: WorkBound  # lower bound with arguments inferred from the launch's sizes too

    @property
    def launch(self) -> Launch:
        """Sizes and arguments."""
        return self.profile.launch

    def total(self, kind: str) -> float:
        """Work of a kind, by all threads."""
        return self.profile.per_thread.get(kind, 0.0) * self.launch.num_threads


def count_launch(module: Module, kernel: int, launch: Launch, host: HostLaunch) -> LaunchWork:
    """Count a launch; missing arguments come from host code."""
    arguments = module.operands(int(module.function_start[kernel]))
    profile, counted = run_launch(module, kernel, host.add_arguments(launch, module, kernel))
    sectors: dict[int, float] = defaultdict(float)
    broadcast: dict[int, float] = defaultdict(float)
    moved = {"load": 0.0, "store": 0.0}
    for access, weight in ((access, each.weight) for each in counted.statements for access in each.accesses):
        if access.space != "global" or not weight:
            continue
        amount = _sector_bytes(access) * weight * launch.num_threads
        index = base_argument(module, access.pointer, arguments)
        sectors[index] += amount
        broadcast[index] += amount if access.stride else max(access.num_bytes * weight, _SECTOR)
        if access.kind in moved:
            moved[access.kind] += amount

    def cached(amounts: Mapping[int, float]) -> float:
        return sum(min(amount, host.buffers.get(index, math.inf)) for index, amount in amounts.items())

    execution = counted.calls[0].execution
    assumed = least = WorkBound()
    if execution and not profile.num_sampled_blocks:
        assumed = least = work_lower_bound(execution)
        if profile.inferred_arguments or host.inferred or host.conflicts:
            given = given_arguments(module, kernel, launch if host.inferred or host.conflicts else profile.launch)
            least = work_lower_bound(Execution(module, kernel, execution.threads, given))
    return LaunchWork(
        profile=profile,
        host=host,
        sector_bytes=moved["load"] + moved["store"],
        store_bytes=moved["store"],
        compulsory_bytes=cached(sectors),
        broadcast_read_bytes=cached(broadcast),
        buffer_bytes=sum(host.buffers.get(index, 0.0) for index in sectors),
        shared_bytes=_shared_bytes(module, kernel),
        bound=least,
        assumed_bound=least if host.conflicts else assumed,
    )


def _sector_bytes(access: Access) -> float:
    """Bytes that an access moves per thread, in whole sectors shared with its neighbors."""
    if access.pattern == "uniform":
        return max(_SECTOR, access.num_bytes) / 32
    if access.pattern == "coalesced":
        return access.num_bytes
    return max(access.num_bytes, min(abs(access.stride), _SECTOR) if access.pattern == "strided" else _SECTOR)


def _shared_bytes(module: Module, kernel: int) -> float:
    """Bytes of shared memory that a kernel declares, found by the names of its arrays."""
    total, name = 0.0, module.function_names[kernel].removeprefix("_Z")
    for line in module.ir.decode(errors="replace").splitlines():
        if line.startswith("define"):
            break
        if line.startswith("@") and name in line and (match := _SHARED.search(line)):
            element = 8.0 if "double" in match[1] or "i64" in match[1] else 1.0 if "i8" in match[1] else 4.0
            total += math.prod(map(float, _ARRAY.findall(match[1]))) * element
    return total


def roofline_seconds(work: LaunchWork, spec: GpuSpec) -> dict[str, float]:
    """Seconds of each part of a launch at a GPU's peaks."""
    launch = work.launch
    warps = math.ceil(launch.block_threads / 32)
    fitting = [spec.max_threads_per_sm // (32 * warps), spec.max_blocks_per_sm]
    if work.shared_bytes:
        fitting.append(int(spec.shared_bytes_per_sm // work.shared_bytes))
    resident = max(1, min(fitting))
    waves = math.ceil(launch.num_blocks / (spec.num_sms * resident))
    busy = min(1.0, launch.num_blocks / spec.num_sms)
    # idle lanes take the same time, and multiprocessors without a block are idle
    full = launch.num_blocks * warps * 32 / busy

    def amount(*kinds: str) -> float:
        return sum(work.profile.per_thread.get(kind, 0) for kind in kinds)

    latencies = {
        "memory": amount("global_load"),
        "shared": amount("local_load", "local_store", "barrier"),
        **{kind: amount(kind) for kind in ("double", "division", "special", "atomic")},
    }
    cycles = 4 * amount("float", "integer", "comparison", "conversion", "branch")
    cycles += sum(times * _LATENCY_CYCLES[name] for name, times in latencies.items())
    return {
        "single": full * amount("single_flops", "half_flops") / spec.peak_fp32,
        "double": full * amount("double_flops") / spec.peak_fp64,
        "integer": full * amount("integer_operations") / spec.peak_int32,
        "special": full * amount("special", "division") / (spec.peak_fp32 / 16),
        "cache": work.sector_bytes / (3 * spec.bandwidth) / busy,
        "memory": min(work.sector_bytes, work.compulsory_bytes) / spec.bandwidth / busy**0.5,
        "shared": full * amount("local_load", "local_store") / (spec.peak_fp32 / 4),
        "atomic": launch.num_threads * amount("atomic") / (spec.peak_fp32 / 100),
        "latency": waves * cycles / spec.clock_hz,
        "waves": waves * 1e-6,
        "residency": 1e-6 * resident * warps / (spec.max_threads_per_sm / 32),
    }


@dataclass(frozen=True)
class TimeBounds:
    """Lower bounds of a launch."""

    seconds: Mapping[str, float]  # Cause (launch overhead, bandwidth, compute, dependency chain) → seconds
    num_bytes: float  # bytes between memory and GPU; 0 if all may be in the GPU's cache

    @property
    def binding_bound(self) -> str:
        """The cause of the largest bound."""
        return max(self.seconds, key=lambda name: self.seconds[name])

    @property
    def log_time(self) -> float:
        """Logarithm to base 10 of the largest bound."""
        return math.log10(self.seconds[self.binding_bound])


def time_bounds(bound: WorkBound, buffers: Mapping[int, float], spec: GpuSpec) -> TimeBounds:
    """Bound a launch by a data sheet and the known sizes of buffers; data may already be in the level-2 cache."""
    moved = [*bound.load_bytes.items(), *bound.store_bytes.items()]
    touched = sum(min(size, buffers.get(index, size)) for index, size in moved)
    peaks = {"single": spec.peak_fp32, "double": spec.peak_fp64}
    seconds = {
        OVERHEAD: _SHORTEST_S,
        "bandwidth": max(touched - spec.l2_bytes, 0.0) / spec.bandwidth,
        "compute": max(bound.flops.get(name, 0.0) / peak for name, peak in peaks.items()),
        "chain": bound.critical_path_cycles / spec.clock_hz,
    }
    return TimeBounds(seconds, touched if touched > spec.l2_bytes else 0.0)


def launch_features(work: LaunchWork, spec: GpuSpec) -> dict[str, float]:
    """Named features that models read; logarithms to base 10 of amounts and times."""
    launch, profile, host = work.launch, work.profile, work.host
    times = roofline_seconds(work, spec)
    peak = max(times[name] for name in ROOFLINE_PARTS if name != "latency")
    bounds = time_bounds(work.bound, host.buffers, spec)
    moved = max(work.compulsory_bytes, 32.0)
    features = {
        "least_time": bounds.log_time,
        "least_bytes": _log(bounds.num_bytes + 1),
        "threads": _log(launch.num_threads),
        "blocks": _log(launch.num_blocks),
        "block": _log(launch.block_threads),
        "block_x": _log(launch.block[0]),
        "grid_x": _log(launch.grid[0]),
        "warp_fill": launch.block_threads / (32 * math.ceil(launch.block_threads / 32)),
        **{f"time_{name}": _log(value + 1e-9) for name, value in times.items()},
        "roofline": _log(max(peak, times["latency"], _OVERHEAD_S)),
        "roofline_time": _log(_OVERHEAD_S + peak + times["latency"] / 4),
        **{f"each_{kind}": math.log10(1 + profile.per_thread.get(kind, 0.0)) for kind in KINDS},
    }
    operations = {
        "double": (work.total("double_flops"), spec.peak_fp64),
        "single": (work.total("single_flops"), spec.peak_fp32),
        "integer": (work.total("integer_operations"), spec.peak_int32),
    }
    broadcast = work.broadcast_read_bytes + 32
    traffic = {"intensity": moved, "cached": work.sector_bytes + 32, "broadcast_read": broadcast}
    for title, num_bytes in traffic.items():
        features |= {f"{title}_{name}": _log((total + 1e-3) / num_bytes) for name, (total, _) in operations.items()}
        features[f"margin_{title}"] = max(
            features[f"{title}_{name}"] - math.log10(peak / spec.bandwidth) for name, (_, peak) in operations.items()
        )
    loops, unbounded = profile.loops, profile.data_dependent_loops
    return features | {
        "sector_bytes": _log(work.sector_bytes + 1),
        "compulsory_bytes": _log(work.compulsory_bytes + 1),
        "broadcast_read_bytes": _log(work.broadcast_read_bytes + 1),
        "buffer_bytes": _log(work.buffer_bytes + 1),
        "all_buffers": _log(sum(host.buffers.values()) + 1),
        "reuse": _log((work.sector_bytes + 1) / moved),
        "log_l2_ratio": _log(moved / spec.l2_bytes),
        "store_share": work.store_bytes / (work.sector_bytes + 1),
        "shared_bytes": math.log10(1 + work.shared_bytes),
        "known_share": len({*host.values, *host.buffers}) / max(len(profile.arguments), 1),
        "arguments": float(len(profile.arguments)),
        "unbounded": float(len(unbounded)),
        "unbounded_depth": float(max((loop.depth for loop in unbounded), default=0)),
        "loops": float(len(loops)),
        "log_max_trip_count": math.log10(1 + max((loop.trip_count or 0.0 for loop in loops), default=0.0)),
        "depth": float(max((loop.depth for loop in loops), default=0)),
        "guessed": float(len(profile.inferred_arguments)),
    }


def _log(value: float) -> float:
    return math.log10(max(value, _TINY))
