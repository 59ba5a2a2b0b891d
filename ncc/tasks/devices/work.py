"""How a kernel's work grows with its data: what a thread does in launches of two sizes.

Sizes, numbers of threads and arguments are taken to go together, as in most host programs: an integer argument is the
length of a side of the data, with as many sides as there are dimensions in which the kernel asks for its number.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from ncc.arrays import Floats
from ncc.ir.reader.module import Module
from ncc.kernels.cpu_cost import CYCLE_KINDS, cpu_cycles
from ncc.kernels.launch import Launch, argument_types, launch_threads
from ncc.kernels.work import LaunchContext, count_work

_SIZES = (2.0**12, 2.0**20)
_SIDES = {1: (256,), 2: (16, 16), 3: (8, 8, 4)}
_OPERATIONS = (
    "integer", "comparison", "conversion", "branch", "divergent_branch", "float", "double", "local_load",
    "local_store", "lane_shuffle", "barrier",
)  # fmt: skip
_COSTLY, _BYTES, _UNSHARED = ("special", "division"), ("global_bytes",), ("global_far", "global_irregular", "atomic")
_OTHERS = (
    "global_load", "global_store", "global_coalesced", "global_strided", "global_uniform", "constant_load",
    "private_load", "private_store", "thread_query",
)  # fmt: skip
_KINDS = (*_OPERATIONS, *_COSTLY, *_BYTES, *_UNSHARED, *_OTHERS)
_GROUPS = [[_KINDS.index(name) for name in names] for names in (_OPERATIONS, _COSTLY, _BYTES, _UNSHARED)]
NUM_KINDS = len(_KINDS)
"""Columns of `counts_at`."""
WORK_WIDTH = len(_SIZES) * (NUM_KINDS + len(CYCLE_KINDS))
"""Columns of `launch_work`."""


def launch_work(module: Module, function: int, dimensions: int, without: Collection[int] = ()) -> Floats:
    """What a thread does at launches of 4096 and of 1,048,576 data items.

    Args:
        module: The module.
        function: Number of the kernel.
        dimensions: In which it asks for its number, 0 to 3.
        without: Statements that are not counted.

    Returns:
        (WORK_WIDTH,) float64 logarithms (log1p): for each launch how often a thread does each kind of work, and what it
        costs a processor's core, see `ncc.kernels.cpu_cost.cpu_cycles`.
    """
    block = _SIDES[min(max(dimensions, 1), 3)]
    whole = integer_arguments(module, function)
    found: list[ArrayLike] = []
    for size in _SIZES:
        side = side_of(size, dimensions)
        threads = launch_threads(Launch.of([max(int(side) // width, 1) for width in block], block, {}))
        arguments = {node: np.full(len(threads.weight), float(int(side))) for node in whole}
        work = count_work(module, function, LaunchContext(threads, arguments)).without(without)
        found += [[work.dynamic[name] for name in _KINDS], cpu_cycles(work)]
    return np.log1p(np.concatenate(found))


def integer_arguments(module: Module, function: int) -> list[int]:
    """Nodes of a kernel's integer arguments, which are taken to be the length of a side of its data."""
    nodes = module.operands(int(module.function_start[function]))
    types = argument_types(module, function)
    return [node for node, field in zip(nodes, types, strict=False) if field.strip().startswith(("i16", "i32", "i64"))]


def side_of(items: float, dimensions: int) -> float:
    """Length of a side of so many data items, in a kernel that asks for its number in so many dimensions."""
    return float(items ** (1 / len(_SIDES[min(max(dimensions, 1), 3)])))


def counts_at(work: Floats, items: Floats) -> Floats:
    """How often a thread does each kind of work at launches of other sizes.

    Args:
        work: (n, WORK_WIDTH) float64, see `launch_work`.
        items: (n,) float64 data items.

    Returns:
        (n, NUM_KINDS) float64 logarithms (log1p), on a line over that of the size.
    """
    small, large = np.hsplit(work, len(_SIZES))
    return _on_line(small[:, :NUM_KINDS], large[:, :NUM_KINDS], items)


def cycles_at(work: Floats, items: Floats) -> Floats:
    """What a thread costs a processor's core at launches of other sizes.

    Args:
        work: (n, WORK_WIDTH) float64, see `launch_work`.
        items: (n,) float64 data items.

    Returns:
        (n, len(CYCLE_KINDS)) float64 amounts, see `ncc.kernels.cpu_cost.cpu_cycles`.
    """
    small, large = np.hsplit(work, len(_SIZES))
    return np.expm1(_on_line(small[:, NUM_KINDS:], large[:, NUM_KINDS:], items))


def work_at(work: Floats, items: Floats) -> Floats:
    """What a thread does at launches of other sizes, in the kinds that a machine's constants tell apart.

    Args:
        work: (n, WORK_WIDTH) float64, see `launch_work`.
        items: (n,) float64 data items.

    Returns:
        (n, 4) float64 amounts: operations, costly operations, bytes of global memory, and accesses of it that
        neighbours do not share.
    """
    small, large = (
        np.stack([np.log1p(np.expm1(part[:, group]).sum(axis=1)) for group in _GROUPS], axis=1)
        for part in np.hsplit(work, len(_SIZES))
    )
    return np.expm1(_on_line(small, large, items))


def _on_line(small: Floats, large: Floats, items: Floats) -> Floats:
    share = (np.log(items) - np.log(_SIZES[0])) / (np.log(_SIZES[1]) - np.log(_SIZES[0]))
    return np.clip(small + share[:, None] * (large - small), 0, 80)
