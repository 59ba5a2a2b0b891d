"""Cycles of a CPU core for a work-item of a kernel, including loop-carried dependencies.

An iteration begins when the values are there that the last one hands on and its operations are issued, the bounds of
Rau, "Iterative modulo scheduling", MICRO 1994. Loops of few operations are unrolled (up to LLVM's threshold at -O2);
those around a barrier are split there. Code outside of loops runs for several work-items at once, unless the kernel has
other loops, or calls what can't. Cycles are those of usual processors, see Fog's instruction tables.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.module import Module
from ncc.kernels.control_flow import Loop, find_loops
from ncc.kernels.instructions import Instruction, decode
from ncc.kernels.work import Work

CYCLE_KINDS = ("packed", "cycles", "atomic", "function", "power", "root", "whole_division", "division")
"""Counts of `cpu_cycles`: operations that run for several work-items at once, cycles of all others, and how many of
them are atomic, special functions, slow ones of these, fast ones, divisions of whole numbers, and other divisions."""

_ROOTS = frozenset(("sqrt", "rsqrt", "rcp", "recip", "fdividef", "divide"))
_POWERS = frozenset(
    ("pow", "powi", "pown", "powr", "rootn", "cbrt", "erf", "erfc", "lgamma", "tgamma", "fmod", "remainder")
)
_WHOLE = ("sdiv", "udiv", "srem", "urem")
_FREE = frozenset(("phi", "bitcast", "br", "ret", "freeze", "zext", "trunc", "switch", "addrspacecast"))
_FLOAT = ("fadd", "fsub", "fmul", "sitofp", "uitofp", "fptosi", "fptoui", "fpext", "fptrunc", "float")
_LATENCY = {
    **dict.fromkeys(_FLOAT, 4.0),
    **dict.fromkeys((*_WHOLE, "atomic"), 20.0),
    **{"mul": 3.0, "load": 5.0, "barrier": 10.0, "fdiv": 13.0, "root": 15.0},
    **{"frem": 40.0, "call": 40.0, "function": 50.0, "power": 150.0},
}
"""Latency in cycles by kind; 1 for other kinds."""
_ISSUE = {
    **dict.fromkeys(_WHOLE, 10.0),
    **{"fdiv": 5.0, "frem": 5.0, "root": 5.0, "barrier": 5.0},
    **{"atomic": 20.0, "call": 40.0, "function": 40.0, "power": 100.0},
}
"""Cycles until the next operation can start, by kind; a quarter for other kinds."""
_CALLED = {kind: kind for kind in ("float", "barrier", "atomic", "call")} | {"double": "float", "conversion": "float"}
_WIDTH = 0.25
_ONE_BY_ONE = frozenset(("function", "power", "call", "atomic"))
_MAX_UNROLLED, _MAX_UNROLLED_TRIPS = 150, 32
_MAX_STEPS = 1_000_000


class _Operation(NamedTuple):
    """Cost of a statement on a core."""

    kind: str
    latency: float
    issue_cycles: float


_NOTHING = _Operation("nothing", 0.0, 0.0)


def cpu_cycles(work: Work) -> Floats:
    """Cost of a thread of a kernel at a launch on a processor's core, (len(CYCLE_KINDS),) float64."""
    module, weights = work.module, Counter[int]()
    for counted in work.statements:
        weights[counted.instruction.statement] += counted.weight  # type: ignore[assignment]
    functions = np.searchsorted(module.function_start, list(weights), side="right") - 1
    total: Counter[str] = Counter()
    for function in dict.fromkeys(functions.tolist()):
        total.update(_count_function(module, function, weights))
    if not total["loops"] and _ONE_BY_ONE.isdisjoint(total):
        total["packed"] = total["straight_line"]
    else:
        total["cycles"] += total["straight_line_cycles"]
    return np.array([total[kind] for kind in CYCLE_KINDS])


def _count_function(module: Module, function: int, weights: Mapping[int, float]) -> dict[str, float]:
    """Amounts by kind of a function from the frequency of its statements; missing statements cost nothing."""
    blocks: defaultdict[int, list[tuple[Instruction, _Operation]]] = defaultdict(list)
    for inst in decode(module, function):
        blocks[inst.block].append((inst, _operation(inst) if inst.statement in weights else _NOTHING))
    nest = sorted(find_loops(module, function), key=lambda loop: len(loop.blocks))
    headers = {loop.header for loop in nest}
    rolled: dict[int, Loop] = {}  # by header: loops that are not unrolled, inner ones first
    for loop in nest:
        size = sum(operation.issue_cycles > 0 for block in loop.blocks for _, operation in blocks[block])
        trips = loop.trip_count or np.inf
        is_unrolled = trips <= _MAX_UNROLLED_TRIPS and trips * size <= _MAX_UNROLLED
        if not is_unrolled or not loop.blocks.isdisjoint(rolled):
            rolled[loop.header] = loop
    barriers = {block for block, pairs in blocks.items() if any(each.kind == "barrier" for _, each in pairs)}
    loops = [loop for loop in rolled.values() if loop.blocks.isdisjoint(barriers)]
    innermost = {block: loop.header for loop in reversed(loops) for block in loop.blocks}
    amounts: defaultdict[str, float] = defaultdict(float, loops=len(loops))
    issued: defaultdict[int, float] = defaultdict(float)
    runs: dict[int, float] = {}
    for inst, operation in chain.from_iterable(blocks.values()):
        if inst.statement not in weights:
            continue
        weight = runs[inst.block] = weights[inst.statement]
        amounts[operation.kind] += weight * inst.lanes
        if inst.block in innermost:
            issued[innermost[inst.block]] += weight * operation.issue_cycles
        else:
            amounts["straight_line"] += weight * (operation.issue_cycles > 0)
            amounts["straight_line_cycles"] += weight * operation.issue_cycles
    for loop in loops:
        body = [(inst, each.latency) for block in sorted(loop.blocks) for inst, each in blocks[block]]
        waits = runs.get(loop.header, 0.0) * max(recurrence_latency(body, loop.header, headers), 1.0)
        amounts["cycles"] += max(waits, issued[loop.header])
    return amounts


def recurrence_latency(body: Iterable[tuple[Instruction, float]], header: int, headers: Collection[int]) -> float:
    """Latency of the longest dependency chain of a loop from a phi of its header back to itself; 0 if there is none."""
    phis, steps, longest = [], [], 0.0
    for inst, latency in body:
        if inst.opcode != "phi" or inst.block not in headers:
            steps += [(inst, latency)] if inst.result >= 0 else []
        elif inst.block == header:
            phis.append(inst)
    for phi in phis[: _MAX_STEPS // (len(headers) * max(len(steps), 1))]:
        reached = {phi.result: 0.0}
        for inst, latency in steps:
            before = [reached[node] for node in inst.operands if node in reached]
            if before:
                reached[inst.result] = max(before) + latency
        longest = max([longest, *(reached[node] for node in phi.operands if node in reached)])
    return longest


def _operation(inst: Instruction) -> _Operation:
    kind, work = inst.opcode, next(iter(inst.work), "")
    if kind in _FREE or (kind == "call" and (inst.called_function >= 0 or work in ("", "thread_query"))):
        return _NOTHING  # a function with a body is counted separately
    if work == "special":
        is_root = inst.builtin in _ROOTS or inst.builtin.startswith(("native_", "half_"))
        kind = "root" if is_root else "power" if inst.builtin in _POWERS else "function"
    elif kind == "call" or work == "atomic":
        kind = _CALLED.get(work, "quick")
    latency, issue_cycles = _LATENCY.get(kind, 1.0), _ISSUE.get(kind, _WIDTH) * inst.lanes**0.5
    if kind in _WHOLE and inst.constant is None:
        kind = "whole_division"
    elif kind in ("fdiv", "frem"):
        kind = "division"
    return _Operation(kind, latency, issue_cycles)
