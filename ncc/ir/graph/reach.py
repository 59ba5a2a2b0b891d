"""Functions that a function may reach through the calls that the module shows."""

import numpy as np

from ncc.arrays import Ints32
from ncc.ir.reader.module import Module


def reachable_statements(module: Module, function: int) -> Ints32:
    """Return statements of a function and of all that it calls, directly or not, in module order."""
    used = module.function_of_node[module.operand]
    caller = module.statement_function[module.operand_statement]
    calls = (used >= 0) & (used != caller)
    edges = np.stack([caller[calls], used[calls]], axis=1)
    reached, frontier = {function}, [function]
    while frontier:
        frontier = sorted(set(edges[np.isin(edges[:, 0], frontier), 1].tolist()) - reached)
        reached.update(frontier)
    starts = module.function_start
    return np.concatenate([np.arange(starts[f], starts[f + 1], dtype=np.int32) for f in sorted(reached)])
