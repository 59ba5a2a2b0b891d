"""Execution of a function at a launch for many threads at once: block frequencies, trip counts and values.

What depends on memory is not known, NaN. Loops run as often as their counters say. An argument that is not given may
follow from what it is compared with: a kernel that returns where its thread's number reaches ``n`` is launched for
``n`` threads.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Ints
from ncc.ir.reader.module import Module
from ncc.kernels.control_flow import Loop, branch_probability, find_loops, loops_around, reverse_postorder, successors
from ncc.kernels.instructions import Instruction, decode, definition
from ncc.kernels.launch import Launch, Threads, argument_names, given_arguments

DEFAULT_TRIP_COUNT = 8.0
"""Assumed trip count if it can't be derived from the code."""
_STAYS = 0.99
"""Fraction of threads that stay in the kernel at an unknown condition."""
_MAX_TRIPS = 2.0**40
_SPREADS = (0.6180339887, 0.4142135623, 0.7320508075, 0.2360679774)
"""Steps whose multiples, modulo 1, are evenly spread and independent of each other."""
_CASTS = frozenset(("zext", "sext", "trunc", "freeze"))
_ON_DATA = "trip count depends on data"
_STEPS = ("add", "sub", "shl", "lshr", "ashr", "udiv", "sdiv", "mul")

Operation = Callable[..., Floats]


def _divide(x: Floats, y: Floats) -> Floats:
    return np.trunc(np.divide(x, y, out=np.full_like(x, np.nan), where=y != 0))


def _bits(operation: Callable[..., Ints]) -> Operation:
    def apply(x: Floats, y: Floats) -> Floats:
        known = np.isfinite(x) & np.isfinite(y) & (np.abs(x) < 2.0**62) & (np.abs(y) < 2.0**62)
        result = operation(np.where(known, x, 0).astype(np.int64), np.where(known, y, 0).astype(np.int64))
        return np.where(known, result, np.nan)

    return apply


def _compare(operation: Operation) -> Operation:
    return lambda x, y: np.where(np.isfinite(x) & np.isfinite(y), operation(x, y), np.nan)


def _select(condition: Floats, x: Floats, y: Floats) -> Floats:
    unknown = np.where(x == y, x, np.nan)
    return np.where(np.isnan(condition), unknown, np.where(condition != 0, x, y))


_UNARY: dict[str, Operation] = {
    **dict.fromkeys((*_CASTS, "sitofp", "uitofp", "fpext", "fptrunc", "addrspacecast"), lambda x: x),
    **dict.fromkeys(("fptosi", "fptoui"), np.trunc),
    "abs": np.abs,
}
_BINARY: dict[str, Operation] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    **dict.fromkeys(("sdiv", "udiv"), _divide),
    **dict.fromkeys(("srem", "urem"), lambda x, y: x - y * _divide(x, y)),
    "shl": lambda x, y: x * 2.0 ** np.clip(y, -64, 64),
    **dict.fromkeys(("ashr", "lshr"), lambda x, y: np.floor(x / 2.0 ** np.clip(y, -64, 64))),
    "and": _bits(np.bitwise_and),
    "or": _bits(np.bitwise_or),
    "xor": _bits(np.bitwise_xor),
    **dict.fromkeys(("smin", "umin", "min"), np.minimum),
    **dict.fromkeys(("smax", "umax", "max"), np.maximum),
    "eq": _compare(np.equal),
    "ne": _compare(np.not_equal),
    **dict.fromkeys(("slt", "ult"), _compare(np.less)),
    **dict.fromkeys(("sle", "ule"), _compare(np.less_equal)),
    **dict.fromkeys(("sgt", "ugt"), _compare(np.greater)),
    **dict.fromkeys(("sge", "uge"), _compare(np.greater_equal)),
}
_OPERATIONS: dict[int, dict[str, Operation]] = {1: _UNARY, 2: _BINARY, 3: {"select": _select, "clamp": np.clip}}
"""Number of operands → function of them, by opcode, builtin or predicate."""


@dataclass(frozen=True)
class LoopTripCount:
    """How often a loop runs.

    Attributes:
        line: Its line in the source, 0 if unknown.
        trip_count: Average per thread; None if it depends on data or on an argument that is not given.
        depth: Number of loops around it, itself included.
        function: Name of its function in the IR.
        statement: Index of a statement with that line, -1 if there is none.
        file: The line's file, if that is not the source itself; else empty.
        missing: Names of the function's arguments that are not given and alone decide the trip count.
    """

    line: int
    trip_count: float | None
    depth: int
    function: str
    statement: int = -1
    file: str = ""
    missing: tuple[str, ...] = ()

    @property
    def location(self) -> str:
        """Line and file as text."""
        where = f"line {self.line}" if self.line else "a loop"
        return f"{where} of {PurePath(self.file).name}" if self.file and self.line else where

    @property
    def reason(self) -> str:
        """The reason why its trip count is not known."""
        options = " ".join(f"--arg {name}=N" for name in self.missing)
        return f"trip count depends on {' and '.join(self.missing)} ({options})" if options else _ON_DATA


class _Counter(NamedTuple):
    """A loop's counter: its first value, and the addend or factor of each iteration."""

    start: Floats
    step: Floats
    factor: float


class Execution:
    """A run of a function for n weighted threads: how often each runs blocks and loops, and values, (n,) float64."""

    def __init__(
        self,
        module: Module,
        function: int,
        threads: Threads,
        arguments: Mapping[int, Floats | float],
        default_trips: float = DEFAULT_TRIP_COUNT,
    ) -> None:
        self.module, self.function, self.threads, self._default = module, function, threads, default_trips
        self.arguments = module.operands(int(module.function_start[function]))
        self.unknown = np.full(len(threads.weight), np.nan)
        self.values = {node: np.broadcast_to(value, self.unknown.shape) for node, value in arguments.items()}
        self.following = successors(module, function)
        self.nest, self.inside = find_loops(module, function), loops_around(module, function)
        self.blocks: defaultdict[int, list[Instruction]] = defaultdict(list)
        for inst in decode(module, function):
            self.blocks[inst.block].append(inst)
        self.times: dict[int, Floats] = {}
        self.block_frequency: dict[int, float] = {}
        self.trips: dict[int, Floats] = {}
        self.loops: list[LoopTripCount] = []
        self.open_loops: set[int] = set()
        self.inferred: dict[int, float] = {}
        self._by_header = {loop.header: loop for loop in self.nest}
        self._strided: set[int] = set()
        flow: dict[int, Floats] = defaultdict(lambda: np.zeros(len(self.unknown)))
        first = int(module.function_block[function])
        flow[first] = np.ones(len(self.unknown))
        for block in reverse_postorder(self.following, first):
            if block in self._by_header:
                self._enter(self._by_header[block])
            inside = self.inside[block]
            trips = (self.trips[loop.header] for loop in inside if loop.header in self.trips)
            self.times[block] = np.minimum(math.prod(trips, start=flow[block]), _MAX_TRIPS)
            self.block_frequency[block] = float(self.times[block] @ self.threads.weight)
            for inst in self.blocks[block]:
                self._evaluate(inst)
            self._leave(block, inside, flow)
        self.inferred = {node: value for node, value in self.inferred.items() if node not in self._strided}

    def argument_values(self, inst: Instruction) -> list[Floats]:
        """Values of a statement's operands, or of a call's arguments, (n,) float64 each."""
        return [self._value(*pair) for pair in inst.inputs]

    def _leave(self, block: int, inside: list[Loop], flow: dict[int, Floats]) -> None:
        """Pass a block's threads on to the blocks after it; a loop's, all to its exits, once."""
        if loop := self._by_header.get(block):
            outer = [other for other in inside if other is not loop and loop.blocks < other.blocks]
            exits = {target for member in loop.exits for target in self.following[member] if target not in loop.blocks}
            exits = {target for target in exits if all(target in other.blocks for other in outer)} or exits
            for target in exits:
                flow[target] = flow[target] + flow[block] / len(exits)
        kept = [
            (target, share)
            for target, share in zip(self.following[block], self._shares(block), strict=True)
            if all(target in loop.blocks for loop in inside)
            and (target not in self._by_header or block not in self._by_header[target].blocks)
        ]
        # within a loop, the share that would leave it stays
        total = sum((share for _, share in kept), start=np.zeros(len(self.unknown)))
        for target, share in kept:
            even = np.full(len(total), 1 / len(kept))
            flow[target] = flow[target] + flow[block] * np.divide(share, total, out=even, where=total > 0)

    def _shares(self, block: int) -> list[Floats]:
        """Fraction of a block's threads that continue in each successor."""
        targets = self.following[block]
        if len(targets) != 2:
            return [np.full(len(self.unknown), 1 / len(targets)) for _ in targets]
        condition = self.blocks[block][-1].operands[0]
        ends = [not self.following[target] and len(self.blocks[target]) == 1 for target in targets]
        likely = branch_probability(self.module, condition)
        if ends[0] != ends[1]:
            likely = 1 - _STAYS if ends[0] else _STAYS
        value = self.values.get(condition, self.unknown)
        first = np.where(np.isnan(value), likely, (value != 0).astype(float))
        return [first, 1 - first]

    def _value(self, node: int, immediate: float) -> Floats:
        return np.full(len(self.unknown), immediate) if node < 0 else self.values.get(node, self.unknown)

    def _evaluate(self, inst: Instruction) -> None:
        if inst.result < 0 or inst.result in self.values:
            return
        if inst.opcode == "phi":
            incoming = self.argument_values(inst)
            same = all(np.array_equal(incoming[0], other) for other in incoming[1:])
            self.values[inst.result] = incoming[0] if same else self.unknown
        elif inst.register:
            self.values[inst.result] = self.threads.values.get(inst.register, self.unknown)
        elif inst.opcode not in ("load", "getelementptr", "alloca", "fcmp"):
            name, operands = _name(inst), self.argument_values(inst)
            nums = (num for num, table in _OPERATIONS.items() if name in table and len(operands) >= num)
            num = next(nums, 0)
            self.values[inst.result] = _OPERATIONS[num][name](*operands[:num]) if num else self.unknown
            if inst.opcode == "icmp":
                # an argument follows from the thread index that it is compared with
                for node, other in zip(inst.operands, operands[::-1], strict=False):
                    argument = self._argument_behind(node)
                    if argument >= 0 and np.isfinite(other).all() and np.ptp(other) > 0:
                        self.inferred[argument] = max(self.inferred.get(argument, 0.0), float(other.max()) + 1)

    def _uncast(self, node: int) -> int:
        """A value without casts of its width."""
        while (inst := definition(self.module, node)) and inst.opcode in _CASTS:
            node = inst.operands[0]
        return node

    def _argument_behind(self, node: int) -> int:
        """Unknown argument that a value equals except for its width, or -1."""
        node = self._uncast(node)
        return node if node in self.arguments and node not in self.values else -1

    def _enter(self, loop: Loop) -> None:
        """Find the trip count of a loop, and its counters' values in the sampled iteration of each thread."""
        for inst in (inst for block in loop.exits for inst in self.blocks[block]):
            # a bound or step may be computed in each iteration from values that do not change
            if inst.opcode != "phi" and all(node < 0 or node in self.values for node in inst.arguments):
                self._evaluate(inst)
        counters, weight = self._counters(loop), self.threads.weight
        counts = [self._trips_at(loop, block, counters) for block in loop.exits]
        if not counts or not np.isfinite(counts).all():
            self.open_loops.add(loop.header)
        trips, average = np.full(len(self.unknown), self._default), None
        least = np.fmin.reduce([self.unknown, *counts])
        if (is_known := np.isfinite(least)).any():
            mean = float(np.where(is_known, least, 0) @ weight)
            trips = np.clip(np.where(is_known, least, max(mean, 1.0)), 0, _MAX_TRIPS)
            average = float(trips @ weight)
        self.trips[loop.header] = trips
        lines = ((inst.statement, int(self.module.source_line[inst.statement])) for inst in self.blocks[loop.header])
        statement, line = next(((index, line) for index, line in lines if line > 0), (-1, 0))
        depth, name = len(self.inside[loop.header]), self.module.function_names[self.function]
        missing = () if average is not None else self._missing(loop, {*counters})
        self.loops.append(LoopTripCount(line, average, depth, name, statement, missing=missing))
        at = self.trip_of(loop)
        for node, (start, step, factor) in counters.items():
            value = np.floor(start * factor**at) if factor != 1 else start + step * at
            self.values[node] = np.where(np.isfinite(value), value, np.nan)

    def _missing(self, loop: Loop, seen: set[int]) -> tuple[str, ...]:
        """Names of the unknown arguments that alone decide a trip count; none if it also depends on data."""
        waiting = [self.blocks[block][-1].operands[0] for block in loop.exits if len(self.following[block]) == 2]
        found = set()
        while waiting:
            node = waiting.pop()
            if node < 0 or node in seen or np.isfinite(self.values.get(node, self.unknown)).all():
                continue
            seen.add(node)
            inst = definition(self.module, node)
            if node in self.arguments:
                found.add(node)
            elif inst and any(_name(inst) in table for table in _OPERATIONS.values()):
                waiting += inst.arguments
            else:
                return ()
        names = argument_names(self.module, self.function)
        return tuple(names[node] for node in self.arguments if node in found)

    def trip_of(self, loop: Loop) -> Floats:
        """The iteration of a loop that each thread is sampled in, (n,): evenly spread, also in nested loops."""
        places = (self.threads.number * _SPREADS[min(len(self.inside[loop.header]), len(_SPREADS)) - 1]) % 1.0
        return np.floor(places * self.trips[loop.header])

    def _counters(self, loop: Loop) -> dict[int, _Counter]:
        """Phis of a loop that the same kind of step changes in each iteration."""
        counters: dict[int, _Counter] = {}
        for phi in takewhile(lambda inst: inst.opcode == "phi", self.blocks[loop.header]):
            labels = self.module.node_definition[phi.operands[1::2]].tolist()
            back = [node for (node, _), label in zip(phi.inputs, labels, strict=True) if label in loop.blocks]
            entry = [pair for pair, label in zip(phi.inputs, labels, strict=True) if label not in loop.blocks]
            inst = definition(self.module, back[0]) if len(back) == 1 and entry else None
            if not inst or inst.opcode not in _STEPS or phi.result not in inst.operands:
                continue
            start, other = self._value(*entry[0]), self.argument_values(inst)[inst.operands[0] == phi.result]
            amount = float(other[0])
            if inst.opcode in ("add", "sub"):
                counters[phi.result] = _Counter(start, other if inst.opcode == "add" else -other, 1.0)
            elif math.isfinite(amount) and amount > 0:
                factor = 2.0**amount if inst.opcode in ("shl", "lshr", "ashr") else amount
                growth = factor if inst.opcode in ("shl", "mul") else 1 / factor
                if factor > 1:
                    counters[phi.result] = _Counter(start, np.zeros(len(other)), growth)
        return counters

    def _trips_at(self, loop: Loop, block: int, counters: dict[int, _Counter]) -> Floats:
        """Trips by the condition at the end of a block that leads out of the loop, (n,) float64; NaN if not known."""
        terminator, targets = self.blocks[block][-1], self.following[block]
        compare = definition(self.module, terminator.operands[0]) if len(targets) == 2 else None
        if not compare or compare.opcode != "icmp":
            return self.unknown
        for position in (0, 1):
            counter, is_advanced = self._counter_behind(compare.operands[position], counters)
            if counter < 0:
                continue
            limit = compare.inputs[1 - position]
            start, step, factor = counters[counter]
            if np.ptp(start) > 0 and (factor != 1 or not (np.abs(step) == 1).all()):
                self._strided.add(self._argument_behind(limit[0]))
            late = 0 if is_advanced or (block == loop.header and len(loop.blocks) > 1) else 1
            stays = targets[0] in loop.blocks
            trips = _trip_count_until(counters[counter], self._value(*limit), compare.predicate, stays) + late
            return np.maximum(trips, 1 if is_advanced or late else 0)
        return self.unknown

    def _counter_behind(self, node: int, counters: dict[int, _Counter]) -> tuple[int, bool]:
        """Counter that a value equals except for its width, and whether it is one step ahead; -1 for other values."""
        node = self._uncast(node)
        if node in counters:
            return node, False
        inst = definition(self.module, node)
        stepped = inst.operands if inst and inst.opcode in _STEPS else []
        return next(((operand, True) for operand in stepped if operand in counters), (-1, False))

    def signs(self) -> list[NDArray[np.int8]]:
        """Sign of the difference of each comparison's operands, (n,) int8; 2 if unknown."""
        signs = []
        for block in self.times:
            for inst in self.blocks[block]:
                if inst.opcode == "icmp" and inst.result >= 0:
                    left, right, *_ = self.argument_values(inst)
                    sign = np.sign(left - right)
                    signs.append(np.where(np.isfinite(sign), sign, 2).astype(np.int8))
        return signs

    @cached_property
    def guaranteed_runs(self) -> dict[int, Floats]:
        """Block → certain runs by each thread, (n,) float64; blocks are missing if their number is unknown."""
        runs = {}
        for block, times in self.times.items():
            inside = self.inside[block]
            trips = np.prod([self.trips[loop.header] for loop in inside], axis=0) if inside else np.ones(len(times))
            fraction = np.divide(times, trips, out=np.zeros_like(times), where=trips > 0)
            if self.open_loops.isdisjoint(loop.header for loop in inside) and np.isin(fraction, (0.0, 1.0)).all():
                runs[block] = times
        return runs

    @cached_property
    def offsets(self) -> dict[int, tuple[int, Floats]]:
        """Pointer's node → index of the argument that it starts from, and bytes from there, (n,) float64."""
        offsets = {node: (index, np.zeros(len(self.unknown))) for index, node in enumerate(self.arguments)}
        for block in self.times:
            for inst in self.blocks[block]:
                if inst.opcode == "getelementptr" and inst.result >= 0 and inst.operands[0] in offsets:
                    origin, start = offsets[inst.operands[0]]
                    indices = self.argument_values(inst)[1:]
                    moved = [index * size for index, size in zip(indices, inst.index_sizes, strict=True)]
                    offsets[inst.result] = origin, sum(moved, start=start)
        return offsets


def _name(inst: Instruction) -> str:
    """The name of a statement in `_OPERATIONS`; of a call of a function that has a body, empty."""
    builtin = inst.builtin if inst.called_function < 0 else ""
    return {"call": builtin, "icmp": inst.predicate}.get(inst.opcode, inst.opcode)


def _trip_count_until(counter: _Counter, bound: Floats, predicate: str, stays: bool) -> Floats:
    """Times that a counter goes from its start until a comparison with a bound ends the loop, (n,) float64."""
    start, step, factor = counter
    with np.errstate(all="ignore"):
        if factor != 1:
            low, high = (bound, start) if factor < 1 else (start, bound)
            ratio = np.maximum(high, 1) / np.maximum(low, 1 if factor > 1 else 0.5)
            trips = np.ceil(np.log(ratio) / abs(math.log(factor)) - 1e-9)
            return np.where(np.isfinite(start) & np.isfinite(bound), trips, np.nan)
        way = (bound - start) / step
        inclusive = predicate in ("sle", "ule", "sge", "uge")
        exact = np.floor(way) + 1 if inclusive == stays and predicate not in ("eq", "ne") else np.ceil(way)
        return np.where(np.isfinite(way), np.maximum(exact, 0), np.nan)


def infer_arguments(module: Module, kernel: int, launch: Launch) -> dict[int, float]:
    """Node → value of each missing argument, inferred from the kernel's comparisons with it."""
    threads, given = Threads.of_launch(launch), given_arguments(module, kernel, launch)
    known = dict(given)
    for _ in range(2):
        inferred = Execution(module, kernel, threads, known, 1.0).inferred
        if inferred.keys() <= known.keys():
            break
        known = inferred | known
    return {node: value for node, value in known.items() if node not in given}
