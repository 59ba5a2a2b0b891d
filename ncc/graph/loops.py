"""Natural loops of a function: which blocks they hold, and how often they run where the code says so."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncc.graph.threads import constant_operand
from ncc.ir import Module, NodeKind

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Loop", "find_loops", "successors"]

_MOST_TRIPS = 2**30


@dataclass(frozen=True)
class Loop:
    """A natural loop: that of all edges to one block that dominates where they start.

    Attributes:
        header: Block that is entered first, numbered through the module.
        blocks: All its blocks, those of inner loops and the header included.
        trips: How often it runs, if it ends where a counter meets a constant; else None.
    """

    header: int
    blocks: frozenset[int]
    trips: int | None


def successors(module: Module, function: int) -> dict[int, list[int]]:
    """Blocks that each block of a function may go on to; blocks are numbered through the module."""
    last = _terminators(module, function)
    first, end = int(module.function_block[function]), int(module.function_block[function + 1])
    following: dict[int, list[int]] = {block: [] for block in range(first, end)}
    for block, statement in last.items():
        operands = module.operand[module.operand_start[statement] : module.operand_start[statement + 1]]
        labels = operands[(operands >= 0) & (module.node_kind[operands] == NodeKind.BLOCK)]
        following[block] = module.node_definition[labels].tolist()
    return following


def find_loops(module: Module, function: int) -> list[Loop]:
    """Finds the natural loops of a function, by header.

    Jumps into the middle of a cycle make no natural loop, and unreachable blocks have none.
    """
    import networkx as nx

    following = successors(module, function)
    first = int(module.function_block[function])
    graph = nx.DiGraph((block, target) for block, targets in following.items() for target in targets)
    graph.add_node(first)
    dominator = nx.immediate_dominators(graph, first)
    bodies: dict[int, set[int]] = defaultdict(set)
    for block, target in graph.edges:
        if block in dominator and _dominates(dominator, target, block):
            bodies[target] |= _body(graph, target, block)
    last = _terminators(module, function)
    return [
        Loop(header, frozenset(body), _trips(module, body, following, last)) for header, body in sorted(bodies.items())
    ]


def _terminators(module: Module, function: int) -> dict[int, int]:
    """Last statement of each block."""
    statements = range(int(module.function_start[function]) + 1, int(module.function_start[function + 1]))
    return {int(module.block[statement]): statement for statement in statements}


def _dominates(dominator: dict[int, int], block: int, other: int) -> bool:
    while other != block:
        above = dominator.get(other)
        if above is None or above == other:
            return False
        other = above
    return True


def _body(graph: "nx.DiGraph[int]", header: int, end: int) -> set[int]:
    """Blocks from which a loop's end is reached without passing its header, and the header."""
    body, frontier = {header}, [end]
    while frontier:
        block = frontier.pop()
        if block not in body:
            body.add(block)
            frontier += graph.predecessors(block)
    return body


def _trips(module: Module, body: set[int], following: dict[int, list[int]], last: dict[int, int]) -> int | None:
    """The largest constant that a value is compared with where the loop is left; starts and steps are not looked at."""
    found = []
    for block in body:
        if all(target in body for target in following[block]):
            continue
        condition = int(module.operand[module.operand_start[last[block]]])
        statement = int(module.node_definition[condition]) if condition >= 0 else -1
        if statement >= 0 and module.node_kind[condition] == NodeKind.RESULT:
            constant = constant_operand(module, statement) if " = icmp " in module.statement_text(statement) else None
            if constant is not None and abs(constant) > 1:
                found.append(min(abs(constant), _MOST_TRIPS))
    return max(found, default=None)
