"""Contexts: pairs of statements within a few hops in the dual of the XFG, counted by label.

Reference: Ben-Nun et al. 2018, section 3.2 (context size) and 4.1 (dual graph, pairs emitted both ways).
"""

from dataclasses import dataclass

import numpy as np

from ncc.arrays import Ints, Ints32, offsets
from ncc.errors import InputError
from ncc.ir.graph.xfg import XFG
from ncc.ir.reader import native
from ncc.ir.reader.reader import seconds_for

MAX_WIDTH = 8


@dataclass(frozen=True)
class ContextCounts:
    """How often each context label was seen near each center label, sorted by center and context.

    Attributes:
        center: (num_pairs,) int32.
        context: (num_pairs,) int32.
        count: (num_pairs,) int64, at least 1.
    """

    center: Ints32
    context: Ints32
    count: Ints


def count_contexts(graph: XFG, label: Ints32, width: int = 2, *, max_degree: int | None = None) -> ContextCounts:
    """Count ordered pairs of distinct statements that are at most ``width`` shared nodes apart.

    Each pair is counted in both directions, by label.

    Args:
        graph: The contextual flow graph.
        label: (num_statements,) int32 word of each statement; statements labeled -1 are walked through but not counted.
        width: Context size in hops; the paper compares 1, 2 and 3.
        max_degree: Identifiers with more statements than this connect none of them, since an identifier of a thousand
            statements says little about any and makes a million pairs. None for no limit, as in the paper.

    Raises:
        InputError: ``width`` is not between 1 and 8, ``label`` is not one number per statement, or it takes too long.

    Reference: Ben-Nun et al. 2018, section 4.1.
    """
    if not 1 <= width <= MAX_WIDTH:
        raise InputError(f"context width is {width}; expected 1 to {MAX_WIDTH}")
    if max_degree is not None and max_degree < 0:
        raise InputError(f"max_degree is {max_degree}; expected 0 or more")
    num_statements = graph.module.num_statements
    if label.shape != (num_statements,):  # the kernel would read past its end
        raise InputError(f"labels have shape {label.shape}; expected one for each of {num_statements} statements")
    statement, node = graph.incidence
    if max_degree is not None:
        connects = np.bincount(node, minlength=graph.num_nodes)[node] <= max_degree
        statement, node = statement[connects], node[connects]
    by_node = np.argsort(node, kind="stable")
    try:
        center, context, count = native.count_contexts(
            offsets(np.bincount(statement, minlength=num_statements)),
            node.astype(np.int32),
            offsets(np.bincount(node, minlength=graph.num_nodes)),
            statement[by_node].astype(np.int32),
            label.astype(np.int32, copy=False),
            width=width,
            timeout_s=seconds_for(len(graph.module.ir)),
        )
    except TimeoutError as error:
        raise InputError(f"{graph.module.name}: {error}; try a smaller width or max_degree") from error
    order = np.argsort(center.astype(np.int64) << 32 | context)  # sorts one column, many times faster than two
    return ContextCounts(center[order], context[order], count[order])
