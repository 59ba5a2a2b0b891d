"""The contextual flow graph from the paper's rules, one statement at a time: what the fast builder is compared with.

Reference: Ben-Nun et al. 2018, section 3.1; the docstring of `ncc.build_xfg` says what holds where the paper is silent.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from ncc import XFG, Module
from tests.rooms import OPCODES, EdgeKind, NodeKind

CALLS = {"call", "invoke", "callbr"}
LEAVING = {"ret", "resume", "unreachable", "cleanupret", "catchswitch"}
TERMINATORS = LEAVING | {"br", "switch", "indirectbr", "catchret", "invoke", "callbr"}


class Edge(NamedTuple):
    """An edge: numbers of its nodes as `XFG` defines them, of its statement, and its kind."""

    source: int
    target: int
    statement: int
    kind: EdgeKind


@dataclass
class Statement:
    """A statement with what the rules ask about it.

    Attributes:
        number: Its place in the module.
        opcode: As LLVM spells it.
        operands: Nodes in order, labels among them; None for an immediate.
        labels: The operands that are labels.
        values: The operands that are neither labels nor immediates.
        block, function: Where it stands.
        label: The node of its block.
        callee: The function that it calls, if the module defines that.
        sink: The node in which its flow ends: its result, or an effect node of its own.
    """

    number: int
    opcode: str
    operands: list[int | None]
    labels: list[int]
    values: list[int]
    block: int
    function: int
    label: int
    callee: int | None
    sink: int | None


def xfg_edges(graph: XFG) -> Counter[Edge]:
    """The edges of a graph that was built, each as often as it is there."""
    columns = (graph.source.tolist(), graph.target.tolist(), graph.statement.tolist(), graph.kind.tolist())
    return Counter(
        Edge(source, target, statement, EdgeKind(kind))
        for source, target, statement, kind in zip(*columns, strict=True)
    )


def named_edges(graph: XFG) -> Counter[tuple[str, str, int, str]]:
    """Edges with nodes and kind by name: two readings of one program have the same."""
    label, named = graph.node_label, Counter[tuple[str, str, int, str]]()
    for (source, target, statement, kind), times in xfg_edges(graph).items():
        named[label(source), label(target), statement, kind.name.lower()] += times
    return named


def slow_xfg_edges(module: Module) -> Counter[Edge]:
    """The edges that the graph of a module should have."""
    slow = SlowXFG(module)
    for statement in slow.statements:
        slow.add_flow(statement)
    leaves = slow.leaves()
    for statement in slow.statements:
        if statement.opcode in TERMINATORS:
            slow.add_ends(statement, leaves[statement.block])
    return Counter(slow.edges)


class SlowXFG:
    """A graph under construction."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.root = module.num_nodes
        self.exit = self.root + module.num_functions
        self.edges: list[Edge] = []
        self.outside: set[Edge] = set()  # edges that end in the callee, not in the block of the call
        self.statements: list[Statement] = []
        effect = self.exit + module.num_functions
        for number in range(module.num_statements):
            statement = self._read(number)
            if statement.sink is None and _has_effect(statement.opcode):
                statement.sink = effect
                effect += 1
            self.statements.append(statement)
        self.defines = {one.function: one for one in self.statements if one.opcode == "define"}
        self.home = self._homes()

    def _read(self, number: int) -> Statement:
        module = self.module
        places = slice(*module.operand_start[number : number + 2])
        operands = [node if node >= 0 else None for node in module.operand[places].tolist()]
        nodes = [node for node in operands if node is not None]
        labels = [node for node in nodes if module.node_kind[node] == NodeKind.BLOCK]
        callee, result, block = (int(column[number]) for column in (module.callee, module.result, module.basic_block))
        callee_function = int(module.function_of_node[callee]) if callee >= 0 else -1
        return Statement(
            number=number,
            opcode=OPCODES[module.opcode[number]],
            operands=operands,
            labels=labels,
            values=[node for node in nodes if node not in labels],
            block=block,
            function=int(module.statement_function[number]),
            label=int(module.basic_block_label[block]),
            callee=callee_function if callee_function >= 0 else None,
            sink=result if result >= 0 else None,
        )

    def _homes(self) -> dict[int, int]:
        """The block of each node that a block defines."""
        home = {int(node): block for block, node in enumerate(self.module.basic_block_label)}
        for statement in self.statements:
            if statement.sink is not None:
                home[statement.sink] = statement.block
            if statement.opcode == "define":
                home.update(dict.fromkeys(statement.values, statement.block))
        return home

    def add_flow(self, statement: Statement) -> None:
        """Adds what flows inside the block of a statement, and into the functions that it calls."""
        if statement.opcode == "define":
            self._add(self.root + statement.function, statement.label, statement, EdgeKind.PATH)
            for argument in statement.values:
                self._add(statement.label, argument, statement, EdgeKind.PATH)
        elif statement.opcode == "store":
            value, pointer = statement.operands[:2]
            self._add_value(value, statement.label if pointer is None else pointer, statement)
        elif statement.sink is not None:
            anchored = any(self.home.get(node) == statement.block for node in statement.values)
            if statement.opcode == "phi" or not anchored:
                self._add(statement.label, statement.sink, statement, EdgeKind.PATH)
            if statement.callee is not None:
                self._add_call(statement, statement.callee, statement.sink)
                return
            for node in self._sources(statement):
                self._add(node, statement.sink, statement, EdgeKind.DATA)

    def _sources(self, statement: Statement) -> list[int]:
        """The operands of a statement that data flows from: not the name of a function that is called."""
        first, *_ = [*statement.operands, None]
        if statement.opcode in CALLS and first is not None and self.module.node_kind[first] <= NodeKind.FUNCTION:
            return statement.values[1:]
        return statement.values

    def _add_call(self, call: Statement, callee: int, sink: int) -> None:
        self._add(self.exit + callee, sink, call, EdgeKind.DATA)
        passed = 0
        for actual, formal in zip(call.operands[1:], self.defines[callee].values, strict=False):
            if actual not in call.labels:
                self.outside.add(self._add_value(actual, formal, call))
                passed += 1
        if not passed:
            self.outside.add(self._add(call.label, self.root + callee, call, EdgeKind.PATH))

    def _add_value(self, value: int | None, target: int, statement: Statement) -> Edge:
        """From a value to where it goes, or from the label of its block if it is an immediate."""
        if value is None:
            return self._add(statement.label, target, statement, EdgeKind.PATH)
        return self._add(value, target, statement, EdgeKind.DATA)

    def leaves(self) -> dict[int, list[int]]:
        """The nodes that each block reaches and leads on from nowhere; its label if there are none."""
        reached, leading = defaultdict(set), defaultdict(set)
        for node, block in self.home.items():
            reached[block].add(node)
        for edge in self.edges:
            block = self.statements[edge.statement].block
            leading[block].add(edge.source)
            if edge not in self.outside:
                reached[block].add(edge.target)
        labels = self.module.basic_block_label.tolist()
        return {block: sorted(reached[block] - leading[block]) or [label] for block, label in enumerate(labels)}

    def add_ends(self, end: Statement, leaves: list[int]) -> None:
        """Adds where control flows from the end of a block: to labels, or out of the function."""
        if end.opcode in CALLS and end.sink is not None:
            sources = [end.sink]
        elif end.opcode == "br" and len(end.operands) > 1:
            sources = end.values or [end.label]
        else:
            sources = end.values + [leaf for leaf in leaves if leaf not in end.values]
        targets = end.labels
        if not targets and end.opcode in LEAVING:
            targets = [self.exit + end.function]
        for source in sources:
            for target in targets:
                self._add(source, target, end, EdgeKind.CONTROL)

    def _add(self, source: int, target: int, statement: Statement, kind: EdgeKind) -> Edge:
        self.edges.append(edge := Edge(source, target, statement.number, kind))
        return edge


def _has_effect(opcode: str) -> bool:
    """Whether a statement without a result has an effect node."""
    return opcode in CALLS or opcode not in TERMINATORS | {"store", "define"}
