"""Goes through a kernel's functions and counts what their statements do, once and weighted by how often they run."""

import functools
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from ncc.arrays import Floats
from ncc.ir.reader.module import Module
from ncc.kernels.addresses import called_function, callee_name, thread_strides
from ncc.kernels.builtins import work_of_call
from ncc.kernels.control_flow import find_loops
from ncc.kernels.costs import flops_of, integer_operations_of
from ncc.kernels.execution import FunctionRuns
from ncc.kernels.instructions import lanes_of
from ncc.kernels.launch import LoopTrips, Threads
from ncc.kernels.memory import Access, PointerSpaces, access_pattern, accesses_of, argument_spaces
from ncc.kernels.registers import asked_dimension, reads_variable

TRIPS = 8.0
"""Times that a loop is taken to run where the code does not say."""
_DEEPEST = 4
_HEAVIEST = 1e12
_MOST_STATEMENTS = 30_000
_TRIES = 16.5
"""Times that a thread of a warp tries on average, where all 32 add to one number in shared memory."""

TENSOR_KIND = "tensor_operation"
"""Products of matrices by a warp's tensor cores, whose operations are not counted otherwise."""
_TENSOR = re.compile(r"(?<![a-z])(?:w|wg|b)?mma(?:_|\.)")
_FLOAT_OPS = frozenset(("fadd", "fsub", "fmul", "fneg"))
_KIND_OF_OPCODE = {
    **dict.fromkeys(("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor", "getelementptr"), "integer"),
    **dict.fromkeys(("udiv", "sdiv", "urem", "srem", "fdiv", "frem"), "division"),
    **dict.fromkeys(
        ("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"), "conversion"
    ),
    **dict.fromkeys(("icmp", "fcmp", "select"), "comparison"),
    **dict.fromkeys(("extractelement", "insertelement", "shufflevector"), "lane_shuffle"),
}
_SCALAR = frozenset(("getelementptr", "extractelement", "insertelement", "shufflevector"))
"""Opcodes that count once however many lanes the vectors in their text have."""


@dataclass(frozen=True, eq=False)
class AtLaunch:
    """A kernel's launch, as far as it is known.

    Attributes:
        threads: Those that stand for all.
        arguments: Node of a kernel's argument → its value in each thread.
        loops: Gets the loops that are met.
        clamps: See `ncc.kernels.addresses.thread_strides`.
    """

    threads: Threads
    arguments: dict[int, Floats]
    loops: list[LoopTrips] = field(default_factory=list)
    clamps: bool = False


@dataclass(frozen=True)
class CountedStatement:
    """A statement that was counted; see `ncc.kernels.kernels_profile.KernelProfile`."""

    statement: int
    weight: float
    pattern: str
    divergent: bool


@dataclass(eq=False)
class KernelCounts:
    """Counts of a kernel.

    Attributes:
        once: Kind of work, or of access → its amount (lanes, bytes) where every statement runs once.
        weighted: The same → the amount that a thread does.
        shape: What loops and statements there are.
        dimensions: Those whose thread numbers the kernel asks for.
        rows: The statements that were counted; those of a function for every call of it.
        accesses: Accesses of memory, each with how often a thread makes it.
    """

    once: Counter[str] = field(default_factory=Counter)
    weighted: Counter[str] = field(default_factory=Counter)
    shape: Counter[str] = field(default_factory=Counter)
    dimensions: set[str] = field(default_factory=set)
    rows: list[CountedStatement] = field(default_factory=list)
    accesses: list[tuple[Access, float]] = field(default_factory=list)

    def add(self, kind: str, weight: float, amount: float = 1.0) -> None:
        """Counts an amount of work that is done so often."""
        self.once[kind] += amount  # type: ignore[assignment]
        self.weighted[kind] += weight * amount  # type: ignore[assignment]

    def add_access(self, access: Access, weight: float) -> str:
        """Counts an access of memory; returns its pattern if it is one of global memory."""
        self.accesses.append((access, weight))
        self.add(f"{access.space}_{access.what}", weight, access.amount)
        if access.space != "global":
            return ""
        pattern = access_pattern(access.stride, access.num_bytes)
        self.add(f"global_{pattern}", weight, access.amount)
        self.add("global_bytes", weight, access.num_bytes)
        return pattern


@dataclass(frozen=True, eq=False)
class _Call:
    """A call of a function that has a body, or of the kernel itself.

    Attributes:
        function: Number of the function.
        weight: How often a thread makes the call.
        strides: Argument → its stride.
        spaces: Argument → memory that it points into.
        level: How many calls led here.
        values: Argument → its value in each thread, where it is known.
    """

    function: int
    weight: float
    strides: dict[int, float]
    spaces: dict[int, str]
    level: int
    values: dict[int, Floats] = field(default_factory=dict)


def count_kernel(
    module: Module, function: int, without: Collection[int] = (), at: AtLaunch | None = None
) -> KernelCounts:
    """Counts what a kernel and the functions that it calls do.

    Calls are followed to a depth of four, and until thirty thousand statements are counted: OpenCL has no recursion,
    but any IR may come this way.

    Args:
        module: The module.
        function: Number of the kernel among the module's functions.
        without: Statements that are not counted, as if they did nothing.
        at: What is known of a launch; without it, loops whose end is not known run `TRIPS` times, and branches all.
    """
    counts, left_out = KernelCounts(), frozenset(without)
    waiting = [_Call(function, 1.0, {}, argument_spaces(module, function), 0, at.arguments if at else {})]
    num_statements = 0
    for call in waiting:  # grows
        found = _Function(module, call, counts, left_out, at).count()
        num_statements += 1 + len(module.body(call.function))
        if num_statements > _MOST_STATEMENTS:
            break
        waiting += found if call.level < _DEEPEST else []
    return counts


class _Function:
    """One function, called with certain arguments."""

    def __init__(
        self, module: Module, call: _Call, counts: KernelCounts, without: frozenset[int], at: AtLaunch | None
    ) -> None:
        self.module, self.call, self.counts, self.without = module, call, counts, without
        self.stride = thread_strides(module, call.function, call.strides, bool(at and at.clamps))
        self.spaces = PointerSpaces(module, call.spaces)
        self.runs: dict[int, float] = {}
        self.depth: Counter[int] = Counter()
        self._count_loops()
        self.at_launch: FunctionRuns | None = None
        if at:
            self.at_launch = FunctionRuns(module, call.function, at.threads, call.values, TRIPS)
            self.runs = self.at_launch.runs
            at.loops.extend(self.at_launch.loops)

    def count(self) -> list[_Call]:
        """Counts the statements; returns the calls of functions that have a body."""
        module, calls = self.module, []
        for statement in module.body(self.call.function):
            if statement in self.without:
                continue
            block = int(module.block[statement])
            weight = min(self.call.weight * self.runs.get(block, 0.0 if self.at_launch else 1.0), _HEAVIEST)
            operands, opcode = module.operands(statement), module.opcode_name(statement)
            pattern, divergent = "", False
            self.counts.shape["statements"] += 1
            if self.at_launch:
                self._count_instructions(statement, opcode, operands, weight)
            if reads_variable(module, statement):
                self.counts.add("thread_query", weight)
            elif opcode in ("load", "store", "atomicrmw", "cmpxchg"):
                pattern = self._count_accesses(statement, operands, weight)
                if opcode in ("atomicrmw", "cmpxchg"):
                    self.counts.add("atomic", weight)
            elif opcode == "call":
                callee = called_function(module, statement)
                if callee >= 0:
                    calls.append(self._called(statement, callee, operands[1:], weight))
                else:
                    pattern = self._count_call(statement, operands[1:], weight)
            elif opcode in ("br", "switch"):
                divergent = self._count_branch(operands, block, weight)
            else:
                self._count_arithmetic(opcode, module.statement_text(statement), weight)
            if dimension := asked_dimension(module, statement):
                self.counts.dimensions.add(dimension)
            self.counts.rows.append(CountedStatement(statement, weight, pattern, divergent))
        return calls

    def _count_accesses(self, statement: int, operands: list[int], weight: float) -> str:
        accesses = accesses_of(self.module, statement, operands, self.stride, self.spaces)
        return "".join([self.counts.add_access(access, weight) for access in accesses][:1])

    def _count_branch(self, operands: list[int], block: int, weight: float) -> bool:
        divergent = bool(operands and operands[0] >= 0 and self.stride[operands[0]] != 0)
        if len(operands) > 1:
            self.counts.add("divergent_branch" if divergent else "branch", weight)
            self.counts.shape["divergent_loops"] += int(divergent and self.depth[block] > 0)
        return divergent

    def _count_arithmetic(self, opcode: str, text: str, weight: float) -> None:
        lanes = 1.0 if opcode in _SCALAR else lanes_of(text)
        if opcode in _FLOAT_OPS:
            self.counts.add("double" if "double" in text else "float", weight, lanes)
        elif opcode in _KIND_OF_OPCODE:
            self.counts.add(_KIND_OF_OPCODE[opcode], weight, lanes)
        if opcode in _FLOAT_OPS or opcode in ("fdiv", "frem"):
            self.counts.add("flops", weight, lanes)

    def _count_instructions(self, statement: int, opcode: str, operands: list[int], weight: float) -> None:
        """Counts floating-point and integer operations as the card does."""
        module, source = self.module, self.module.statement_source(statement)
        if opcode == "atomicrmw" and " fadd " in source and self.spaces.find(operands[0]) == "local":
            precision = "double" if "double" in source else "single"  # a loop of additions until one is first
            tries = _TRIES if self.stride[operands[0]] == 0 else 1.0
            self.counts.add(f"{precision}_flops", weight, tries)
            return
        callee = callee_name(module, statement) if opcode == "call" else ""
        if opcode != "fneg" or int(module.result[statement]) in self._moved:
            for precision, amount in flops_of(opcode, callee, source).items():
                self.counts.add(f"{precision}_flops", weight, amount)
        is_constant = all(node < 0 for node in operands[1:])
        if amount := integer_operations_of(opcode, callee, source, is_constant):
            self.counts.add("integer_operations", weight, amount)

    @functools.cached_property
    def _moved(self) -> frozenset[int]:
        """Values that are stored, chosen or passed on: a sign that nothing else takes along is an operation."""
        module = self.module
        return frozenset(
            node
            for statement in module.body(self.call.function)
            if module.opcode_name(statement) in ("store", "phi", "select", "ret", "insertelement", "insertvalue")
            for node in module.operands(statement)
        )

    def _count_call(self, statement: int, arguments: list[int], weight: float) -> str:
        """Counts a call of a function without a body; returns the pattern of the access that it makes, if any."""
        module, name = self.module, callee_name(self.module, statement)
        if accesses := accesses_of(module, statement, arguments, self.stride, self.spaces):
            return "".join([self.counts.add_access(access, weight) for access in accesses][:1])
        if self.at_launch and _TENSOR.search(name or module.statement_source(statement)):
            self.counts.add(TENSOR_KIND, weight)
        for kind, amount in work_of_call(name, module.statement_text(statement)).items():
            self.counts.add(kind, weight, amount)
        return ""

    def _called(self, statement: int, callee: int, actual: list[int], weight: float) -> _Call:
        formal = self.module.operands(int(self.module.function_start[callee]))
        pairs = [(node, value) for node, value in zip(formal, actual, strict=False) if value >= 0]
        return _Call(
            callee,
            weight,
            {node: float(self.stride[value]) for node, value in pairs},
            {node: self.spaces.find(value) for node, value in pairs},
            self.call.level + 1,
            dict(zip(formal, self.at_launch.argument_values(statement), strict=False)) if self.at_launch else {},
        )

    def _count_loops(self) -> None:
        """Counts loops, and finds how often each block runs, and its depth."""
        shape, open_depth = self.counts.shape, Counter[int]()  # of loops whose end depends on the input
        fixed: dict[int, float] = {}
        for loop in find_loops(self.module, self.call.function):
            shape["loops"] += 1
            self.depth.update(loop.blocks)
            open_depth.update(loop.blocks if loop.trips is None else ())
            for block in loop.blocks:
                self.runs[block] = self.runs.get(block, 1.0) * (loop.trips or TRIPS)
                fixed[block] = min(fixed.get(block, 1.0) * (loop.trips or 1.0), _HEAVIEST)
        shape["depth"] = max(shape["depth"], *self.depth.values(), 0)
        shape["open_depth"] = max(shape["open_depth"], *open_depth.values(), 0)
        shape["fixed_trips"] = max(shape["fixed_trips"], *fixed.values(), 0)  # type: ignore[assignment]
