"""The way of threads through a kernel: its natural loops, and the blocks that not all threads run.

Coarsening copies a divergent region once for each work-item that it merges, one copy after the other, where it
interleaves the instructions of all others.

Reference: Magni, Dubach, O'Boyle, PACT 2014, section 3 (divergent regions).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ncc.arrays import Bools, Floats
from ncc.errors import InputError
from ncc.ir.reader.module import Module, NodeKind
from ncc.kernels.strides import constant_operand

if TYPE_CHECKING:
    import networkx as nx

_MOST_TRIPS = 2**30
_MOST_BLOCKS = 20_000
_MOST_NESTED, _MOST_STEPS = 200, 100_000
_EXIT = -1


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


@dataclass(frozen=True, eq=False)
class DivergentBlocks:
    """Blocks of a function that some threads of a group may run and others not.

    Attributes:
        region: Whether a branch that depends on the thread decides on the block, (num_blocks of the function,) bool.
        loop: Whether the block is in a loop that a branch which depends on the thread leads out of: threads run it
            different numbers of times, (num_blocks of the function,) bool.
    """

    region: Bools
    loop: Bools


def successors(module: Module, function: int) -> dict[int, list[int]]:
    """Blocks that each block of a function may go on to; blocks are numbered through the module."""
    first, end = module.function_block[function : function + 2].tolist()
    following: dict[int, list[int]] = {block: [] for block in range(first, end)}
    for block, statement in _terminators(module, function).items():
        operands = np.array(module.operands(statement), np.int32)
        labels = operands[(operands >= 0) & (module.node_kind[operands] == NodeKind.BLOCK)]
        following[block] = module.node_definition[labels].tolist()
    return following


def find_loops(module: Module, function: int) -> list[Loop]:
    """Finds the natural loops of a function, by header.

    Jumps into the middle of a cycle make no natural loop, and unreachable blocks have none.

    Raises:
        InputError: Loops are nested deeper, or blocks are more, than anybody writes them.
    """
    following = successors(module, function)
    if len(following) > _MOST_BLOCKS:  # dominators can take the square of their number
        raise InputError(f"a kernel of {len(following):,} blocks: expected at most {_MOST_BLOCKS:,}")
    if all(target > block for block, targets in following.items() for target in targets):
        return []  # every cycle has a way back; without one, networkx need not be imported
    import networkx as nx

    first = int(module.function_block[function])
    graph = nx.DiGraph((block, target) for block, targets in following.items() for target in targets)
    graph.add_node(first)
    graph.remove_nodes_from(set(graph) - nx.descendants(graph, first) - {first})
    dominated = _dominated(graph, first)
    latches: dict[int, list[int]] = defaultdict(list)
    for block, target in graph.edges:
        if dominated[block].start in dominated[target]:
            latches[target].append(block)
    walk = _Walk(len(following))
    bodies = {header: walk.reach(graph.pred, blocks, header) | {header} for header, blocks in latches.items()}
    last = _terminators(module, function)
    return [
        Loop(header, frozenset(body), _trips(module, body, following, last)) for header, body in sorted(bodies.items())
    ]


def find_divergent_blocks(module: Module, function: int, stride: Floats, loops: Sequence[Loop]) -> DivergentBlocks:
    """Finds the blocks that a divergent branch decides on: those between it and its immediate post-dominator.

    Args:
        module: The module.
        function: Number of the function.
        stride: From `ncc.kernels.addresses.thread_strides`, (num_nodes,) float64: 0 where all threads agree.
        loops: From `find_loops`.

    Raises:
        InputError: Branches are nested deeper than anybody writes them.
    """
    following = successors(module, function)
    first = int(module.function_block[function])
    region, loop = np.zeros(len(following), bool), np.zeros(len(following), bool)
    end = _immediate_post_dominators(following)
    branches = _divergent_branches(module, function, following, stride)
    walk = _Walk(len(following))
    for block in branches:
        region[[other - first for other in walk.reach(following, following[block], end.get(block, _EXIT))]] = True
    for found in loops:
        if any(set(following[block]) - found.blocks for block in found.blocks.intersection(branches)):
            loop[[block - first for block in found.blocks]] = True
    return DivergentBlocks(region, loop)


def _terminators(module: Module, function: int) -> dict[int, int]:
    """Last statement of each block."""
    return {int(module.block[statement]): statement for statement in module.body(function)}


def _condition(module: Module, terminator: int) -> int:
    """What a block's end depends on: the first operand of its last statement, -1 for an immediate."""
    return module.operands(terminator)[0]


def _dominated(graph: "nx.DiGraph[int]", first: int) -> dict[int, range]:
    """Numbers of the blocks that each block dominates; its own comes first."""
    import networkx as nx

    above = nx.immediate_dominators(graph, first)
    tree = nx.DiGraph((other, block) for block, other in above.items() if other is not None and block != first)
    tree.add_node(first)
    number = {block: place for place, block in enumerate(nx.dfs_preorder_nodes(tree, first))}
    found: dict[int, range] = {}
    for block in nx.dfs_postorder_nodes(tree, first):
        ends = (found[below].stop for below in tree[block])
        found[block] = range(number[block], max(ends, default=number[block] + 1))
    return found


class _Walk:
    """Walks over blocks, which together may take as many steps as loops and branches nested 200 deep would."""

    def __init__(self, num_blocks: int) -> None:
        self._steps_left = _MOST_STEPS + _MOST_NESTED * num_blocks

    def reach(self, neighbours: Mapping[int, Iterable[int]], start: Iterable[int], end: int) -> set[int]:
        """Blocks that can be reached from some blocks, these included, without a block at which the way ends."""
        found: set[int] = set()
        frontier = list(start)
        while frontier:
            block = frontier.pop()
            if block != end and block not in found:
                found.add(block)
                frontier += neighbours[block]
        self._steps_left -= len(found)
        if self._steps_left < 0:
            raise InputError(
                f"a kernel whose loops or branches are nested, on average, more than {_MOST_NESTED} deep: it can't be "
                "described"
            )
        return found


def _trips(module: Module, body: set[int], following: dict[int, list[int]], last: dict[int, int]) -> int | None:
    """The largest constant that a value is compared with where the loop is left; starts and steps are not looked at."""
    found = []
    for block in body:
        if all(target in body for target in following[block]):
            continue
        condition = _condition(module, last[block])
        if condition < 0 or module.node_kind[condition] != NodeKind.RESULT:
            continue
        statement = int(module.node_definition[condition])
        constant = constant_operand(module, statement) if module.opcode_name(statement) == "icmp" else None
        if constant is not None and abs(constant) > 1:
            found.append(min(abs(constant), _MOST_TRIPS))
    return max(found, default=None)


def _divergent_branches(module: Module, function: int, following: dict[int, list[int]], stride: Floats) -> list[int]:
    last = _terminators(module, function)
    conditions = {
        block: _condition(module, statement) for block, statement in last.items() if len(set(following[block])) > 1
    }
    return [block for block, node in conditions.items() if node >= 0 and stride[node] != 0]


def _immediate_post_dominators(following: dict[int, list[int]]) -> dict[int, int]:
    """The first block that all ways from a block to the function's end pass; blocks that never end have none."""
    import networkx as nx

    backwards: nx.DiGraph[int] = nx.DiGraph()
    backwards.add_node(_EXIT)
    for block, targets in following.items():
        backwards.add_edges_from((target, block) for target in targets or [_EXIT])
    return {block: above for block, above in nx.immediate_dominators(backwards, _EXIT).items() if above is not None}
