"""Cycles of a processor's core that a thread of a kernel takes, where loops wait for their own results.

A core begins an iteration of a loop no sooner than the values are there that the last one hands on (the longest chain
of latencies from a loop's phi back to itself), nor before it has issued what the last one does: the two bounds of
modulo scheduling. Loops of few operations are unrolled, and those around a barrier are split there. What is left
outside of loops runs for several work-items at once, unless the kernel has other loops, or calls what can't.

Reference: Rau, "Iterative modulo scheduling", MICRO 1994 (bounds by recurrences and by resources). Cycles are those of
usual processors, see Fog's instruction tables; loops are unrolled up to LLVM's threshold at -O2.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.module import Module
from ncc.kernels.addresses import called_function, callee_name
from ncc.kernels.builtins import builtin_name, work_of_call
from ncc.kernels.control_flow import Loop, find_loops
from ncc.kernels.instructions import lanes_of
from ncc.kernels.strides import constant_operand
from ncc.kernels.work import CountedStatement

CYCLE_KINDS = ("packed", "cycles", "atomic", "function", "power", "root", "whole_division", "division")
"""What `count_cycles` counts: operations that run for several work-items at once, cycles of all others, and how many of
them are atomic, special functions, slow ones of these, fast ones, divisions of whole numbers, and other divisions."""

_ROOTS = frozenset(("sqrt", "rsqrt", "rcp", "recip", "fdividef", "divide"))
_QUICK = ("native_", "half_")
_POWERS = frozenset(
    ("pow", "powi", "pown", "powr", "rootn", "cbrt", "erf", "erfc", "lgamma", "tgamma", "fmod", "remainder")
)
_WHOLE = ("sdiv", "udiv", "srem", "urem")
_FREE = frozenset(("phi", "bitcast", "br", "ret", "freeze", "zext", "trunc", "switch", "addrspacecast", "nothing"))
_FLOAT = ("fadd", "fsub", "fmul", "sitofp", "uitofp", "fptosi", "fptoui", "fpext", "fptrunc", "float")
_LATENCY = {
    **dict.fromkeys(_FLOAT, 4.0),
    **dict.fromkeys((*_WHOLE, "atomic"), 20.0),
    **{"mul": 3.0, "load": 5.0, "barrier": 10.0, "fdiv": 13.0, "root": 15.0},
    **{"frem": 40.0, "call": 40.0, "function": 50.0, "power": 150.0},
}
"""Cycles until a result is there; 1 where nothing is said."""
_ISSUE = {
    **dict.fromkeys(_WHOLE, 10.0),
    **{"fdiv": 5.0, "frem": 5.0, "root": 5.0, "barrier": 5.0},
    **{"atomic": 20.0, "call": 40.0, "function": 40.0, "power": 100.0},
}
"""Cycles until the next operation begins; a quarter where nothing is said."""
_WIDTH = 0.25
_ONE_BY_ONE = frozenset(("function", "power", "call", "atomic"))
_MOST_UNROLLED, _MOST_TRIPS = 150, 32
_MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class _Operation:
    """A statement as a core sees it."""

    kind: str
    latency: float
    issue: float
    lanes: float


_NOTHING = _Operation("nothing", 0.0, 0.0, 0.0)


def count_cycles(module: Module, rows: Iterable[CountedStatement]) -> Floats:
    """What a thread of a kernel costs a processor's core.

    Args:
        module: The module.
        rows: Statements that the thread runs at a launch, of all functions, with how often; others cost nothing.

    Returns:
        (len(CYCLE_KINDS),) float64.
    """
    ways: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for row in rows:
        own = ways[int(np.searchsorted(module.function_start, row.statement, side="right")) - 1]
        own[row.statement] = own.get(row.statement, 0.0) + row.weight
    functions = [_Function(module, function, own) for function, own in ways.items()]
    total: defaultdict[str, float] = defaultdict(float)
    for one in functions:
        for kind, amount in one.amounts.items():
            total[kind] += amount
        total["cycles"] += one.loop_cycles
    if all(one.is_packed for one in functions):
        total["packed"] = sum(one.straight for one in functions)
    else:
        total["cycles"] += sum(one.straight_cycles for one in functions)
    return np.array([total[kind] for kind in CYCLE_KINDS])


class _Function:
    """A function whose statements run so often.

    Attributes:
        amounts: Kind of operation → how many run.
        straight, straight_cycles: Operations outside of loops, and cycles until they are issued one after the other.
        loop_cycles: Cycles of loops.
        is_packed: Whether nothing keeps what is outside of loops from running for several work-items at once.
    """

    def __init__(self, module: Module, function: int, ways: dict[int, float]) -> None:
        self.module, self.steps_left = module, _MOST_STEPS
        self.blocks: defaultdict[int, list[int]] = defaultdict(list)
        self.operation: dict[int, _Operation] = {}
        for statement in module.body(function):
            self.blocks[int(module.block[statement])].append(statement)
            self.operation[statement] = _operation(module, statement) if statement in ways else _NOTHING
        nest = sorted(find_loops(module, function), key=lambda loop: len(loop.blocks))
        self.headers = {loop.header for loop in nest}
        loops = self._rolled(nest)
        inside = {block: loop.header for loop in reversed(loops) for block in loop.blocks}  # the innermost one stays
        self.amounts: defaultdict[str, float] = defaultdict(float)
        self.straight = self.straight_cycles = 0.0
        issued: defaultdict[int, float] = defaultdict(float)
        for statement, weight in ways.items():
            operation, loop = self.operation[statement], inside.get(int(module.block[statement]))
            self.amounts[operation.kind] += weight * operation.lanes
            if loop is None:
                self.straight += weight * (operation.issue > 0)
                self.straight_cycles += weight * operation.issue
            else:
                issued[loop] += weight * operation.issue
        self.is_packed = not loops and _ONE_BY_ONE.isdisjoint(self.amounts)
        runs = {int(module.block[statement]): weight for statement, weight in ways.items()}
        self.loop_cycles = sum(
            max(runs.get(loop.header, 0.0) * self._recurrence(loop), issued[loop.header]) for loop in loops
        )

    def _rolled(self, nest: list[Loop]) -> list[Loop]:
        """Loops that stay such, inner ones first."""
        rolled: dict[int, Loop] = {}  # by header
        for loop in nest:
            size = sum(self.operation[one].issue > 0 for block in loop.blocks for one in self.blocks[block])
            trips = loop.trips or np.inf
            is_unrolled = trips <= _MOST_TRIPS and trips * size <= _MOST_UNROLLED
            if not is_unrolled or not loop.blocks.isdisjoint(rolled):
                rolled[loop.header] = loop
        return [loop for loop in rolled.values() if not any(map(self._has_barrier, loop.blocks))]

    def _has_barrier(self, block: int) -> bool:
        return any(self.operation[one].kind == "barrier" for one in self.blocks[block])

    def _recurrence(self, loop: Loop) -> float:
        """Longest chain of latencies from a value that an iteration is handed to what it hands on; at least 1."""
        module, longest = self.module, 1.0
        steps = [
            (int(module.result[one]), module.operands(one), self.operation[one].latency)
            for block in sorted(loop.blocks)
            for one in self.blocks[block]
            if module.result[one] >= 0 and not (block in self.headers and self._is_phi(one))
        ]
        for phi in filter(self._is_phi, self.blocks[loop.header]):
            self.steps_left -= len(steps)
            if self.steps_left < 0:
                break
            longest = max(longest, longest_chain(module, steps, phi))
        return longest

    def _is_phi(self, statement: int) -> bool:
        return self.module.opcode_name(statement) == "phi"


def longest_chain(module: Module, steps: Iterable[tuple[int, list[int], float]], phi: int) -> float:
    """Longest chain of latencies from what a loop hands on back to the same; 0 where nothing leads there.

    Args:
        module: The module.
        steps: Result, operands and latency of each statement of the loop, in order, but for phis of loops.
        phi: The statement that takes what is handed on.
    """
    reached = {int(module.result[phi]): 0.0}
    for result, operands, latency in steps:
        before = [reached[node] for node in operands if node in reached]
        if before:
            reached[result] = max(before) + latency
    return max([0.0, *(reached[node] for node in module.operands(phi) if node in reached)])


def _operation(module: Module, statement: int) -> _Operation:
    kind = module.opcode_name(statement)
    if kind == "call":
        kind = _kind_of_call(module, statement)
    if kind in _FREE:
        return _NOTHING
    if kind in ("atomicrmw", "cmpxchg"):
        kind = "atomic"
    lanes = lanes_of(module.statement_text(statement))
    latency, issue = _LATENCY.get(kind, 1.0), _ISSUE.get(kind, _WIDTH) * lanes**0.5
    if kind in _WHOLE and constant_operand(module, statement) is None:
        kind = "whole_division"
    elif kind in ("fdiv", "frem"):
        kind = "division"
    return _Operation(kind, latency, issue, lanes)


def _kind_of_call(module: Module, statement: int) -> str:
    if called_function(module, statement) >= 0:
        return "nothing"  # what it does is counted on its own
    callee = callee_name(module, statement)
    name, work = builtin_name(callee), work_of_call(callee, module.statement_text(statement))
    if not work or "thread_query" in work:
        return "nothing"
    if "special" in work:
        is_root = name in _ROOTS or name.startswith(_QUICK)
        return "root" if is_root else "power" if name in _POWERS else "function"
    if not {"float", "double", "conversion"}.isdisjoint(work):
        return "float"
    return next((kind for kind in ("barrier", "atomic", "call") if kind in work), "quick")
