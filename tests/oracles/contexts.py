"""Contexts by a breadth-first search in plain sets."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from ncc import XFG


def slow_contexts(
    graph: XFG, labels: Sequence[int], width: int, max_degree: int | None = None
) -> Counter[tuple[int, int]]:
    """How often each context label is within so many hops of each center label; statements of label -1 don't count."""
    nodes_of, statements_at = defaultdict(set), defaultdict(set)
    for ends in (graph.source, graph.target):
        for node, statement in zip(ends.tolist(), graph.statement.tolist(), strict=True):
            nodes_of[statement].add(node)
            statements_at[node].add(statement)
    hubs = {node for node, near in statements_at.items() if max_degree is not None and len(near) > max_degree}
    counts: Counter[tuple[int, int]] = Counter()
    for center, center_label in enumerate(labels):
        met = {center}
        for _ in range(width):
            nodes = {node for statement in met for node in nodes_of[statement]} - hubs
            met |= {statement for node in nodes for statement in statements_at[node]}
        for context in met - {center}:
            if center_label >= 0 and labels[context] >= 0:
                counts[center_label, labels[context]] += 1
    return counts
