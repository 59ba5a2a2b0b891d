"""Drawings of an XFG: a page of all functions of a module, and one function as SVG."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.errors import InputError
from ncc.ir.graph.layout import MAX_ROW_CHARS, Box, Drawing, Layout
from ncc.ir.graph.xfg import XFG, EdgeKind
from ncc.ir.reader.functions import find_function, sample_names
from ncc.system.files.pages import explorer_page, render_page
from ncc.system.files.text import demangle, escape_control

_COLORS = {"path": "#888888", "data": "#1f5fbf", "control": "#bf3f1f"}
_COLUMN_PX, _ROW_PX = 7.25, 18
"""Size of a character of the font; the page has the same."""
_MARGIN_PX = 60


def to_html(graph: XFG, function: str | None = None) -> str:
    """Return a self-contained page that draws one function at a time."""
    module = graph.module
    shown = module.first_kernel if function is None else find_function(module, function)
    layout = Layout(graph)
    data: dict[str, Any] = {f"functions/{i}": {"graph": function_data(layout, i)} for i in range(module.num_functions)}
    columns = {
        "name": list(map(demangle, module.function_names)),
        "statements": np.diff(module.function_start).tolist(),
    }
    title = escape_control(f"XFG of {module.name}", lines=False)
    return explorer_page(title, {"table": {"title": title, "shown": shown, "columns": columns}, **data})


def function_data(layout: Layout, function: int, rows_before: int = 0) -> dict[str, Any]:
    """Return a function as the page draws it; functions that it links to are counted from ``rows_before``."""
    module, drawing = layout.module, layout.draw(function)
    statement = drawing.statement
    texts, text_of = np.unique(module.text_id[statement[statement >= 0]], return_inverse=True)
    text = np.full(len(statement), -1)
    text[statement >= 0] = text_of
    line = np.append(module.source_line, np.int32(0))[statement]
    return {
        "labels": drawing.labels,
        "boxes": [number for box in drawing.boxes for number in (box.x, box.y, box.width, box.num_rows)],
        "texts": [escape_control(module.texts[one], lines=False) for one in texts.tolist()],
        "text": text.tolist(),
        "line": line.tolist(),
        "by": _differences(drawing.edge_row),
        "source": (drawing.source - drawing.edge_row).tolist(),
        "target": (drawing.target - drawing.edge_row).tolist(),
        "kind": drawing.kind.tolist(),
        "links": [other if other < 0 else other + rows_before for other in drawing.linked_function],
    }


def _differences(numbers: NDArray[Any]) -> list[int]:
    return np.diff(numbers, prepend=0).tolist()


def to_svg(graph: XFG, function: str | None = None) -> str:
    """Return one function as SVG: a box for each block, a row for each statement, edges colored by kind."""
    names = graph.module.function_names
    if not names:
        raise InputError(f"{graph.module.name}: a picture shows one function, but the module has none")
    if function is None and len(names) > 1:
        hint = f"name one of its {len(names)}: {sample_names(graph.module)}"
        raise InputError(f"{graph.module.name}: a picture shows one function; {hint}")
    drawing = Layout(graph).draw(0 if function is None else find_function(graph.module, function))
    left, right = min(box.x for box in drawing.boxes), max(box.x + box.width for box in drawing.boxes)
    height = max(box.y + box.num_rows for box in drawing.boxes) * _ROW_PX + 2 * _MARGIN_PX
    width = round((right - left) * _COLUMN_PX) + 2 * _MARGIN_PX
    return render_page(
        "graph.svg.j2",
        name=drawing.name,
        view=(round(left * _COLUMN_PX) - _MARGIN_PX, -_MARGIN_PX, width, height),
        boxes=[_svg_box(drawing, box) for box in drawing.boxes],
        edges=_svg_edges(drawing),
        colors=_COLORS,
        row_px=_ROW_PX,
    )


def _svg_box(drawing: Drawing, box: Box) -> dict[str, Any]:
    labels = drawing.labels[box.first : box.first + box.num_rows]
    rows = [label if len(label) <= MAX_ROW_CHARS else f"{label[: MAX_ROW_CHARS - 1]}…" for label in labels]
    return {"x": box.x * _COLUMN_PX, "y": box.y * _ROW_PX, "width": box.width * _COLUMN_PX, "rows": rows}


def _svg_edges(drawing: Drawing) -> list[tuple[str, str, str]]:
    """Return kind, path and title of each edge."""
    edges = []
    rows = zip(edge_curves(drawing), drawing.edge_row.tolist(), drawing.kind.tolist(), strict=True)
    for curve, row, kind in rows:
        numbers = [f"{number:.1f}" for number in curve]
        path = f"M{' '.join(numbers[:2])}C{' '.join(numbers[2:])}"
        edges.append((EdgeKind(kind).name.lower(), path, drawing.labels[row]))
    return edges


def edge_curves(drawing: Drawing) -> list[tuple[float, ...]]:
    """Return a Bézier curve for each edge, in pixels: x and y of its start, its two handles and its end."""
    box_of = list(itertools.chain.from_iterable([box] * box.num_rows for box in drawing.boxes))
    ends = zip(drawing.source.tolist(), drawing.target.tolist(), drawing.kind.tolist(), strict=True)
    return [_curve(box_of[source], source, box_of[target], target, kind) for source, target, kind in ends]


def _curve(box: Box, source: int, other: Box, target: int, kind: int) -> tuple[float, ...]:
    """Route an edge from row to row; inside a box it runs on the right for data, else on the left."""
    left, right = box.x * _COLUMN_PX, (box.x + box.width) * _COLUMN_PX
    y1 = (box.y + source - box.first + 0.5) * _ROW_PX
    y2 = (other.y + target - other.first + 0.5) * _ROW_PX
    if box is other:
        side, direction = (right, 1) if kind == EdgeKind.DATA else (left, -1)
        reach = side + direction * min(10 + 4 * abs(target - source), 90)
        return side, y1, reach, y1, reach, y2, side, y2
    other_left, other_right = other.x * _COLUMN_PX, (other.x + other.width) * _COLUMN_PX
    is_right = other_left + other_right > left + right
    x1, direction = (right, 1) if is_right else (left, -1)
    if target == other.first:  # a label, from above
        x2, y2 = (other_left + other_right) / 2, y2 - _ROW_PX / 2
        return x1, y1, x1 + direction * 40, y1, x2, y2 - 40, x2, y2
    apart = other_left > right if is_right else other_right < left
    x2, back = (other_left, -1) if is_right == apart else (other_right, 1)
    return x1, y1, x1 + direction * 40, y1, x2 + back * 40, y2, x2, y2
