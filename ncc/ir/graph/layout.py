"""Lays out functions of an XFG as pictures: boxes of text rows in layers, and edges between rows.

A box is a basic block; its rows are its label, then its statements, each beside the node that it defines. Lengths are
in columns and rows of text.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints
from ncc.ir.graph.xfg import XFG, EdgeKind
from ncc.ir.reader.module import NodeKind
from ncc.system.files.text import escape_control

MAX_ROW_CHARS, _MAX_LABEL_CHARS = 72, 600
"""Longer rows are cut in the picture, longer labels everywhere."""
_GAP_COLUMNS, _GAP_ROWS = 8, 3
_MAX_LAYER_WIDTH = 640
_METADATA = r"(, ![\w.]+ !\d+)+$"


@dataclass(frozen=True, kw_only=True)
class Box:
    """Rows of a block, or of nodes outside blocks: the root, the return node, other functions' nodes."""

    x: int  # in columns
    y: int  # in rows
    width: int
    first: int  # row in the drawing
    num_rows: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawing:
    """A function as rows in boxes, with the edges that its statements label."""

    name: str
    boxes: tuple[Box, ...]  # the root, each block, the return node, and, if any, nodes of other functions and globals
    labels: tuple[str, ...]  # text of each row, without control characters
    statement: Ints  # (num_rows,) or -1
    source: Ints  # (num_edges,) rows
    target: Ints
    edge_row: Ints  # (num_edges,) row of the statement that labels the edge
    kind: NDArray[np.uint8]  # (num_edges,) see `EdgeKind`
    linked_function: tuple[int, ...]  # function of each row of the last box, which has other nodes; -1 for none


class Layout:
    """Function of each node, and its row there, for all functions at once."""

    def __init__(self, graph: XFG) -> None:
        module = self.module = graph.module
        self.graph = graph
        start, blocks = module.function_start.astype(np.int64), module.function_block.astype(np.int64)
        function = module.statement_function
        self.num_arguments = np.diff(module.operand_start)[start[:-1]]
        self.num_rows = np.diff(start) + np.diff(blocks) + self.num_arguments + 1
        before = 1 + self.num_arguments - start[:-1] - blocks[:-1]
        self.of_statement = np.arange(module.num_statements) + module.basic_block + before[function]
        self.of_statement[start[:-1]] = 0
        self.first_edge = np.searchsorted(graph.statement, module.function_start)
        self.owner = np.full(graph.num_nodes, -1, np.int64)
        self.row = np.zeros(graph.num_nodes, np.int64)
        self.owner[: module.num_nodes] = module.node_function
        results = np.flatnonzero(module.node_kind == NodeKind.RESULT)
        self.row[results] = self.of_statement[module.node_definition[results]]
        arguments = np.isin(module.operand_statement, start[:-1])
        position = np.arange(len(module.operand)) - module.operand_start[module.operand_statement]
        self.row[module.operand[arguments]] = 2 + position[arguments]
        first = np.searchsorted(module.basic_block, np.arange(len(module.basic_block_label)))
        self.row[module.basic_block_label] = self.of_statement[first] - 1
        self.row[module.basic_block_label[blocks[:-1]]] = 1
        functions = np.arange(module.num_functions)
        self.owner[graph.root : graph.exit] = self.owner[graph.exit : graph.effect] = functions
        self.row[graph.exit : graph.effect] = self.num_rows - 1
        self.owner[graph.effect :] = function[graph.effect_statement]
        self.row[graph.effect :] = self.of_statement[graph.effect_statement]

    def draw(self, function: int) -> Drawing:
        """Lay out one function."""
        graph, module = self.graph, self.module
        start, end = module.function_start[function : function + 2].tolist()
        edges = slice(*self.first_edge[function : function + 2])
        ends = np.stack([graph.source[edges], graph.target[edges]])
        is_other = self.owner[ends] != function
        others, index = np.unique(ends[is_other], return_inverse=True)
        rows, num_rows = self.row[ends], int(self.num_rows[function])
        rows[is_other] = num_rows + index
        statement = np.full(num_rows + len(others), -1, np.int64)
        statement[self.of_statement[start:end]] = np.arange(start, end)
        labels = self._labels(function, start, end, others.tolist(), len(statement))
        blocks = module.basic_block_label[slice(*module.function_block[function : function + 2])]
        firsts = [0, *self.row[blocks].tolist(), num_rows - 1, *([num_rows] if len(others) else []), len(statement)]
        edge_row, kind = self.of_statement[graph.statement[edges]], graph.kind[edges]
        is_flow = kind == EdgeKind.CONTROL
        named = module.function_of_node
        return Drawing(
            name=escape_control(module.function_names[function], lines=False),
            boxes=_lay_out(firsts, labels, edge_row[is_flow], rows[1][is_flow], has_others=len(others) > 0),
            labels=labels,
            statement=statement,
            source=rows[0],
            target=rows[1],
            edge_row=edge_row,
            kind=kind,
            linked_function=tuple(
                int(named[node]) if node < graph.root and named[node] >= 0 else graph.function_of(node)
                for node in others.tolist()
            ),
        )

    def _labels(self, function: int, start: int, end: int, others: list[int], num_rows: int) -> tuple[str, ...]:
        module = self.module
        labels = [""] * num_rows
        labels[0] = f"define {module.statement_source(start).removesuffix('{').strip()}"
        for node in module.basic_block_label[slice(*module.function_block[function : function + 2])].tolist():
            labels[self.row[node]] = f"{module.node_name(node)}:"
        for node in module.operands(start):
            labels[self.row[node]] = f"%{module.node_name(node)}"
        for statement, row in zip(range(start + 1, end), self.of_statement[start + 1 : end].tolist(), strict=True):
            labels[row] = module.statement_source(statement)
        labels[num_rows - len(others) - 1] = "return"
        labels[num_rows - len(others) :] = map(self.graph.node_label, others)
        return tuple(map(_plain, labels))


def _plain(label: str) -> str:
    if "\n" in label:
        label = " ".join(label.split())
    if " !" in label:
        label = re.sub(_METADATA, "", label)
    label = escape_control(label, lines=False).strip()
    return label if len(label) <= _MAX_LABEL_CHARS else f"{label[: _MAX_LABEL_CHARS - 1]}…"


def _lay_out(
    firsts: list[int], labels: tuple[str, ...], leaves: Ints, enters: Ints, *, has_others: bool
) -> tuple[Box, ...]:
    """Place boxes, given their first rows and, for each control edge, the rows of its statement and target."""
    lengths = np.minimum([len(label) for label in labels], MAX_ROW_CHARS)
    widths: list[int] = (np.maximum.reduceat(lengths, firsts[:-1]) + 2).tolist()
    heights = [after - first for first, after in pairwise(firsts)]
    num_flowing = len(heights) - has_others
    box_of = np.repeat(np.arange(len(heights)), heights)
    flows = zip(box_of[leaves].tolist(), box_of[enters].tolist(), strict=True)
    before: list[list[int]] = [[] for _ in heights]
    before[1].append(0)
    for source, target in sorted(set(flows)):
        if source < target < num_flowing:
            before[target].append(source)
    layer = [0] * num_flowing
    for box in range(1, num_flowing):
        layer[box] = 1 + max((layer[source] for source in before[box]), default=0)
    layer[num_flowing - 1] = max(layer[:-1]) + 1  # the return node, below everything
    layers: list[list[int]] = [[] for _ in range(layer[-1] + 1)]
    for box in range(num_flowing):
        layers[layer[box]].append(box)
    x, y = [0.0] * len(heights), [0] * len(heights)
    top = 0
    for members in layers:
        middle = {box: _mean([x[source] + widths[source] / 2 for source in before[box]]) for box in members}
        members.sort(key=lambda box: middle[box])
        for line in _lines(members, widths):
            cursor = float("-inf")
            for box in line:  # close to its preferred center without overlaps
                x[box], y[box] = max(middle[box] - widths[box] / 2, cursor), top
                cursor = x[box] + widths[box] + _GAP_COLUMNS
            shift = _mean([x[box] + widths[box] / 2 - middle[box] for box in line])
            for box in line:
                x[box] -= shift
            top += max(heights[box] for box in line) + _GAP_ROWS
    if has_others:
        x[-1] = min(x[:-1]) - widths[-1] - 2 * _GAP_COLUMNS
    return tuple(
        Box(x=round(x[box]), y=y[box], width=widths[box], first=firsts[box], num_rows=heights[box])
        for box in range(len(heights))
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _lines(members: list[int], widths: list[int]) -> list[list[int]]:
    """Wrap a layer's boxes like words, since a switch may have very many cases."""
    lines: list[list[int]] = []
    used = _MAX_LAYER_WIDTH
    for box in members:
        if used + widths[box] > _MAX_LAYER_WIDTH:
            lines.append([])
            used = 0
        lines[-1].append(box)
        used += widths[box] + _GAP_COLUMNS
    return lines
