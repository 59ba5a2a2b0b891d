"""Natural loops of a function: which blocks they hold, and how often they run where the code says so."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncc.ir import Module, NodeKind, opcode_number
from ncc.kernels.strides import constant_operand

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
    graph.remove_nodes_from(set(graph) - nx.descendants(graph, first) - {first})
    dominated = _dominator_tree(nx.immediate_dominators(graph, first), first)
    bodies: dict[int, set[int]] = defaultdict(set)
    for block, target in graph.edges:
        if dominated[target][0] <= dominated[block][0] < dominated[target][1]:
            bodies[target] |= _body(graph, target, block)
    last = _terminators(module, function)
    return [
        Loop(header, frozenset(body), _trips(module, body, following, last)) for header, body in sorted(bodies.items())
    ]


def _terminators(module: Module, function: int) -> dict[int, int]:
    """Last statement of each block."""
    statements = range(int(module.function_start[function]) + 1, int(module.function_start[function + 1]))
    return {int(module.block[statement]): statement for statement in statements}


def _dominator_tree(dominator: dict[int, int | None], first: int) -> dict[int, tuple[int, int]]:
    """Numbers blocks so that those which a block dominates have the numbers of its interval; it has the first."""
    below: dict[int, list[int]] = defaultdict(list)
    for block, above in dominator.items():
        if above is not None and block != first:
            below[above].append(block)
    number: dict[int, int] = {}
    interval: dict[int, tuple[int, int]] = {}
    stack = [(first, False)]
    while stack:
        block, done = stack.pop()
        if done:
            interval[block] = number[block], len(number)
        else:
            number[block] = len(number)
            stack.append((block, True))
            stack += [(other, False) for other in below[block]]
    return interval


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
        if condition < 0 or module.node_kind[condition] != NodeKind.RESULT:
            continue
        statement = int(module.node_definition[condition])
        constant = constant_operand(module, statement) if module.opcode[statement] == opcode_number("icmp") else None
        if constant is not None and abs(constant) > 1:
            found.append(min(abs(constant), _MOST_TRIPS))
    return max(found, default=None)
