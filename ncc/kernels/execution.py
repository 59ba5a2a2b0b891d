"""How often each block of a function runs at a launch: by branches whose conditions are known, and trips of loops."""

import math
from collections import defaultdict

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.module import Module, NodeKind
from ncc.kernels.arguments import argument_names, given_arguments
from ncc.kernels.branches import likely_share
from ncc.kernels.control_flow import Loop, find_loops, successors
from ncc.kernels.launch import Launch, LoopTrips, Threads, launch_threads
from ncc.kernels.registers import register_of
from ncc.kernels.values import formula_of, operand_tokens, predicate_of, token_value, trips_until, value_of

_STAYS = 0.99
"""Share of threads that an unknown condition does not send out of the kernel."""
_MOST_TRIPS = 2.0**40
_SPREADS = (0.6180339887, 0.4142135623, 0.7320508075, 0.2360679774)
"""Multiples of these spread evenly between whole numbers, each beside the others."""
_CASTS = frozenset(("zext", "sext", "trunc", "freeze"))


class FunctionRuns:
    """One function at a launch.

    Args:
        module: The module.
        function: Number of the function.
        threads: The threads that stand for all.
        arguments: Node of an argument → value in each thread, where it is known.
        default_trips: Trips of a loop that are not known.

    Attributes:
        runs: Block → how often it runs for a thread, on average.
        loops: Its loops, outer ones first.
        guessed: Argument's node → the value that a comparison hints at.
    """

    def __init__(
        self, module: Module, function: int, threads: Threads, arguments: dict[int, Floats], default_trips: float
    ) -> None:
        self.module, self.function, self.threads, self.default = module, function, threads, default_trips
        self.names = argument_names(module, function)
        self.values: dict[int, Floats] = dict(arguments)
        self.unknown = np.full(len(threads.weight), np.nan)
        self.guessed: dict[int, float] = {}
        self._strided: set[int] = set()
        self.following = successors(module, function)
        self.nest = find_loops(module, function)
        self.by_header = {loop.header: loop for loop in self.nest}
        self.trips: dict[int, Floats] = {}
        self.loops: list[LoopTrips] = []
        self.runs: dict[int, float] = {}
        self._statements: defaultdict[int, list[int]] = defaultdict(list)
        for statement in module.body(function):
            self._statements[int(module.block[statement])].append(statement)
        self._solve()

    def argument_values(self, statement: int) -> list[Floats]:
        """Values that a call passes."""
        return self._operands(statement)

    def _solve(self) -> None:
        flow: dict[int, Floats] = defaultdict(lambda: np.zeros(len(self.unknown)))
        first = int(self.module.function_block[self.function])
        flow[first] = np.ones(len(self.unknown))
        for block in self._order(first):
            if block in self.by_header:
                self._enter(self.by_header[block])
            inside = [loop for loop in self.nest if block in loop.blocks]
            times = math.prod(
                (self.trips[loop.header] for loop in inside if loop.header in self.trips), start=flow[block]
            )
            self._ran(block, np.minimum(times, _MOST_TRIPS))
            for statement in self._statements[block]:
                self._evaluate(statement)
            self._leave(block, inside, flow)
        self.guessed = {node: value for node, value in self.guessed.items() if node not in self._strided}

    def _ran(self, block: int, times: Floats) -> None:
        """Keeps how often a block runs, by thread."""
        self.runs[block] = float(times @ self.threads.weight)

    def _order(self, first: int) -> list[int]:
        """Blocks, each after those before it but for ways back."""
        found, seen, stack = list[int](), {first}, [(first, iter(self.following[first]))]
        while stack:
            block, following = stack[-1]
            target = next((other for other in following if other not in seen), None)
            if target is None:
                found.append(block)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(self.following[target])))
        return found[::-1]

    def _leave(self, block: int, inside: list[Loop], flow: dict[int, Floats]) -> None:
        """Passes a block's threads on to the blocks after it; a loop's, all to where it is left, once."""
        if block in self.by_header:
            loop = self.by_header[block]
            outer = [other for other in inside if other is not loop and loop.blocks < other.blocks]
            exits = {target for one in loop.blocks for target in self.following[one] if target not in loop.blocks}
            exits = {target for target in exits if all(target in other.blocks for other in outer)} or exits
            for target in exits:
                flow[target] = flow[target] + flow[block] / len(exits)
        targets = self.following[block]
        kept = [
            target
            for target in targets
            if all(target in loop.blocks for loop in inside)
            and (target not in self.by_header or block not in self.by_header[target].blocks)
        ]
        if not kept:
            return
        shares = self._shares(block, targets)
        total = sum(shares[targets.index(target)] for target in kept)
        for target in kept:
            share = shares[targets.index(target)]
            # within a loop, the share that would leave it stays
            flow[target] = flow[target] + flow[block] * np.where(
                total > 0, share / np.where(total > 0, total, 1), 1 / len(kept)
            )

    def _shares(self, block: int, targets: list[int]) -> list[Floats]:
        """Share of a block's threads that goes to each target."""
        if len(targets) == 1:
            return [np.ones(len(self.unknown))]
        condition = self.module.operands(self._statements[block][-1])[0]
        if len(targets) != 2:
            return [np.full(len(self.unknown), 1 / len(targets)) for _ in targets]
        ends = [self._ends(target) for target in targets]
        likely = likely_share(self.module, condition) if ends[0] == ends[1] else (1 - _STAYS if ends[0] else _STAYS)
        value = self.values.get(condition, self.unknown)
        first = np.where(np.isnan(value), likely, (value != 0).astype(float))
        return [first, 1 - first]

    def _ends(self, block: int) -> bool:
        return not self.following[block] and len(self._statements[block]) == 1

    def _operand(self, node: int, token: str) -> Floats:
        if node < 0:
            return np.full(len(self.unknown), token_value(token))
        return self.values.get(node, self.unknown)

    def _operands(self, statement: int) -> list[Floats]:
        nodes, tokens = self.module.operands(statement), operand_tokens(self.module, statement)
        opcode = self.module.opcode_name(statement)
        nodes = nodes[1:] if opcode == "call" else nodes[::2] if opcode == "phi" else nodes
        if len(nodes) != len(tokens):
            return [self.values.get(node, self.unknown) for node in nodes]
        return [self._operand(node, token) for node, token in zip(nodes, tokens, strict=True)]

    def _evaluate(self, statement: int) -> None:
        module, node = self.module, int(self.module.result[statement])
        if node < 0 or node in self.values:
            return
        opcode = module.opcode_name(statement)
        if opcode == "phi":
            found = self._operands(statement)
            same = all(np.array_equal(found[0], other) for other in found[1:])
            self.values[node] = found[0] if same else self.unknown
            return
        if register := register_of(module, statement):
            self.values[node] = self._register(register)
        elif opcode in ("load", "getelementptr", "alloca", "fcmp"):
            return
        else:
            operands = self._operands(statement)
            if operands:
                self.values[node] = value_of(module, statement, operands)
            if opcode == "icmp":
                self._compare(statement, operands)

    def _register(self, name: str) -> Floats:
        values, (kind, _, axis) = self.threads.values, name.partition(".")
        if kind == "global_id":
            return values[f"ctaid.{axis}"] * values[f"ntid.{axis}"] + values[f"tid.{axis}"]
        if kind == "global_size":
            return values[f"nctaid.{axis}"] * values[f"ntid.{axis}"]
        return values.get(name, self.unknown)

    def _compare(self, statement: int, operands: list[Floats]) -> None:
        """Guesses an argument by the thread's number that it is compared with."""
        for node, other in zip(self.module.operands(statement), operands[::-1], strict=False):
            argument = self._argument_behind(node)
            if argument >= 0 and np.isfinite(other).all() and np.ptp(other) > 0:
                self.guessed[argument] = max(self.guessed.get(argument, 0.0), float(other.max()) + 1)

    def _argument_behind(self, node: int) -> int:
        """The argument, not known, that a value is but for its width, or -1."""
        while node >= 0 and self.module.node_kind[node] == NodeKind.RESULT:
            statement = int(self.module.node_definition[node])
            if self.module.opcode_name(statement) not in _CASTS:
                return -1
            node = self.module.operands(statement)[0]
        return node if node in self.names and node not in self.values else -1

    def _enter(self, loop: Loop) -> None:
        """Finds how often a loop runs, and what its counters are in a trip of it, another one for each thread."""
        counters = self._counters(loop)
        found = [exit_ for block in loop.blocks for exit_ in self._exits(loop, block, counters)]
        known = [trips for trips, _ in found if trips is not None and np.isfinite(trips).any()]
        trips = None
        if known:
            trips = np.minimum.reduce([np.where(np.isfinite(one), one, np.inf) for one in known])
            mean = float(np.where(np.isfinite(trips), trips, 0) @ self.threads.weight)
            trips = np.clip(np.where(np.isfinite(trips), trips, max(mean, 1.0)), 0, _MOST_TRIPS)
        formulas = [formula for _, formula in found if formula]
        average = None if trips is None else float(trips @ self.threads.weight)
        depth = sum(loop.header in other.blocks for other in self.nest)
        at_line = next((one for one in self._statements[loop.header] if self.module.source_line[one] > 0), -1)
        line = int(self.module.source_line[at_line]) if at_line >= 0 else 0
        name = self.module.function_names[self.function]
        self.loops.append(LoopTrips(line, formulas[0] if formulas else "", average, depth, name, at_line))
        self.trips[loop.header] = np.full(len(self.unknown), self.default) if trips is None else trips
        at = np.floor(self._places(depth) * self.trips[loop.header])
        for node, (start, step, factor) in counters.items():
            value = np.floor(start * factor**at) if factor != 1 else start + step * at
            self.values[node] = np.where(np.isfinite(value), value, np.nan)

    def _places(self, depth: int) -> Floats:
        """How far each thread is taken to be in a loop, from 0 to 1: evenly spread, and so in loops within loops."""
        return (self.threads.number * _SPREADS[min(depth, len(_SPREADS)) - 1]) % 1.0

    def _counters(self, loop: Loop) -> dict[int, tuple[Floats, Floats, float]]:
        """Counter's node → its first value, what is added to it, and what it is multiplied by, each time."""
        module, found = self.module, dict[int, tuple[Floats, Floats, float]]()
        for statement in self._statements[loop.header]:
            if module.opcode_name(statement) != "phi":
                break
            node, operands, tokens = (
                int(module.result[statement]),
                module.operands(statement),
                operand_tokens(module, statement),
            )
            pairs = list(zip(operands[::2], operands[1::2], tokens, strict=False))
            back = [value for value, label, _ in pairs if int(module.node_definition[label]) in loop.blocks]
            entry = [
                (value, token) for value, label, token in pairs if int(module.node_definition[label]) not in loop.blocks
            ]
            if len(back) != 1 or not entry or back[0] < 0 or module.node_kind[back[0]] != NodeKind.RESULT:
                continue
            step = self._step(int(module.node_definition[back[0]]), node)
            if step is not None:
                found[node] = (self._operand(*entry[0]), *step)
        return found

    def _step(self, statement: int, counter: int) -> tuple[Floats, float] | None:
        """What is added to a counter and what it is multiplied by; None where it is not a counter."""
        module = self.module
        opcode, operands = module.opcode_name(statement), module.operands(statement)
        if opcode not in ("add", "sub", "shl", "lshr", "ashr", "udiv", "sdiv", "mul") or counter not in operands:
            return None
        other = self._operands(statement)[1 if operands[0] == counter else 0]
        nothing = np.zeros(len(self.unknown))
        if opcode in ("add", "sub"):
            return (other if opcode == "add" else -other), 1.0
        amount = float(other[0])
        if not math.isfinite(amount) or amount <= 0:
            return None
        factor = 2.0**amount if opcode in ("shl", "lshr", "ashr") else amount
        return (nothing, factor if opcode in ("shl", "mul") else 1 / factor) if factor > 1 else None

    def _exits(
        self, loop: Loop, block: int, counters: dict[int, tuple[Floats, Floats, float]]
    ) -> list[tuple[Floats | None, str]]:
        """Trips, and their formula, by the condition at the end of a block, if that leads out of the loop."""
        module, targets = self.module, self.following[block]
        if len(targets) != 2 or all(target in loop.blocks for target in targets):
            return []
        condition = module.operands(self._statements[block][-1])[0]
        if condition < 0 or module.node_kind[condition] != NodeKind.RESULT:
            return []
        compare = int(module.node_definition[condition])
        if module.opcode_name(compare) != "icmp":
            return []
        operands, tokens, stays = module.operands(compare), operand_tokens(module, compare), targets[0] in loop.blocks
        for at in (0, 1):
            counter, advanced = self._counter_behind(operands[at], counters)
            if counter < 0:
                continue
            start, step, factor = counters[counter]
            if np.ptp(start) > 0 and (factor != 1 or not (np.abs(step) == 1).all()):
                self._strided.add(self._argument_behind(operands[1 - at]))
            bound = self._operand(operands[1 - at], tokens[1 - at])
            late = 0 if advanced or (block == loop.header and len(loop.blocks) > 1) else 1
            trips = trips_until(start, step, factor, bound, predicate_of(module, compare), stays) + late
            limit = formula_of(module, operands[1 - at], tokens[1 - at], self.names)
            return [(np.maximum(trips, 1 if advanced or late else 0), self._formula(counter, limit, factor))]
        return []

    def _counter_behind(self, node: int, counters: dict[int, tuple[Floats, Floats, float]]) -> tuple[int, bool]:
        """The counter that a value is, but for its width, or that it is one step on; -1 if it is none."""
        advanced = False
        for _ in range(4):
            if node in counters:
                return node, advanced
            if node < 0 or self.module.node_kind[node] != NodeKind.RESULT:
                break
            statement = int(self.module.node_definition[node])
            opcode = self.module.opcode_name(statement)
            operands = self.module.operands(statement)
            if opcode not in _CASTS:
                if advanced or opcode not in ("add", "sub", "shl", "lshr", "ashr", "udiv", "sdiv", "mul"):
                    break
                advanced = True
                node = next((one for one in operands if one in counters), -1)
            else:
                node = operands[0]
        return -1, False

    def _formula(self, counter: int, limit: str, factor: float) -> str:
        """Trips of a loop in words: what is left to go, by the step."""
        module = self.module
        statement = int(module.node_definition[counter])
        operands, tokens = module.operands(statement), operand_tokens(module, statement)
        starts = [
            formula_of(module, node, token, self.names) for node, token in zip(operands[::2], tokens, strict=False)
        ]
        start = next((one for one in starts if one), "")
        if not limit or not start:
            return ""
        if factor != 1:
            return f"log{factor if factor > 1 else 1 / factor:g}({start if factor < 1 else limit})"
        backs = (
            module.node_definition[node]
            for node in operands[::2]
            if node >= 0 and module.node_kind[node] == NodeKind.RESULT
        )
        by = ""
        for back in backs:
            parts = module.operands(int(back))
            if counter in parts:
                at = 1 - parts.index(counter)
                by = formula_of(module, parts[at], operand_tokens(module, int(back))[at], self.names)
        span = limit if start == "0" else start if limit == "0" else f"({limit} - {start})"
        return span if by in ("1", "-1") else f"{span} / {by.removeprefix('-')}" if by else ""


def guess_arguments(module: Module, kernel: int, launch: Launch) -> dict[int, float]:
    """Arguments that are not given, by what the kernel compares with them."""
    threads = launch_threads(launch)
    known: dict[int, float] = given_arguments(module, kernel, launch)
    num = len(threads.weight)
    for _ in range(2):
        arguments = {node: np.full(num, float(value)) for node, value in known.items()}
        guessed = FunctionRuns(module, kernel, threads, arguments, 1.0).guessed
        new = {node: value for node, value in guessed.items() if node not in known}
        if not new:
            break
        known |= new
    return {node: value for node, value in known.items() if node not in given_arguments(module, kernel, launch)}
