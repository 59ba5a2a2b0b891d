"""Parts of a kernel that not all threads run: regions behind branches that depend on the thread, and loops of them.

Coarsening copies such a region once for each work-item that it merges, one copy after the other, where it interleaves
the instructions of all others.

Reference: Magni, Dubach, O'Boyle, PACT 2014, section 3 (divergent regions).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.ir import Module
from ncc.kernels.loops import Loop, successors

__all__ = ["DivergentBlocks", "find_divergent_blocks"]

_EXIT = -1


@dataclass(frozen=True, eq=False)
class DivergentBlocks:
    """Blocks of a function that some threads of a group may run and others not.

    Args:
        region: Whether a branch that depends on the thread decides on the block, (num_blocks of the function,) bool.
        loop: Whether the block is in a loop that a branch which depends on the thread leads out of: threads run it
            different numbers of times, (num_blocks of the function,) bool.
    """

    region: NDArray[np.bool_]
    loop: NDArray[np.bool_]


def find_divergent_blocks(
    module: Module, function: int, stride: NDArray[np.float64], loops: Sequence[Loop]
) -> DivergentBlocks:
    """Find the blocks that a divergent branch decides on: those between it and its immediate post-dominator.

    Args:
        module: The module.
        function: Number of the function.
        stride: From `ncc.kernels.threads.thread_strides`, (num_nodes,) float64: 0 where all threads agree.
        loops: From `ncc.kernels.loops.find_loops`.
    """
    following = successors(module, function)
    first = int(module.function_block[function])
    region, loop = np.zeros(len(following), bool), np.zeros(len(following), bool)
    end = _immediate_post_dominators(following)
    branches = _divergent_branches(module, function, following, stride)
    for block in branches:
        region[[other - first for other in _reach(following, following[block], end.get(block, _EXIT))]] = True
    for found in loops:
        if any(set(following[block]) - found.blocks for block in found.blocks.intersection(branches)):
            loop[[block - first for block in found.blocks]] = True
    return DivergentBlocks(region, loop)


def _divergent_branches(
    module: Module, function: int, following: dict[int, list[int]], stride: NDArray[np.float64]
) -> list[int]:
    statements = range(int(module.function_start[function]) + 1, int(module.function_start[function + 1]))
    last = {int(module.block[statement]): statement for statement in statements}
    conditions = {
        block: int(module.operand[module.operand_start[statement]])
        for block, statement in last.items()
        if len(set(following[block])) > 1
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


def _reach(following: dict[int, list[int]], start: list[int], end: int) -> set[int]:
    """Blocks that can be reached from some blocks, these included, without passing a block at which the way ends."""
    found: set[int] = set()
    frontier = list(start)
    while frontier:
        block = frontier.pop()
        if block != end and block not in found:
            found.add(block)
            frontier += following[block]
    return found
