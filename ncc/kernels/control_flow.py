"""Control flow of a kernel: its natural loops, the blocks that not all threads run, and the odds of branches.

Reference: Magni, Dubach, O'Boyle, PACT 2014, section 3 (divergent regions, of which coarsening makes a copy for each
work-item that it merges). Ball and Larus, PLDI 1993, section 4 (odds of branches by opcode).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ncc.arrays import Bools, Floats
from ncc.errors import InputError
from ncc.ir.reader.module import Module, NodeKind
from ncc.kernels.instructions import decode, definition

_MAX_TRIPS = 2**30
_MAX_BLOCKS = 20_000
_MAX_NESTED, _MAX_STEPS = 200, 100_000
_EXIT = -1
_RARE, _NAN = 0.1, 0.01
_COMPARED = re.compile(r"[if]cmp (?:\w+ )*?(\w+) (?:i\d+|float|double|half|ptr) [^,]+, (\S+)")
_ZERO = re.compile(r"-?0(?:\.0+(?:e\+0+)?)?|null|-1")


@dataclass(frozen=True)
class Loop:
    """A natural loop: its blocks, including inner loops', and its trip count if a counter ends it at a constant."""

    header: int
    blocks: frozenset[int]
    exits: tuple[int, ...]  # blocks with an edge out of the loop
    trip_count: int | None


@lru_cache(maxsize=8)
def successors(module: Module, function: int) -> dict[int, list[int]]:
    """Block → blocks that may run next, as indices in the module."""
    first, end = module.function_block[function : function + 2].tolist()
    if end - first > _MAX_BLOCKS:  # post-dominators can take quadratic time
        raise InputError(f"the kernel has {end - first:,} blocks; expected at most {_MAX_BLOCKS:,}")
    following: dict[int, list[int]] = {block: [] for block in range(first, end)}
    for block, terminator in {inst.block: inst for inst in decode(module, function)}.items():
        operands = np.array(terminator.operands, np.int32)
        labels = operands[(operands >= 0) & (module.node_kind[operands] == NodeKind.BLOCK)]
        following[block] = module.node_definition[labels].tolist()
    return following


@lru_cache(maxsize=8)
def find_loops(module: Module, function: int) -> tuple[Loop, ...]:
    """Find the natural loops of a function by header, without irreducible cycles and unreachable blocks."""
    following = successors(module, function)
    first, walk = int(module.function_block[function]), _Walk(len(following))
    order = reverse_postorder(following, first)
    place = {block: number for number, block in enumerate(order)}
    preceding: defaultdict[int, list[int]] = defaultdict(list)
    for block in order:
        for target in following[block]:
            preceding[target].append(block)
    conditions, loops = _conditions(module, function), list[Loop]()
    for header in order:
        latches = [block for block in preceding[header] if place[block] >= place[header]]
        body = walk.reach(preceding, latches, header)
        if first in body:  # a path bypasses the header to some latches
            latches = [latch for latch in latches if first not in walk.reach(preceding, [latch], header)]
            body = walk.reach(preceding, latches, header)
        if latches:
            blocks = frozenset(body | {header})
            exits = tuple(block for block in blocks if not blocks.issuperset(following[block]))
            # the largest constant that a value is compared with at an exit; starts and steps are not looked at
            compares = [compare for block in exits if (compare := definition(module, conditions[block]))]
            constants = [abs(compare.constant or 0) for compare in compares if compare.opcode == "icmp"]
            trips = max((constant for constant in constants if constant > 1), default=None)
            loops.append(Loop(header, blocks, exits, trips and min(trips, _MAX_TRIPS)))
    return tuple(sorted(loops, key=lambda loop: loop.header))


@lru_cache(maxsize=8)
def loops_around(module: Module, function: int) -> dict[int, list[Loop]]:
    """Block → the loops that it is in."""
    around: dict[int, list[Loop]] = {block: [] for block in successors(module, function)}
    for loop in find_loops(module, function):
        for block in loop.blocks:
            around[block].append(loop)
    return around


def reverse_postorder(following: Mapping[int, Sequence[int]], first: int) -> list[int]:
    """Reachable blocks in topological order, ignoring back edges."""
    order, seen, stack = list[int](), {first}, [(first, iter(following[first]))]
    while stack:
        block, targets = stack[-1]
        target = next((other for other in targets if other not in seen), None)
        if target is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(target)
            stack.append((target, iter(following[target])))
    return order[::-1]


def divergent_branches(module: Module, function: int, stride: Floats) -> list[int]:
    """Blocks that end in a branch on a value of a stride, (num_nodes + 1,) float64."""
    following, conditions = successors(module, function), _conditions(module, function).items()
    return [block for block, node in conditions if len(set(following[block])) > 1 and node >= 0 and stride[node]]


def divergent_blocks(module: Module, function: int, stride: Floats) -> Bools:
    """Whether a block is between a divergent branch and its post-dominator, (num_blocks,) bool."""
    import networkx as nx

    following, first = successors(module, function), int(module.function_block[function])
    region = np.zeros(len(following), bool)
    backwards: nx.DiGraph[int] = nx.DiGraph()
    backwards.add_node(_EXIT)
    for block, targets in following.items():
        backwards.add_edges_from((target, block) for target in targets or [_EXIT])
    end = nx.immediate_dominators(backwards, _EXIT)  # the first block that all paths pass; none if paths never end
    walk = _Walk(len(following))
    for block in divergent_branches(module, function, stride):
        region[[other - first for other in walk.reach(following, following[block], end.get(block, _EXIT))]] = True
    return region


def branch_probability(module: Module, condition: int) -> float:
    """Assumed probability of a condition: NaN, a constant and negative values are rare, zero may go either way."""
    compare = definition(module, condition)
    match = _COMPARED.search(compare.source) if compare else None
    if not compare or compare.opcode not in ("icmp", "fcmp") or not match:
        return 0.5
    predicate, other = match.groups()
    if predicate in ("uno", "ord"):
        return _NAN if predicate == "uno" else 1 - _NAN
    if other.startswith("%"):
        return 0.5
    if _ZERO.fullmatch(other):
        rare, often = {"lt", "le"}, {"gt", "ge"}
    else:
        rare, often = {"eq", "lt"} if other == "1" else {"eq"}, {"ne"}
    relation = predicate[-2:]  # of either sign, ordered or unordered
    return _RARE if relation in rare else 1 - _RARE if relation in often else 0.5


def _conditions(module: Module, function: int) -> dict[int, int]:
    """Block → first operand of its last statement, -1 for an immediate or a missing one."""
    return {inst.block: (inst.operands or [-1])[0] for inst in decode(module, function)}


class _Walk:
    """Walks over blocks, bounded together by the steps that loops and branches nested 200 deep need."""

    def __init__(self, num_blocks: int) -> None:
        self._steps_left = _MAX_STEPS + _MAX_NESTED * num_blocks

    def reach(self, neighbors: Mapping[int, Iterable[int]], start: Iterable[int], end: int) -> set[int]:
        """Blocks reachable from some blocks, these included, without passing the end."""
        reached: set[int] = set()
        frontier = list(start)
        while frontier:
            block = frontier.pop()
            if block != end and block not in reached:
                reached.add(block)
                frontier += neighbors[block]
        self._steps_left -= len(reached)
        if self._steps_left < 0:
            raise InputError(f"the kernel's loops or branches are nested more than {_MAX_NESTED} deep on average")
        return reached
