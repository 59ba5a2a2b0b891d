"""Draws the README's picture with ncc, of a kernel's source, graph and speedup over sizes of data, and its badges.

``python docs/picture.py`` writes ``docs/picture-*.svg`` and ``docs/badges``.
"""

import math
import re
import textwrap
import tomllib
from collections.abc import Sequence
from html import escape
from pathlib import Path

import ncc
from ncc.ir.graph.draw import edge_curves
from ncc.ir.graph.layout import Drawing, Layout

ROOT = Path(__file__).parents[1]
KERNEL = "datasets/samples/matmul.cl"
TRANSFER = 256e6
WIDTH, HEIGHT, TOP = 1200, 400, 40
SOURCE, GRAPH, CURVE = (16, 500), (540, 300), (866, 318)
"""Left edge and width of each panel."""
THEMES = {
    "light": {"ink": "#1d2126", "faint": "#8b949e", "line": "#d0d7de", "paper": "#ffffff", "cpu": "#b35900",
              "gpu": "#0a7d5a", "path": "#8b949e", "data": "#1f5fbf", "control": "#bf3f1f"},
    "dark": {"ink": "#e6edf3", "faint": "#8b949e", "line": "#30363d", "paper": "#0d1117", "cpu": "#f0a050",
             "gpu": "#3fc79a", "path": "#6e7681", "data": "#6ea8fe", "control": "#ff8f70"},
}  # fmt: skip
KINDS = ("path", "data", "control")
FIRST, LAST = 2.0**16, 2.0**30
"""Bytes moved, at both ends of the curve."""


def draw(theme: str) -> str:
    """Return the picture as SVG."""
    colors = THEMES[theme]
    [answer] = ncc.predict_device(ROOT / KERNEL, transfer=TRANSFER)
    options = ncc.CompileOptions(debug_lines=True)
    graph = Layout(ncc.build_graph(ROOT / KERNEL, options=options)).draw(0)
    panels = [
        _source(answer.explain(), colors),
        _graph(graph, colors),
        _curve(answer.curve(), answer.platform, colors),
    ]
    heads = zip((SOURCE, GRAPH, CURVE), ("source", "contextual flow graph", "speedup over data moved"), strict=True)
    titles = [_text(left, 24, title, colors["faint"], size=15, family="sans") for (left, _), title in heads]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
            f"<title>{answer.kernel}: from source to graph to answer</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{colors["paper"]}"/>',
            *titles,
            *panels,
            "</svg>\n",
        ]
    )


def _text(
    x: float, y: float, text: str, color: str, *, size: float = 11, anchor: str = "start", family: str = "mono"
) -> str:
    fonts = {
        "mono": "ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace",
        "sans": "system-ui,DejaVu Sans,sans-serif",
    }
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" font-family="{fonts[family]}" fill="{color}" '
        f'text-anchor="{anchor}" xml:space="preserve">{escape(text)}</text>'
    )


def _source(explanation: "ncc.Explanation", colors: dict[str, str]) -> str:
    """Lines of the source, shaded by how much each of them drove the answer, and towards which device."""
    left, width = SOURCE
    effects = {line.line: line.log_ratio_change for line in explanation.lines if line.line}
    most = max(map(abs, effects.values()))
    parts = []
    lines = enumerate((ROOT / KERNEL).read_text(encoding="utf-8").splitlines(), 1)
    code = [(number, line) for number, line in lines if not line.startswith("//")]
    rows = [(number, row) for number, line in code for row in textwrap.wrap(line, 78, subsequent_indent=" " * 20)]
    step = (HEIGHT - TOP - 16) / len(rows)
    for index, (number, row) in enumerate(rows):
        y = TOP + index * step
        change = effects.get(number, 0.0)
        if abs(change) >= math.log(1.05):
            color = colors["gpu" if change > 0 else "cpu"]
            opacity = round(0.12 + 0.38 * abs(change) / most, 2)
            corners = [(left, y), (left + width, y), (left + width, y + step), (left, y + step)]
            parts.append(_path(corners, fill=color, fill_opacity=opacity))
        parts.append(_text(left + 4, y + step * 0.7, row, colors["ink"], size=10.5))
    return "\n".join(parts)


def _graph(drawing: Drawing, colors: dict[str, str]) -> str:
    """The function's blocks as boxes of operations, and its edges; half as wide as they are drawn elsewhere."""
    left, width = GRAPH
    column, row_px = 5.4, 18
    x0 = min(box.x for box in drawing.boxes)
    span = max(box.x + box.width for box in drawing.boxes) - x0
    rows = max(box.y + box.num_rows for box in drawing.boxes)
    scale = min(width / (span * column), (HEIGHT - TOP - 16) / (rows * row_px))
    shift = left + width / 2 - scale * (x0 + span / 2) * column
    parts = [f'<g transform="translate({shift:.1f} {TOP}) scale({scale:.4f})">']
    for curve, kind in zip(edge_curves(drawing), drawing.kind.tolist(), strict=True):
        numbers = [f"{number * (column / 7.25 if index % 2 == 0 else 1):.0f}" for index, number in enumerate(curve)]
        path = f"M{' '.join(numbers[:2])}C{' '.join(numbers[2:])}"
        parts.append(f'<path d="{path}" fill="none" stroke="{colors[KINDS[kind]]}" stroke-width="2.2"/>')
    for box in drawing.boxes:
        parts.append(
            f'<rect x="{box.x * column:.0f}" y="{box.y * row_px}" width="{box.width * column:.0f}" '
            f'height="{box.num_rows * row_px}" rx="5" fill="{colors["paper"]}" stroke="{colors["faint"]}"/>'
        )
        for row, label in enumerate(drawing.labels[box.first : box.first + box.num_rows]):
            text = _operation(label)[: int(box.width * column / 9)]
            parts.append(_text(box.x * column + 6, (box.y + row) * row_px + 14, text, colors["ink"], size=14))
    return "\n".join([*parts, "</g>"])


def _operation(statement: str) -> str:
    """Short name of a statement: its opcode, and the function that it calls."""
    callee = re.search(r"\bcall\b[^@]*@(?:_Z\d+(\w+)[a-z]|([\w.]+))", statement)
    opcode = re.sub(r"^(?:%\S+ = )?(?:tail )?", "", statement).partition(" ")[0]
    return (callee[1] or callee[2]) if callee else {"define": "entry"}.get(opcode, opcode)


def _curve(curve: "ncc.DeviceCurve", platform: str, colors: dict[str, str]) -> str:
    """Expected speedup over bytes moved and its 80% interval, thick where that is on one side of 1."""
    left, width = CURVE[0] + 56, CURVE[1] - 56
    top, bottom = TOP, HEIGHT - 46
    shown = (curve.transfer_bytes >= FIRST) & (curve.transfer_bytes <= LAST)
    low, high = curve.low[shown], curve.high[shown]
    bound = max(float((1 / low).max()), float(high.max()))
    tick = 10.0 ** math.floor(math.log10(bound))

    def y_of(ratio: float) -> float:
        return (top + bottom) / 2 - (bottom - top) / 2 * math.log(ratio) / math.log(bound)

    def x_of(size: float) -> float:
        return left + width * math.log(size / FIRST) / math.log(LAST / FIRST)

    xs = [x_of(size) for size in curve.transfer_bytes[shown]]
    ends = [*zip(xs, map(y_of, low), strict=True), *reversed([*zip(xs, map(y_of, high), strict=True)])]
    middle = [*zip(xs, map(y_of, curve.speedup_gpu_over_cpu[shown]), strict=True)]
    parts = [
        _path(ends, fill=colors["data"], fill_opacity=0.16),
        _path(middle, fill="none", stroke=colors["data"], stroke_width=2),
    ]
    for device, decided in (("gpu", low > 1), ("cpu", high < 1)):
        if decided.sum() > 1:
            points = [point for point, is_decided in zip(middle, decided, strict=True) if is_decided]
            parts.append(_path(points, fill="none", stroke=colors[device], stroke_width=6))
    for ratio, label in ((1.0, "1x"), (tick, f"GPU {tick:g}x"), (1 / tick, f"CPU {tick:g}x")):
        y = y_of(ratio)
        parts.append(_path([(left, y), (left + width, y)], stroke=colors["faint" if ratio == 1 else "line"]))
        parts.append(_text(left - 4, y + 4, label, colors["faint"], size=12, anchor="end", family="sans"))
    for size, label in ((2.0**16, "64 KiB"), (2.0**20, "1 MiB"), (2.0**24, "16 MiB"), (2.0**28, "256 MiB")):
        parts.append(_text(x_of(size), bottom + 16, label, colors["faint"], size=12, anchor="middle", family="sans"))
    note = f"80% interval, thick where decided ({platform})"
    return "\n".join([*parts, _text(left, HEIGHT - 10, note, colors["faint"], size=12, family="sans")])


def _path(points: Sequence[tuple[float, float]], **style: object) -> str:
    settings = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in style.items())
    return f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" {settings}/>'


def draw_badge(label: str, value: str) -> str:
    """Return a badge as SVG."""
    left, right = 12 + 6.3 * len(label), 12 + 6.3 * len(value)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:.0f}" height="20" role="img">',
            f"<title>{label}: {value}</title>",
            f'<rect width="{left + right:.0f}" height="20" rx="3" fill="#2f6f9f"/>',
            f'<path d="M3 0H{left:.0f}V20H3A3 3 0 0 1 0 17V3A3 3 0 0 1 3 0Z" fill="#4b5563"/>',
            _text(left / 2, 14, label, "#fff", anchor="middle", family="sans"),
            _text(left + right / 2, 14, value, "#fff", anchor="middle", family="sans"),
            "</svg>\n",
        ]
    )


def badges() -> dict[str, str]:
    """Texts of the README's badges, from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    first, last = re.findall(r"3\.(\d+)", project["requires-python"])
    versions = f"3.{first} to 3.{int(last) - 1}"
    return {"version": project["version"], "python": versions, "license": project["license"], "llvm": "3.7 to 22"}


if __name__ == "__main__":
    for theme in THEMES:
        (ROOT / f"docs/picture-{theme}.svg").write_text(draw(theme), encoding="utf-8")
    for label, value in badges().items():
        (ROOT / f"docs/badges/{label}.svg").write_text(draw_badge(label, value), encoding="utf-8")
