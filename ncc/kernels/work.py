"""Work of a GPU kernel: a ledger of its statements, with what each does and how often, and sums of it.

The features are those of Grewe and O'Boyle (CC 2011) and Magni et al. (PACT 2014), from the IR. At a launch, operations
are also counted as a profiler of an NVIDIA card counts its own instructions: a fused multiply-add as two, a division as
the multiplications around an approximate reciprocal, a minimum or a rounding as nothing.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.module import Module
from ncc.kernels.addresses import PATTERNS, SPACES, Access, accesses_of, argument_spaces, find_space, thread_strides
from ncc.kernels.control_flow import Loop, loops_around
from ncc.kernels.execution import DEFAULT_TRIP_COUNT, Execution, LoopTripCount
from ncc.kernels.instructions import Instruction, decode, operations
from ncc.kernels.launch import argument_types

_MAX_CALL_DEPTH = 4
_MAX_WEIGHT = 1e12
_MAX_STATEMENTS = 30_000
_TRIES = 16.5
"""Mean number of tries of a thread of a warp if all 32 add to one number in shared memory."""

TENSOR_KIND = "tensor_operation"
"""Matrix products by a warp's tensor cores, whose operations are not counted otherwise."""
_TENSOR = re.compile(r"(?<![a-z])(?:w|wg|b)?mma(?:_|\.)")
_MOVING = frozenset(("store", "phi", "select", "ret", "insertelement", "insertvalue"))
"""Opcodes that only store, select or pass on a value, so that a negation before them is an operation."""

_KINDS = (
    "integer", "float", "double", "division", "special", "conversion", "comparison", "branch", "divergent_branch",
    "barrier", "atomic", "call", "thread_query", "lane_shuffle",
)  # fmt: skip
_ACCESSES = tuple(f"global_{pattern}" for pattern in PATTERNS)
_COUNTED = (
    *_KINDS,
    *(f"{space}_{kind}" for space in SPACES for kind in ("load", "store")),
    *_ACCESSES,
    *("global_bytes", "flops"),
)
_STRUCTURE = (
    "loops", "depth", "open_depth", "fixed_trips", "divergent_loops", "pointer_arguments", "scalar_arguments",
    "dimensions", "statements", "intensity", "coalesced_share", "divergent_share", "double_share", "bytes_per_access",
    "local_share",
)  # fmt: skip
FEATURE_NAMES = (*(f"{runs}_{name}" for runs in ("static", "dynamic") for name in _COUNTED), *_STRUCTURE)
"""Names of a kernel's features, in order."""


@dataclass(frozen=True, eq=False)
class CountedStatement:
    """A statement in the ledger: how often a thread runs it, and the kinds and amounts of its work each time."""

    instruction: Instruction
    weight: float
    amounts: tuple[tuple[str, float], ...]
    accesses: tuple[Access, ...]
    is_divergent: bool
    depth: int


@dataclass(eq=False)
class _Call:
    """A call of a function that has a body, or of the kernel itself: strides, spaces and values of its arguments."""

    function: int
    weight: float
    strides: dict[int, float]
    spaces: dict[int, str]
    values: dict[int, Floats]
    caller: "tuple[_Call, int] | None" = None
    depth: int = 0
    statements: list[CountedStatement] = field(default_factory=list)
    around: dict[int, list[Loop]] = field(default_factory=dict)
    execution: Execution | None = None

    def is_reached_without(self, statements: frozenset[int]) -> bool:
        """Whether the path of calls contains none of some statements."""
        return not self.caller or (self.caller[1] not in statements and self.caller[0].is_reached_without(statements))


@dataclass(frozen=True, eq=False)
class Work:
    """A kernel's ledger: calls in order, with the statements of a function once per call, except excluded ones."""

    module: Module
    function: int
    calls: tuple[_Call, ...]
    excluded: frozenset[int] = frozenset()

    def without(self, statements: Collection[int]) -> "Work":
        """A copy without some statements; the work of others is unchanged."""
        return replace(self, excluded=self.excluded | frozenset(statements)) if statements else self

    def _counted_calls(self) -> Iterator[_Call]:
        return (call for call in self.calls if call.is_reached_without(self.excluded))

    @cached_property
    def statements(self) -> list[CountedStatement]:
        """The statements that count, in the order of the calls."""
        return [
            counted
            for call in self._counted_calls()
            for counted in call.statements
            if counted.instruction.statement not in self.excluded
        ]

    @cached_property
    def static(self) -> Counter[str]:
        """Kind of work → its amount if every statement runs once."""
        return self._sums(lambda _: 1.0)

    @cached_property
    def dynamic(self) -> Counter[str]:
        """Kind of work → the amount that a thread does."""
        return self._sums(lambda counted: counted.weight)

    def _sums(self, weight: Callable[[CountedStatement], float]) -> Counter[str]:
        sums: Counter[str] = Counter()
        for counted in self.statements:
            for kind, amount in counted.amounts:
                sums[kind] += weight(counted) * amount  # type: ignore[assignment]
        return sums

    @cached_property
    def loops(self) -> tuple[LoopTripCount, ...]:
        """The loops at the launch."""
        return tuple(loop for call in self._counted_calls() if call.execution for loop in call.execution.loops)

    @cached_property
    def dimensions(self) -> frozenset[str]:
        """Dimensions whose thread numbers are queried: "0" to "2", "?" if a value decides."""
        return frozenset(counted.instruction.queried_dimension for counted in self.statements) - {""}

    def features(self) -> Floats:
        """(len(FEATURE_NAMES),) float64: logarithms, log1p, of counts; shares and intensities unchanged."""
        static, dynamic, around = self.static, self.dynamic, [call.around for call in self._counted_calls()]
        nests = [loops for of_block in around for loops in of_block.values()]
        headers = [{loop.header for loops in of_block.values() for loop in loops} for of_block in around]
        types = argument_types(self.module, self.function)
        pointers = sum(type_.startswith("ptr") for type_ in types)
        accesses = sum(dynamic[name] for name in _ACCESSES)
        local = dynamic["local_load"] + dynamic["local_store"]
        branches = dynamic["branch"] + dynamic["divergent_branch"]
        structure = {
            "loops": math.log1p(sum(map(len, headers))),
            "depth": float(max(map(len, nests))),
            "open_depth": float(max(sum(not loop.trip_count for loop in loops) for loops in nests)),
            "fixed_trips": math.log1p(max((_product(loops, 1.0) for loops in nests if loops), default=0.0)),
            "divergent_loops": math.log1p(sum(each.is_divergent and each.depth > 0 for each in self.statements)),
            "pointer_arguments": float(pointers),
            "scalar_arguments": float(len(types) - pointers),
            "dimensions": float(len(self.dimensions)),
            "statements": math.log1p(len(self.statements)),
            "intensity": math.log1p(dynamic["flops"]) - math.log1p(dynamic["global_bytes"]),
            "coalesced_share": (dynamic["global_coalesced"] + dynamic["global_uniform"]) / max(accesses, 1),
            "divergent_share": dynamic["divergent_branch"] / max(branches, 1),
            "double_share": dynamic["double"] / max(dynamic["float"] + dynamic["double"], 1),
            "bytes_per_access": dynamic["global_bytes"] / max(accesses, 1),
            "local_share": local / max(local + accesses, 1),
        }
        counts = [math.log1p(sums[name]) for sums in (static, dynamic) for name in _COUNTED]
        return np.array(counts + [structure[name] for name in _STRUCTURE], np.float64)


def count_work(
    module: Module, function: int, execution: Execution | None = None, keep_clamped_strides: bool = False
) -> Work:
    """Count what a kernel and its callees do at a launch; without an execution, if all branches are taken."""
    calls = [_Call(function, 1.0, {}, argument_spaces(module, function), {}, execution=execution)]
    num_statements = 0
    for call in calls:  # grows
        called = _count_call(module, call, keep_clamped_strides)
        num_statements += 1 + len(module.body(call.function))
        if num_statements > _MAX_STATEMENTS:
            del calls[calls.index(call) + 1 :]
            break
        calls += called if call.depth < _MAX_CALL_DEPTH else []
    return Work(module, function, tuple(calls))


def _count_call(module: Module, call: _Call, keep_clamped_strides: bool) -> list[_Call]:
    """Write the ledger of a function, called with certain arguments; return its calls of functions that have a body."""
    if call.caller and (execution := call.caller[0].execution):
        call.execution = Execution(module, call.function, execution.threads, call.values)
    stride = thread_strides(module, call.function, call.strides, keep_clamped_strides)
    calls, body = list[_Call](), decode(module, call.function)
    around = call.around = loops_around(module, call.function)
    moved = {node for inst in body if inst.opcode in _MOVING for node in inst.operands}
    for inst in body:
        runs = _product(around[inst.block], DEFAULT_TRIP_COUNT)
        frequency = call.execution.block_frequency.get(inst.block, 0.0) if call.execution else runs
        weight = min(call.weight * frequency, _MAX_WEIGHT)
        accesses = accesses_of(inst, stride, call.spaces)
        is_divergent = "branch" in inst.work and bool(stride[inst.operands[0]] != 0)
        amounts = list(_card_operations(inst, accesses, moved)) if call.execution else []
        if call.execution and inst.opcode == "call" and inst.called_function < 0 and not accesses:
            amounts += [(TENSOR_KIND, 1.0)] if _TENSOR.search(inst.callee or inst.source) else []
        for access in accesses:
            amounts.append((f"{access.space}_{access.kind}", access.count))
            if access.space == "global":
                amounts += [(f"global_{access.pattern}", access.count), ("global_bytes", access.num_bytes)]
        if inst.opcode == "call" and inst.called_function >= 0:
            formal = module.operands(int(module.function_start[inst.called_function]))
            pairs = [(node, value) for node, value in zip(formal, inst.arguments, strict=False) if value >= 0]
            strides = {node: float(stride[value]) for node, value in pairs}
            pointed = {node: find_space(module, call.spaces, value) for node, value in pairs}
            values = dict(zip(formal, call.execution.argument_values(inst), strict=False)) if call.execution else {}
            caller = call, inst.statement
            calls.append(_Call(inst.called_function, weight, strides, pointed, values, caller, call.depth + 1))
        elif inst.opcode != "call" or not accesses:
            amounts += [("divergent_branch", 1.0)] if is_divergent else inst.work.items()
        counted = CountedStatement(inst, weight, tuple(amounts), tuple(accesses), is_divergent, len(around[inst.block]))
        call.statements.append(counted)
    return calls


def _card_operations(inst: Instruction, accesses: list[Access], moved: set[int]) -> Iterator[tuple[str, float]]:
    """Floating-point and integer operations as the card counts them."""
    if inst.opcode == "atomicrmw" and " fadd " in inst.source and accesses[0].space == "local":
        precision = "double" if "double" in inst.source else "single"  # a loop of additions until one is first
        yield f"{precision}_flops", _TRIES if accesses[0].stride == 0 else 1.0
        return
    if inst.opcode != "fneg" or inst.result in moved:
        for precision, amount in flops_of(inst).items():
            yield f"{precision}_flops", amount
    if amount := integer_operations_of(inst):
        yield "integer_operations", amount


def _product(loops: list[Loop], open_trips: float) -> float:
    """Total trip count of nested loops, with an assumed count for loops that depend on the input."""
    return min(math.prod((loop.trip_count or open_trips for loop in loops), start=1.0), _MAX_WEIGHT)


_ARITHMETIC = {"fadd": 1.0, "fsub": 1.0, "fmul": 1.0, "fneg": 1.0, "frem": 0.0}
_APPROXIMATE = re.compile(r"__(?!nv_)[a-z]|llvm\.nvvm|native_|half_|__nv_fast_")
_FAST = re.compile(r" (?:fast|afn|arcp) ")
_ONE = re.compile(r"fdiv [^,]*\b(?:float|double) 1\.0+(?:e\+0+)?,")
_WIDE = re.compile(r"\bi64\b")
_BY_CONSTANT = re.compile(r"[us](?:div|rem) .*, \d+$")
_CONSTANT_DIVISION = 3.5
_INTEGER_CALLS = frozenset(
    ("smin", "smax", "umin", "umax", "abs", "ctpop", "ctlz", "cttz", "fshl", "fshr", "bitreverse")
)


def flops_of(inst: Instruction) -> dict[str, float]:
    """Floating-point operations of a statement, by precision: "single", "double" or "half"."""
    precision = "double" if "double" in inst.source else "single" if "float" in inst.source else "half"
    if inst.opcode in _ARITHMETIC:
        return {precision: _ARITHMETIC[inst.opcode] * inst.lanes}
    if inst.opcode == "fdiv":
        name, is_approximate = "rcp" if _ONE.search(inst.source) else "div", bool(_FAST.search(inst.source))
    elif inst.opcode == "call":
        name, is_approximate = inst.builtin, bool(_APPROXIMATE.match(inst.callee) or _FAST.search(inst.source))
    else:
        return {}
    table = operations().flops.get(precision, {})
    if name not in table:
        return {}
    if is_approximate and precision == "single" and name not in ("fma", "fmuladd", "mad"):
        return {precision: inst.lanes}
    flops = {precision: table[name] * inst.lanes}
    if precision == "double" and name == "div":
        flops["single"] = 2.0 * inst.lanes  # the test whether a quotient is an ordinary number
    return flops


def integer_operations_of(inst: Instruction) -> float:
    """Integer operations of a statement, as the card's instructions count."""
    costs, is_address = operations().integer.get(inst.opcode), inst.opcode == "getelementptr"
    if costs is None or (inst.opcode == "call" and inst.builtin not in _INTEGER_CALLS):
        return 0.0
    if is_address and all(node < 0 for node in inst.operands[1:]):  # a constant offset is part of the access
        return 0.0
    if inst.opcode == "select" and ("float" in inst.source or "double" in inst.source):
        return 0.0
    if _BY_CONSTANT.search(inst.source):
        return _CONSTANT_DIVISION
    return costs[bool(_WIDE.search(inst.source))] * (1.0 if is_address else inst.lanes)
