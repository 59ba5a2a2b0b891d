"""SVG drawings of comparisons, for light and dark screens: figures with intervals.

Every drawing is a grid of panels, two to a row, with the names of methods on the left.
"""

import io
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ncc.errors import InputError
from ncc.system.files.text import escape_control
from ncc_lab.comparison import Result
from ncc_lab.frame import Kind
from ncc_lab.tables import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1a1b1c"
"""Stands for the color of text while drawing; the finished SVG has the reader's own in its place."""
LOOKS: dict[Kind, tuple[str, str]] = {
    "control": ("#8a8f96", "s"),
    "published": ("#3b8bd4", "o"),
    "ours": ("#dd6b20", "D"),
}
"""Color and shape of each kind of method: colors that the color-blind tell apart, legible on white and on black."""

_WIDTH_IN = 9.6
_PX_PER_IN = 96
_MAX_LETTERS = 38
_HEAD = (
    "<style>svg { color: #1d2126; } @media (prefers-color-scheme: dark) { svg { color: #e4e7ea; } }"
    " text { font-family: 'DejaVu Sans', Verdana, sans-serif !important; }</style>"
)
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ncc",
    "text.parse_math": False,  # names of methods are not formulas
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
} | dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), INK)


def clip(name: str, length: int = _MAX_LETTERS) -> str:
    """Return a name for a label; if it is too long, its middle is left out, as variants differ at the end."""
    name = escape_control(name).replace("\n", " ")
    end = length // 3
    return name if len(name) <= length else f"{name[: length - 1 - end]}…{name[-end:]}"


def draw_panels(
    titles: Sequence[str],
    paint: Callable[["Axes", int], None],
    *,
    height_in: float,
    alt: str = "",
) -> Picture:
    """Draw a grid of panels."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    if not titles:
        raise InputError("expected at least one panel to draw, found none")
    columns = min(2, len(titles))
    rows = -(-len(titles) // columns)
    size = (_WIDTH_IN, rows * height_in + 0.2)
    with rc_context(_SETTINGS), warnings.catch_warnings():
        # browsers find a font for what the one that measures text has no shapes of
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharex="all", sharey="row")
        for index, axes in enumerate(grid.flat):
            if index >= len(titles):
                axes.set_visible(False)
                continue
            axes.set_title(titles[index], loc="left")
            paint(axes, index)
            axes.tick_params(labelbottom=True)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    start, end = text.getvalue().split("<defs>", 1)
    svg = f"{start[start.index('<svg') :]}{_HEAD}<defs>{end}".replace(INK, "currentColor")
    return Picture(svg, round(size[0] * _PX_PER_IN), round(size[1] * _PX_PER_IN), alt)


def draw_comparison(results: Sequence[Result]) -> dict[str, Picture]:
    """Return the pictures of one task's results by title: the first three ranked figures."""
    ranked = [name for name, figure in results[0].task.figures.items() if figure.is_better_high][:3]
    return {name.replace("_", " ").capitalize(): draw_figure(results, name) for name in ranked}


def draw_figure(results: Sequence[Result], name: str) -> Picture:
    """Draw a figure of every method with its interval, a panel for each protocol; a broken line is a perfect choice."""
    figure = results[0].task.figures[name]
    panels: dict[str, list[Result]] = {}
    for result in results:
        panels.setdefault(result.protocol, []).append(result)
    names = list(dict.fromkeys(result.method for result in results))
    titles = list(panels)

    def paint(axes: "Axes", index: int) -> None:
        axes.set_yticks(range(len(names)), [clip(name) for name in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.grid(alpha=0.18, linewidth=0.6)
        axes.tick_params(length=0)
        axes.set_xlabel(name.replace("_", " "))
        if figure.unit == "%":
            axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
        else:
            axes.axvline(1.0, color=INK, linewidth=0.8)
            axes.axvline(panels[titles[index]][0].oracle.scores[""][name].value, color=INK, linewidth=1, linestyle="--")
        for result in panels[titles[index]]:
            estimate, row = result.scores[""][name], names.index(result.method)
            color, shape = LOOKS[result.kind]
            axes.plot([estimate.low, estimate.high], [row, row], color=color, linewidth=1.6, solid_capstyle="butt")
            axes.plot([estimate.value], [row], color=color, marker=shape, markersize=4.5)

    best = {title: max(some, key=lambda one: one.scores[""][name].value) for title, some in panels.items()}
    tops = (f"{title}: highest {one.method}, {figure.show(one.scores[''][name].value)}" for title, one in best.items())
    alt = f"{name.replace('_', ' ')} of every method, by protocol. {'; '.join(tops)}."
    return draw_panels(titles, paint, height_in=0.9 + 0.21 * len(names), alt=alt)
