"""The contextual flow graph (XFG): identifiers as nodes, statements as edges, for a whole module at once.

Reference: Ben-Nun et al. 2018, section 3.1 and figure 4. Where the paper is silent (calls without a result, statements
without operands, ways out of a function) the docstring of `build_xfg` says what happens.
"""

import functools
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Bools, Ints, Ints32
from ncc.errors import InputError
from ncc.ir.reader.module import Module, NodeKind, opcode_number
from ncc.system.files.pages import SHOWN_ROWS, html_table
from ncc.system.files.text import source_name

if TYPE_CHECKING:
    import networkx


_DEFINE = opcode_number("define")
_STORE = opcode_number("store")
_PHI = opcode_number("phi")
_BR = opcode_number("br")
_CALLS = [opcode_number(name) for name in ("call", "invoke", "callbr")]
_MOST_EDGES, _EDGES_EACH = 1_000_000, 64
"""From ends of blocks to labels: so many at most, and more for each statement and operand."""
_EXITS = [opcode_number(name) for name in ("ret", "resume", "unreachable", "cleanupret", "catchswitch")]
_ENDS = ("ret", "br", "switch", "indirectbr", "invoke", "resume", "catchswitch", "catchret", "cleanupret")
_TERMINATORS = [opcode_number(name) for name in (*_ENDS, "unreachable", "callbr")]


class EdgeKind(IntEnum):
    """What flows along an edge: execution order inside a block, data, or control between blocks."""

    PATH = 0
    DATA = 1
    CONTROL = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class XFG:
    """A contextual flow graph as arrays, a row an edge, ordered by statement.

    Nodes 0 to ``module.num_nodes - 1`` are the module's identifiers. Behind them come, for each function f, its root
    (``root + f``) and its return node (``exit + f``), then an effect node for every statement in ``effect_statement``,
    which defines no identifier.

    Attributes:
        module: The module.
        source, target: (num_edges,) int32 nodes.
        statement: (num_edges,) int32 statement that labels the edge.
        kind: (num_edges,) uint8, see `EdgeKind`.
        root, exit, effect: first node of each of the added groups.
        effect_statement: (num_effects,) int32 statement of each effect node.
        num_nodes: Nodes in all.
    """

    module: Module
    source: Ints32
    target: Ints32
    statement: Ints32
    kind: NDArray[np.uint8]
    root: int
    exit: int
    effect: int
    effect_statement: Ints32
    num_nodes: int

    def __repr__(self) -> str:
        return f"XFG({self.module.name!r}: {self.module.num_statements} statements, {self.num_edges} edges)"

    def _repr_html_(self) -> str:
        sizes = np.diff(self.module.function_start)
        edges = np.bincount(self.module.statement_function[self.statement], minlength=len(sizes))
        rows = zip(map(source_name, self.module.function_names[:SHOWN_ROWS]), sizes, edges, strict=False)
        return html_table(repr(self), ("function", "statements", "edges"), rows)

    @property
    def num_edges(self) -> int:
        """Edges, parallel ones counted each."""
        return len(self.source)

    @functools.cached_property
    def incidence(self) -> tuple[Ints, Ints]:
        """Statements and the nodes that their edges touch, each pair once, sorted: two (num_incidences,) int64."""
        ends = np.concatenate([self.source, self.target])
        statement = np.concatenate([self.statement, self.statement])
        return np.divmod(np.unique(statement.astype(np.int64) * self.num_nodes + ends), max(self.num_nodes, 1))

    def to_networkx(self) -> "networkx.MultiDiGraph":
        """The graph for networkx; see `ncc.ir.graph.export.to_networkx`."""
        from ncc.ir.graph.export import to_networkx

        return to_networkx(self)

    def node_label(self, node: int) -> str:
        """A node's name: ``@f`` for globals, ``f/%x`` for locals, ``f/root``, ``f/return`` and ``f/effect:N``."""
        if node >= self.effect:
            name = f"effect:{self.effect_statement[node - self.effect]}"
        elif node >= self.root:
            name = "return" if node >= self.exit else "root"
        else:
            name = self.module.node_name(node)
        function = self.function_of(node)
        if function < 0:
            return f"@{name}"
        return f"{self.module.function_names[function]}/{'%' if node < self.root else ''}{name}"

    def function_of(self, node: int) -> int:
        """The number of a node's function; -1 for globals."""
        if node >= self.effect:
            return int(self.module.statement_function[self.effect_statement[node - self.effect]])
        if node >= self.root:
            return node - (self.exit if node >= self.exit else self.root)
        return int(self.module.node_function[node])


class _Edges:
    """Edges under construction, in pieces."""

    def __init__(self) -> None:
        self.pieces: list[tuple[Ints32, Ints32, Ints32, EdgeKind]] = []

    def add(self, source: Ints32, target: Ints32, statement: Ints32, kind: EdgeKind) -> None:
        if len(statement):
            self.pieces.append((source, target, statement, kind))

    def joined(self, column: int) -> Ints32:
        return np.concatenate([np.zeros(0, np.int32), *(piece[column] for piece in self.pieces)])

    @property
    def kinds(self) -> NDArray[np.uint8]:
        return np.concatenate(
            [np.zeros(0, np.uint8), *(np.full(len(statement), kind, np.uint8) for _, _, statement, kind in self.pieces)]
        )


def build_xfg(module: Module) -> XFG:
    """Builds the XFG of a module: all functions, with the calls between them.

    - A ``define`` leads from the function's root to its entry block and from there to each argument.
    - A statement that makes a value leads from each operand to the result (data), and from its block's label to the
      result (path) if no operand is defined in that block. A phi leads from the label and from each incoming value.
    - A store leads from the value to the pointer, from the label if the value is an immediate.
    - A statement that makes no value and is not a terminator leads to an effect node of its own, as it would to a
      result.
    - An unconditional branch, a switch and the like lead from every leaf of the block (a node that the block reaches
      and leads on from nowhere) to the labels (control); a conditional branch from its condition. A switch leads from
      its condition too, an invoke from what it makes. What leaves the function leads from the leaves and its operands
      to the return node. Arguments belong to the entry block: those that it does not use are among its leaves.
    - A call of a function in the module leads from each actual argument (from the label for an immediate) to the
      formal one and from the return node to the result; a call that passes nothing leads to the callee's root. Any
      other call leads from its arguments to the result.

    Linear in the module but for one sort.

    Args:
        module: As `ncc.read_module` or `ncc.load_module` made it.

    Raises:
        InputError: Ends of blocks lead from so much to so many labels that the graph would be far larger than the
            module.

    Reference: Ben-Nun et al. 2018, section 3.1.
    """
    builder = _Builder(module)
    builder.add_defines()
    builder.add_values()
    builder.add_stores()
    builder.add_phis()
    builder.add_calls()
    builder.add_terminators()
    return builder.graph()


class _Builder:
    """Holds the masks and maps that the steps of `build_xfg` share."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.edges = _Edges()
        self.root = module.num_nodes
        self.exit = self.root + module.num_functions
        self.effect = self.exit + module.num_functions
        opcode = module.opcode
        self.is_terminator = np.isin(opcode, _TERMINATORS)
        self.is_call = np.isin(opcode, _CALLS)
        self.function = module.statement_function
        self.label = module.block_node[module.block] if module.num_statements else module.block
        # operands: their statement, whether they are immediates or labels, and their place in the statement
        self.of = module.operand_statement
        kind = np.append(module.node_kind, np.uint8(255))
        self.operand_kind = kind[module.operand]
        self.is_node = (module.operand >= 0) & (self.operand_kind != NodeKind.BLOCK)
        self.place = np.arange(len(self.of), dtype=np.int32) - module.operand_start[self.of]
        self.num_operands = np.diff(module.operand_start)
        values = np.where(self.is_node, module.operand, np.int32(-1))
        self.first_operand = np.append(values, np.int32(-1))[module.operand_start[:-1]]
        self.callee_function = module.function_of_node[module.callee]  # -1 where the module has no body
        # where a statement's flow ends: its result, or a node of its own
        makes_effect = (module.result < 0) & (~self.is_terminator | self.is_call)
        makes_effect &= (opcode != _STORE) & (opcode != _DEFINE)
        self.effect_statement = np.flatnonzero(makes_effect).astype(np.int32)
        self.sink = module.result.copy()
        self.sink[self.effect_statement] = self.effect + np.arange(len(self.effect_statement), dtype=np.int32)

    def add_defines(self) -> None:
        module = self.module
        defines = module.function_start[:-1]
        entry = module.block_node[module.function_block[:-1]] if module.num_functions else defines
        self.edges.add(self.root + np.arange(len(defines), dtype=np.int32), entry, defines, EdgeKind.PATH)
        argument = module.opcode[self.of] == _DEFINE
        statement = self.of[argument]
        self.edges.add(self.label[statement], module.operand[argument], statement, EdgeKind.PATH)

    def add_values(self) -> None:
        """Data edges into results and effects, and path edges where nothing comes from the same block."""
        module = self.module
        makes = (self.sink >= 0) & (module.opcode != _PHI)
        internal = self.callee_function >= 0
        flows = self.is_node & (makes & ~internal)[self.of]
        flows &= ~(self.is_call[self.of] & (self.place == 0) & (self.operand_kind <= NodeKind.FUNCTION))
        statement = self.of[flows]
        self.edges.add(module.operand[flows], self.sink[statement], statement, EdgeKind.DATA)
        definition = module.operand_definition
        near = (definition >= 0) & (module.block[definition] == module.block[self.of])
        anchored = np.zeros(module.num_statements, bool)
        anchored[self.of[near & self.is_node]] = True
        lonely = np.flatnonzero(makes & ~anchored).astype(np.int32)
        self.edges.add(self.label[lonely], self.sink[lonely], lonely, EdgeKind.PATH)

    def add_stores(self) -> None:
        module = self.module
        store = np.flatnonzero(module.opcode == _STORE).astype(np.int32)
        value = module.operand[module.operand_start[store]]
        pointer = module.operand[module.operand_start[store] + 1]
        label = self.label[store]
        target = np.where(pointer >= 0, pointer, label)
        flows = value >= 0
        self.edges.add(value[flows], target[flows], store[flows], EdgeKind.DATA)
        self.edges.add(label[~flows], target[~flows], store[~flows], EdgeKind.PATH)

    def add_phis(self) -> None:
        module = self.module
        phi = np.flatnonzero(module.opcode == _PHI).astype(np.int32)
        self.edges.add(self.label[phi], module.result[phi], phi, EdgeKind.PATH)
        incoming = (module.opcode[self.of] == _PHI) & self.is_node
        statement = self.of[incoming]
        self.edges.add(module.operand[incoming], module.result[statement], statement, EdgeKind.DATA)

    def add_calls(self) -> None:
        """Calls of functions whose body is in the module."""
        module = self.module
        call = np.flatnonzero(self.callee_function >= 0).astype(np.int32)
        self.edges.add(self.exit + self.callee_function[call], self.sink[call], call, EdgeKind.DATA)
        num_arguments = self.num_operands[module.function_start[:-1]]
        callee = self.callee_function[self.of]
        passed = (callee >= 0) & (self.place >= 1) & (self.operand_kind != NodeKind.BLOCK)
        passed &= self.place <= np.append(num_arguments, 0)[callee]
        statement = self.of[passed]
        formal_at = module.operand_start[module.function_start[callee[passed]]] + self.place[passed] - 1
        actual, formal = module.operand[passed], module.operand[formal_at]
        given = actual >= 0
        self.edges.add(actual[given], formal[given], statement[given], EdgeKind.DATA)
        self.edges.add(self.label[statement[~given]], formal[~given], statement[~given], EdgeKind.PATH)
        bare = np.setdiff1d(call, statement).astype(np.int32)
        self.edges.add(self.label[bare], self.root + self.callee_function[bare], bare, EdgeKind.PATH)

    def add_terminators(self) -> None:
        module = self.module
        conditional = (module.opcode == _BR) & (self.num_operands > 1)
        is_label = self.operand_kind == NodeKind.BLOCK
        leaf_block, leaf_node = self._leaves()  # of what stands so far: terminators' own edges make no leaves
        # from the operands: a conditional branch's condition, a switch's, the value that is returned
        flows = self.is_node & (self.is_terminator & ~self.is_call)[self.of]
        self._connect(self.of[flows], module.operand[flows], is_label)
        constant_at = np.flatnonzero(conditional & (self.first_operand < 0)).astype(np.int32)
        self._connect(constant_at, self.label[constant_at], is_label)
        # an invoke ends its block: what it makes leads on
        invoke = np.flatnonzero(self.is_call & self.is_terminator).astype(np.int32)
        self._connect(invoke, self.sink[invoke], is_label)
        # from the leaves of the block
        leafy = self.is_terminator & ~conditional & ~self.is_call
        statement_of_block = np.full(len(module.block_node), -1, np.int32)
        ends = np.flatnonzero(leafy).astype(np.int32)
        statement_of_block[module.block[ends]] = ends
        statement = statement_of_block[leaf_block]
        self._connect(statement[statement >= 0], leaf_node[statement >= 0], is_label, skip_operands=True)

    def _connect(self, statement: Ints32, source: Ints32, is_label: Bools, *, skip_operands: bool = False) -> None:
        """Edges from sources to all labels of their terminators, and to the return node from those that exit."""
        module = self.module
        if skip_operands:  # a leaf that is also an operand has its edges already
            repeated = (self.num_operands[statement] > 0) & (self.first_operand[statement] == source)
            statement, source = statement[~repeated], source[~repeated]
        num_labels = np.bincount(self.of[is_label], minlength=module.num_statements).astype(np.int32)
        counts = num_labels[statement]
        most = _MOST_EDGES + _EDGES_EACH * (module.num_statements + len(module.operand))
        if (total := int(counts.sum(dtype=np.int64))) > most:
            raise InputError(
                f"{module.name}: its branches alone would make {total:,} edges of the graph, of "
                f"{module.num_statements:,} statements; expected at most {most:,}"
            )
        rows = np.repeat(np.arange(len(statement)), counts)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        labels = module.operand[is_label]
        first_label = np.cumsum(num_labels) - num_labels
        target = labels[first_label[statement[rows]] + place]
        self.edges.add(source[rows], target, statement[rows], EdgeKind.CONTROL)
        exits = np.isin(module.opcode[statement], _EXITS) & (num_labels[statement] == 0)
        leaving = statement[exits]
        self.edges.add(source[exits], self.exit + self.function[leaving], leaving, EdgeKind.CONTROL)

    def _leaves(self) -> tuple[Ints32, Ints32]:
        """Block and node of every leaf: reached inside the block (its label is), and no source of an edge there."""
        module = self.module
        num_nodes = self.effect + len(self.effect_statement)
        source, target, statement = (self.edges.joined(column) for column in range(3))
        home = self._home_blocks(num_nodes)
        block = module.block[statement]
        leads_on = np.zeros(num_nodes, bool)
        leads_on[source[home[source] == block]] = True
        at_home = np.flatnonzero((home >= 0) & ~leads_on).astype(np.int32)
        # the few nodes that a block reaches but another defines: pointers that it stores to
        away = (home[target] != block) & ~self._into_callee(target, statement)
        is_away = np.zeros(num_nodes, bool)
        is_away[target[away]] = True
        leaves_from = is_away[source]
        reached = block[away].astype(np.int64) * num_nodes + target[away]
        reached = np.setdiff1d(reached, block[leaves_from].astype(np.int64) * num_nodes + source[leaves_from])
        leaf_block = np.concatenate([home[at_home], (reached // num_nodes).astype(np.int32)])
        leaf_node = np.concatenate([at_home, (reached % num_nodes).astype(np.int32)])
        # a block whose flow goes round in a circle has no leaf: its label stands in
        has_leaf = np.zeros(len(module.block_node), bool)
        has_leaf[leaf_block] = True
        without = np.flatnonzero(~has_leaf).astype(np.int32)
        return np.append(leaf_block, without), np.append(leaf_node, module.block_node[without])

    def _home_blocks(self, num_nodes: int) -> Ints32:
        """(num_nodes,) the block that defines a result, an argument, an effect or a label; -1 for other nodes."""
        module = self.module
        home = np.full(num_nodes, -1, np.int32)
        local = np.flatnonzero((module.node_kind == NodeKind.RESULT) | (module.node_kind == NodeKind.ARGUMENT))
        home[local] = module.block[module.node_definition[local]]
        home[module.block_node] = np.arange(len(module.block_node), dtype=np.int32)
        home[self.effect :] = module.block[self.effect_statement]
        return home

    def _into_callee(self, target: Ints32, statement: Ints32) -> Bools:
        """Does the edge lead into a function that the statement calls, to an argument or the root?"""
        is_global = np.append(self.module.node_function < 0, False)[np.minimum(target, self.module.num_nodes)]
        return (self.callee_function[statement] >= 0) & (target != self.sink[statement]) & ~is_global

    def graph(self) -> XFG:
        source, target, statement = (self.edges.joined(column) for column in range(3))
        kind = self.edges.kinds
        order = np.argsort(statement, kind="stable")
        return XFG(
            module=self.module,
            source=source[order],
            target=target[order],
            statement=statement[order],
            kind=kind[order],
            root=self.root,
            exit=self.exit,
            effect=self.effect,
            effect_statement=self.effect_statement,
            num_nodes=self.effect + len(self.effect_statement),
        )
