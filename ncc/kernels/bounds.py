"""The least that a launch does: bytes that it can't help touching, operations, and the longest chain of one thread.

Only what is certain counts: statements that no condition keeps a thread from whose outcome is not known, in loops that
end where their counters say. An address that is linear in the thread's number and in the trips of loops is another one
for each of them, but for those numbers that it does not depend on, or that only shift it onto others.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.module import Module
from ncc.kernels.addresses import callee_name
from ncc.kernels.arguments import given_arguments
from ncc.kernels.builtins import builtin_name, work_of_call
from ncc.kernels.control_flow import Loop
from ncc.kernels.costs import flops_of
from ncc.kernels.cpu_cost import longest_chain
from ncc.kernels.execution import FunctionRuns
from ncc.kernels.launch import Launch, Threads, with_scattered
from ncc.kernels.memory import PointerSpaces, accesses_of, argument_spaces
from ncc.kernels.strides import index_sizes
from ncc.kernels.values import operand_tokens

_FITTED = 256
_UNROLLED = 64
"""Trips up to which a loop in another may be unrolled whole, and its chains run beside each other."""
_FLOATS = ("fadd", "fsub", "fmul")
_LATENCY = {
    **dict.fromkeys(_FLOATS, 4.0),
    **dict.fromkeys(("fdiv", "frem", "special"), 12.0),
    **dict.fromkeys(("load", "atomicrmw", "cmpxchg", "udiv", "sdiv", "urem", "srem"), 20.0),
    **{"mul": 4.0, "fused": 4.0},
}
"""Cycles until a result is there, at least, on cards since Volta; additions of whole numbers may be folded: none.

Reference: Jia et al., "Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", 2018, tables 4.1 and 4.2.
"""


@dataclass(frozen=True, eq=False)
class LeastWork:
    """What a launch does at the least.

    Attributes:
        load_bytes: Number of an argument → bytes of its memory that are read, each once.
        store_bytes: The same for those that are written.
        flops: Precision → additions and multiplications of all threads.
        chain_cycles: Cycles that one thread waits for results that depend on each other.
    """

    load_bytes: dict[int, float] = field(default_factory=dict)
    store_bytes: dict[int, float] = field(default_factory=dict)
    flops: dict[str, float] = field(default_factory=dict)
    chain_cycles: float = 0.0


class _Number(NamedTuple):
    """Something that an address may depend on: by how many bytes for each step, and how many there are."""

    step: float
    times: float


def least_work(module: Module, kernel: int, launch: Launch, threads: Threads) -> LeastWork:
    """What is certain of a launch's work.

    Args:
        module: The module.
        kernel: Number of the kernel.
        launch: Sizes, and the arguments that are known.
        threads: Those that stand for all.
    """
    threads = with_scattered(launch, threads, _FITTED)
    num = len(threads.weight)
    values = {node: np.full(num, float(value)) for node, value in given_arguments(module, kernel, launch).items()}
    runs = _CertainRuns(module, kernel, threads, values, 1.0)
    found: dict[str, defaultdict[int, float]] = {"load": defaultdict(float), "store": defaultdict(float)}
    flops: defaultdict[str, float] = defaultdict(float)
    spaces, strides = PointerSpaces(module, argument_spaces(module, kernel)), np.zeros(module.num_nodes + 1)
    numbers = {node: at for at, node in enumerate(module.operands(int(module.function_start[kernel])))}
    for statement in module.body(kernel):
        times = runs.certain.get(int(module.block[statement]))
        if times is None:
            continue
        opcode, operands = module.opcode_name(statement), module.operands(statement)
        all_runs = float(times @ threads.weight) * launch.num_threads
        is_fused = opcode == "call" and _is_fused(module, statement)
        if opcode in ("load", "store", "call") and not is_fused:
            operands = operands[opcode == "call" :]
            for access in accesses_of(module, statement, operands, strides, spaces):
                origin = numbers.get(runs.origin.get(access.pointer, -1), -1)
                if access.space == "global" and origin >= 0:
                    size = runs.distinct_bytes(statement, access.pointer, access.num_bytes, times, all_runs, launch)
                    found[access.what][origin] = max(found[access.what][origin], size)
        elif opcode in _FLOATS or is_fused:
            callee = callee_name(module, statement) if opcode == "call" else ""
            for precision, amount in flops_of(opcode, callee, module.statement_source(statement)).items():
                flops[precision] += amount * all_runs
    return LeastWork(dict(found["load"]), dict(found["store"]), dict(flops), runs.chain_cycles())


class _CertainRuns(FunctionRuns):
    """A function's runs, as far as they are certain.

    Attributes:
        certain: Block → (num_threads,) float64 how often it runs for each; blocks are missing of which this is unknown.
        origin: Pointer's node → the argument that it starts from.
        offset: Pointer's node → (num_threads,) float64 bytes from there.
    """

    def __init__(
        self, module: Module, function: int, threads: Threads, arguments: dict[int, Floats], default_trips: float
    ) -> None:
        self.certain: dict[int, Floats] = {}
        header = module.operands(int(module.function_start[function]))
        self.origin = {node: node for node in header}
        self.offset: dict[int, Floats] = {node: np.zeros(len(threads.weight)) for node in header}
        self._open: set[int] = set()
        super().__init__(module, function, threads, arguments, default_trips)

    def _exits(
        self, loop: Loop, block: int, counters: dict[int, tuple[Floats, Floats, float]]
    ) -> list[tuple[Floats | None, str]]:
        found = super()._exits(loop, block, counters)
        leaves = any(target not in loop.blocks for target in self.following[block])
        if leaves and not any(trips is not None and np.isfinite(trips).all() for trips, _ in found):
            self._open.add(loop.header)
        return found

    def _ran(self, block: int, times: Floats) -> None:
        inside = self._inside(block)
        trips = np.prod([self.trips[loop.header] for loop in inside], axis=0) if inside else np.ones(len(times))
        share = np.divide(times, trips, out=np.zeros_like(times), where=trips > 0)
        if all(loop.header not in self._open for loop in inside) and np.isin(share, (0.0, 1.0)).all():
            self.certain[block] = times

    def _inside(self, block: int) -> list[Loop]:
        return [loop for loop in self.nest if block in loop.blocks]

    def _evaluate(self, statement: int) -> None:
        super()._evaluate(statement)
        module, node = self.module, int(self.module.result[statement])
        if module.opcode_name(statement) != "getelementptr" or node < 0:
            return
        base, *indices = module.operands(statement)
        if base in self.offset:
            tokens, sizes = operand_tokens(module, statement)[-len(indices) :], index_sizes(module, statement)
            steps = [
                self._operand(index, token) * size for index, token, size in zip(indices, tokens, sizes, strict=True)
            ]
            self.origin[node], self.offset[node] = self.origin[base], sum(steps, start=self.offset[base])

    def distinct_bytes(
        self, statement: int, pointer: int, size: float, times: Floats, all_runs: float, launch: Launch
    ) -> float:
        """Bytes of different addresses that an access touches in the whole launch; 0 where that is not known."""
        block = int(self.module.block[statement])
        chosen = np.flatnonzero((times > 0) & np.isfinite(self.offset[pointer]))
        if not len(chosen) or len(chosen) < np.count_nonzero(times):
            return 0.0
        chosen = np.concatenate([chosen[-_FITTED:], np.random.default_rng(0).choice(chosen, _FITTED)])
        axes = [(f"{name}.{axis}", sizes["xyz".index(axis)])
                for name, sizes in (("ctaid", launch.grid), ("tid", launch.block)) for axis in "xyz"]  # fmt: skip
        columns = [(self.threads.values[name], float(count)) for name, count in axes]
        for loop in self._inside(block):
            depth = sum(loop.header in other.blocks for other in self.nest)
            trips = self.trips[loop.header]
            columns.append((np.floor(self._places(depth) * trips), float(np.ceil(trips.max()))))
        columns = [(values[chosen], count) for values, count in columns if np.ptp(values[chosen]) > 0]
        known = np.stack([np.ones(len(chosen)), *(values for values, _ in columns)], axis=1)
        found, _, rank, _ = np.linalg.lstsq(known, self.offset[pointer][chosen], rcond=None)
        steps = np.rint(found)
        if rank < known.shape[1] or not np.array_equal(known @ steps, self.offset[pointer][chosen]):
            return 0.0
        numbers = [_Number(abs(float(step)), count) for step, (_, count) in zip(steps[1:], columns, strict=True)]
        return _touched(numbers, size, all_runs)

    def chain_cycles(self) -> float:
        """Cycles of the slowest thread's longest chain."""
        longest, headers = 0.0, {loop.header for loop in self.nest}
        for loop in self.nest:
            times = self.certain.get(loop.header)
            outer = [other for other in self.nest if loop.blocks < other.blocks]
            if times is None or not times.any() or (outer and loop.trips is not None and loop.trips <= _UNROLLED):
                continue
            if outer:  # a place in the outer loop is one of many: on average over them
                inner = [one for one in (*outer, loop) if any(one.blocks < other.blocks for other in outer)]
                first = next(one for one in outer if one not in inner)
                mean = [float(self.trips[one.header][times > 0].mean()) for one in inner]
                most = float(self.trips[first.header][times > 0].max()) * float(np.prod(mean))
            else:
                most = float(times.max())
            longest = max(longest, most * self._recurrence(loop, headers))
        return longest

    def _recurrence(self, loop: Loop, headers: set[int]) -> float:
        module = self.module
        times = self.certain[loop.header]
        always = [block for block in sorted(loop.blocks) if (self.certain.get(block, self.unknown) >= times).all()]
        inside = [one for block in always for one in self._statements[block]]
        fused = {node for one in inside if module.opcode_name(one) in ("fadd", "fsub") for node in module.operands(one)}
        steps = [
            (int(module.result[one]), module.operands(one), _latency(module, one, fused))
            for one in inside
            if module.result[one] >= 0 and not (module.opcode_name(one) == "phi" and int(module.block[one]) in headers)
        ]
        phis = [one for one in self._statements[loop.header] if module.opcode_name(one) == "phi"]
        return max((longest_chain(module, steps, phi) for phi in phis), default=0.0)


def _touched(numbers: list[_Number], size: float, all_runs: float) -> float:
    """Bytes of different addresses, of so many runs, where each number moves the address by its step."""
    shared = 1.0
    kept: list[_Number] = []
    for number in sorted(numbers, key=lambda one: one.step):
        while kept and number.step < size + sum(one.step * (one.times - 1) for one in kept):
            least = min([*kept, number], key=lambda one: one.times)  # what only shifts others onto each other
            shared *= least.times
            if least is number:
                break
            kept.remove(least)
        else:
            if number.step:
                kept.append(number)
            else:
                shared *= number.times
    return all_runs / shared * min([size, *(one.step for one in kept)])


def _is_fused(module: Module, statement: int) -> bool:
    return builtin_name(callee_name(module, statement)) in ("fma", "fmuladd", "mad")


def _latency(module: Module, statement: int, fused: set[int]) -> float:
    opcode = module.opcode_name(statement)
    if opcode == "fmul" and int(module.result[statement]) in fused:
        return 0.0
    if opcode == "call":
        work = work_of_call(callee_name(module, statement), module.statement_text(statement))
        opcode = "fused" if _is_fused(module, statement) else "special" if "special" in work else ""
    return _LATENCY.get(opcode, 0.0)
