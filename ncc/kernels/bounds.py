"""Lower bounds on a launch's work: bytes that it must touch, operations, and the longest dependency chain of a thread.

Only what is certain counts: statements behind known conditions, in loops that end where their counters say. An address
that is linear in the thread's number and in the trips of loops is another one for each of them, except for those
numbers that it does not depend on, or that only shift it onto others.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ncc.arrays import Floats
from ncc.kernels.addresses import accesses_of, argument_spaces
from ncc.kernels.control_flow import Loop
from ncc.kernels.cpu_cost import recurrence_latency
from ncc.kernels.execution import Execution
from ncc.kernels.launch import NUM_SCATTERED
from ncc.kernels.work import flops_of

_UNROLLED = 64
"""Maximum trip count of an inner loop that may be fully unrolled, so that its chains overlap."""
_FLOATS = ("fadd", "fsub", "fmul")
_FUSED = ("fma", "fmuladd", "mad")
_LATENCY = {
    **dict.fromkeys(_FLOATS, 4.0),
    **dict.fromkeys(("fdiv", "frem", "special"), 12.0),
    **dict.fromkeys(("load", "atomicrmw", "cmpxchg", "udiv", "sdiv", "urem", "srem"), 20.0),
    **{"mul": 4.0, "fused": 4.0},
}
"""Minimum latency in cycles since Volta; 0 for integer additions, which may be folded.

Reference: Jia et al., "Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", 2018, tables 4.1 and 4.2.
"""


@dataclass(frozen=True, eq=False)
class WorkBound:
    """Distinct bytes read and written by argument; operations of all threads; cycles of a thread's longest chain."""

    load_bytes: dict[int, float] = field(default_factory=dict)
    store_bytes: dict[int, float] = field(default_factory=dict)
    flops: dict[str, float] = field(default_factory=dict)
    critical_path_cycles: float = 0.0


class _Number(NamedTuple):
    """Something that an address may depend on: by how many bytes for each step, and how many there are."""

    step: float
    times: float


def work_lower_bound(execution: Execution) -> WorkBound:
    """Bound the work of a launch from below by what is certain with the known arguments."""
    module, kernel, threads = execution.module, execution.function, execution.threads
    moved: dict[str, defaultdict[int, float]] = {"load": defaultdict(float), "store": defaultdict(float)}
    flops: defaultdict[str, float] = defaultdict(float)
    spaces, strides = argument_spaces(module, kernel), np.zeros(module.num_nodes + 1)
    for block, times in sorted(execution.guaranteed_runs.items()):
        runs = float(times @ threads.weight) * threads.launch.num_threads
        for inst in execution.blocks[block]:
            is_fused = inst.builtin in _FUSED
            if inst.opcode in ("load", "store", "call") and not is_fused:
                for access in accesses_of(inst, strides, spaces):
                    origin = execution.offsets.get(access.pointer)
                    if access.space == "global" and origin:
                        touched = _distinct_bytes(execution, block, origin[1], access.num_bytes, runs)
                        sizes = moved[access.kind]
                        sizes[origin[0]] = max(sizes[origin[0]], touched)
            elif inst.opcode in _FLOATS or is_fused:
                for precision, amount in flops_of(inst).items():
                    flops[precision] += amount * runs
    return WorkBound(dict(moved["load"]), dict(moved["store"]), dict(flops), _critical_path_cycles(execution))


def reached_bytes(execution: Execution) -> dict[int, float]:
    """Index of each argument that points to global memory → bytes to the end of the farthest access that is known."""
    module, reached = execution.module, defaultdict[int, float](float)
    spaces, strides = argument_spaces(module, execution.function), np.zeros(module.num_nodes + 1)
    for block, times in execution.times.items():
        for inst in execution.blocks[block]:
            for access in accesses_of(inst, strides, spaces):
                argument, offset = execution.offsets.get(access.pointer, (-1, times))
                offset = offset[(times > 0) & np.isfinite(offset)]
                if argument >= 0 and access.space == "global" and len(offset):
                    reached[argument] = max(reached[argument], float(offset.max()) + access.num_bytes)
    return dict(reached)


def _distinct_bytes(execution: Execution, block: int, offset: Floats, size: float, runs: float) -> float:
    """Bytes of different addresses that an access touches in the whole launch; 0 if that is not known."""
    times, threads = execution.guaranteed_runs[block], execution.threads
    chosen = np.flatnonzero((times > 0) & np.isfinite(offset))
    if not len(chosen) or len(chosen) < np.count_nonzero(times):
        return 0.0
    chosen = np.concatenate([chosen[-NUM_SCATTERED:], np.random.default_rng(0).choice(chosen, NUM_SCATTERED)])
    columns = [
        (threads.values[f"{name}.{axis}"], float(count))
        for name, sizes in (("ctaid", threads.launch.grid), ("tid", threads.launch.block))
        for axis, count in zip("xyz", sizes, strict=True)
    ]
    for loop in execution.inside[block]:
        columns.append((execution.trip_of(loop), float(np.ceil(execution.trips[loop.header].max()))))
    columns = [(values[chosen], count) for values, count in columns if np.ptp(values[chosen]) > 0]
    known = np.stack([np.ones(len(chosen)), *(values for values, _ in columns)], axis=1)
    solution, _, rank, _ = np.linalg.lstsq(known, offset[chosen], rcond=None)
    steps = np.rint(solution)
    if rank < known.shape[1] or not np.array_equal(known @ steps, offset[chosen]):
        return 0.0
    numbers = [_Number(abs(float(step)), count) for step, (_, count) in zip(steps[1:], columns, strict=True)]
    return _touched(numbers, size, runs)


def _touched(numbers: list[_Number], size: float, runs: float) -> float:
    """Distinct bytes accessed by nested loops, each of which moves the address by its step."""
    shared = 1.0
    kept: list[_Number] = []
    for number in sorted(numbers, key=lambda each: each.step):
        while kept and number.step < size + sum(each.step * (each.times - 1) for each in kept):
            least = min([*kept, number], key=lambda each: each.times)  # overlaps the bytes of the others
            shared *= least.times
            if least is number:
                break
            kept.remove(least)
        else:
            if number.step:
                kept.append(number)
            else:
                shared *= number.times
    return runs / shared * min([size, *(each.step for each in kept)])


def _critical_path_cycles(execution: Execution) -> float:
    """Cycles of the slowest thread's longest dependency chain."""
    longest, trips = 0.0, execution.trips
    for loop in execution.nest:
        times = execution.guaranteed_runs.get(loop.header)
        outer = [other for other in execution.nest if loop.blocks < other.blocks]
        if times is None or not times.any() or (outer and loop.trip_count is not None and loop.trip_count <= _UNROLLED):
            continue
        if outer:  # average over the positions in the outer loop
            inner = [each for each in (*outer, loop) if any(each.blocks < other.blocks for other in outer)]
            first = next(each for each in outer if each not in inner)
            mean = [float(trips[each.header][times > 0].mean()) for each in inner]
            runs = float(trips[first.header][times > 0].max()) * float(np.prod(mean))
        else:
            runs = float(times.max())
        longest = max(longest, runs * _recurrence(execution, loop))
    return longest


def _recurrence(execution: Execution, loop: Loop) -> float:
    """Cycles that an iteration waits for the results of the previous one."""
    certain = execution.guaranteed_runs
    always = (block for block in sorted(loop.blocks & certain.keys()) if (certain[block] >= certain[loop.header]).all())
    statements = [inst for block in always for inst in execution.blocks[block]]
    fused = {node for inst in statements if inst.opcode in ("fadd", "fsub") for node in inst.operands}
    body = []
    for inst in statements:
        kind = inst.opcode
        if kind == "call":
            kind = "fused" if inst.builtin in _FUSED else "special" if "special" in inst.work else ""
        is_folded = kind == "fmul" and inst.result in fused
        body.append((inst, 0.0 if is_folded else _LATENCY.get(kind, 0.0)))
    return recurrence_latency(body, loop.header, {each.header for each in execution.nest})
