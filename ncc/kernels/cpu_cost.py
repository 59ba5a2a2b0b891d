"""Cycles of a processor's core that a thread of a kernel takes if loops wait for their own results.

An iteration begins when the values are there that the last one hands on and its operations are issued, the bounds of
Rau, "Iterative modulo scheduling", MICRO 1994. Loops of few operations are unrolled (up to LLVM's threshold at -O2);
those around a barrier are split there. Code outside of loops runs for several work-items at once, unless the kernel has
other loops, or calls what can't. Cycles are those of usual processors, see Fog's instruction tables.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.module import Module
from ncc.kernels.control_flow import Loop, find_loops
from ncc.kernels.instructions import Instruction, decode
from ncc.kernels.work import Work

CYCLE_KINDS = ("packed", "cycles", "atomic", "function", "power", "root", "whole_division", "division")
"""What `cpu_cycles` counts: operations that run for several work-items at once, cycles of all others, and how many of
them are atomic, special functions, slow ones of these, fast ones, divisions of whole numbers, and other divisions."""

_ROOTS = frozenset(("sqrt", "rsqrt", "rcp", "recip", "fdividef", "divide"))
_QUICK = ("native_", "half_")
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
"""Cycles until a result is there; 1 for other kinds."""
_ISSUE = {
    **dict.fromkeys(_WHOLE, 10.0),
    **{"fdiv": 5.0, "frem": 5.0, "root": 5.0, "barrier": 5.0},
    **{"atomic": 20.0, "call": 40.0, "function": 40.0, "power": 100.0},
}
"""Cycles until the next operation begins; a quarter for other kinds."""
_CALLED = dict.fromkeys(("float", "double", "conversion"), "float") | {
    kind: kind for kind in ("barrier", "atomic", "call")
}
_WIDTH = 0.25
_ONE_BY_ONE = frozenset(("function", "power", "call", "atomic"))
_MAX_UNROLLED, _MAX_UNROLLED_TRIPS = 150, 32
_MAX_STEPS = 1_000_000


class _Operation(NamedTuple):
    """A statement as a core sees it."""

    kind: str
    latency: float
    issue_cycles: float


_NOTHING = _Operation("nothing", 0.0, 0.0)


def cpu_cycles(work: Work) -> Floats:
    """Cost of a thread of a kernel at a launch on a processor's core, (len(CYCLE_KINDS),) float64."""
    module = work.module
    weights: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for counted in work.statements:
        statement = counted.instruction.statement
        of_function = weights[int(np.searchsorted(module.function_start, statement, side="right")) - 1]
        of_function[statement] = of_function.get(statement, 0.0) + counted.weight
    functions = [_Function(module, function, of_function) for function, of_function in weights.items()]
    total: defaultdict[str, float] = defaultdict(float)
    for part in functions:
        for kind, amount in part.amounts.items():
            total[kind] += amount
        total["cycles"] += part.loop_cycles
    if all(part.is_vectorizable for part in functions):
        total["packed"] = sum(part.straight_line for part in functions)
    else:
        total["cycles"] += sum(part.straight_line_cycles for part in functions)
    return np.array([total[kind] for kind in CYCLE_KINDS])


class _Function:
    """A function whose statements run so often; statements that are not named cost nothing."""

    def __init__(self, module: Module, function: int, weights: dict[int, float]) -> None:
        self.steps_left = _MAX_STEPS
        self.blocks: defaultdict[int, list[tuple[Instruction, _Operation]]] = defaultdict(list)
        for inst in decode(module, function):
            self.blocks[inst.block].append((inst, _operation(inst) if inst.statement in weights else _NOTHING))
        nest = sorted(find_loops(module, function), key=lambda loop: len(loop.blocks))
        self.headers = {loop.header for loop in nest}
        loops = self._rolled(nest)
        innermost = {block: loop.header for loop in reversed(loops) for block in loop.blocks}
        self.amounts: defaultdict[str, float] = defaultdict(float)
        self.straight_line = self.straight_line_cycles = 0.0
        issued: defaultdict[int, float] = defaultdict(float)
        runs: dict[int, float] = {}
        for inst, operation in chain.from_iterable(self.blocks.values()):
            if inst.statement not in weights:
                continue
            weight = runs[inst.block] = weights[inst.statement]
            self.amounts[operation.kind] += weight * inst.lanes
            if inst.block in innermost:
                issued[innermost[inst.block]] += weight * operation.issue_cycles
            else:
                self.straight_line += weight * (operation.issue_cycles > 0)
                self.straight_line_cycles += weight * operation.issue_cycles
        self.is_vectorizable = not loops and _ONE_BY_ONE.isdisjoint(self.amounts)
        self.loop_cycles = sum(
            max(runs.get(loop.header, 0.0) * self._recurrence(loop), issued[loop.header]) for loop in loops
        )

    def _rolled(self, nest: list[Loop]) -> list[Loop]:
        """Loops that are not unrolled, inner ones first."""
        rolled: dict[int, Loop] = {}  # by header
        for loop in nest:
            size = sum(operation.issue_cycles > 0 for block in loop.blocks for _, operation in self.blocks[block])
            trips = loop.trip_count or np.inf
            is_unrolled = trips <= _MAX_UNROLLED_TRIPS and trips * size <= _MAX_UNROLLED
            if not is_unrolled or not loop.blocks.isdisjoint(rolled):
                rolled[loop.header] = loop
        barriers = {block for block, pairs in self.blocks.items() if any(each.kind == "barrier" for _, each in pairs)}
        return [loop for loop in rolled.values() if loop.blocks.isdisjoint(barriers)]

    def _recurrence(self, loop: Loop) -> float:
        """Longest chain of latencies from a value that an iteration is handed to what it hands on; at least 1."""
        longest = 1.0
        steps = [
            (inst, operation.latency)
            for block in sorted(loop.blocks)
            for inst, operation in self.blocks[block]
            if inst.result >= 0 and not (block in self.headers and inst.opcode == "phi")
        ]
        for phi in (inst for inst, _ in self.blocks[loop.header] if inst.opcode == "phi"):
            self.steps_left -= len(steps)
            if self.steps_left >= 0:
                longest = max(longest, recurrence_latency(steps, phi))
        return longest


def recurrence_latency(steps: Sequence[tuple[Instruction, float]], phi: Instruction) -> float:
    """Longest chain of steps, statements with latencies, from a loop's phi back to itself; 0 if nothing leads there."""
    reached = {phi.result: 0.0}
    for inst, latency in steps:
        before = [reached[node] for node in inst.operands if node in reached]
        if before:
            reached[inst.result] = max(before) + latency
    return max([0.0, *(reached[node] for node in phi.operands if node in reached)])


def _operation(inst: Instruction) -> _Operation:
    kind, work = inst.opcode, next(iter(inst.work), "")
    if kind in _FREE or (kind == "call" and (inst.called_function >= 0 or work in ("", "thread_query"))):
        return _NOTHING  # a function with a body is counted on its own
    if work == "special":
        is_root = inst.builtin in _ROOTS or inst.builtin.startswith(_QUICK)
        kind = "root" if is_root else "power" if inst.builtin in _POWERS else "function"
    elif kind == "call" or work == "atomic":
        kind = _CALLED.get(work, "quick")
    latency, issue_cycles = _LATENCY.get(kind, 1.0), _ISSUE.get(kind, _WIDTH) * inst.lanes**0.5
    if kind in _WHOLE and inst.constant is None:
        kind = "whole_division"
    elif kind in ("fdiv", "frem"):
        kind = "division"
    return _Operation(kind, latency, issue_cycles)
