"""SVG drawings for reports, for light and dark screens: dots with intervals, heat maps, curves.

Every drawing is a grid of panels, two to a row or as many as asked for, with the names of methods on the left.
"""

import base64
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.learning.heads.figures import Estimate
from ncc.system.files.text import printable
from ncc_lab.report.kinds import KIND_TITLES, S, highest
from ncc_lab.runs import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


INK = "#1a1b1c"
"""Stands for the colour of text while drawing; the finished SVG has the reader's own in its place."""

LOOKS: dict[Kind, tuple[str, str]] = {
    "control": ("#8a8f96", "s"),
    "published": ("#3b8bd4", "o"),
    "ours": ("#dd6b20", "D"),
}
"""Colour and shape of each kind of method: colours that the colour-blind tell apart, legible on white and on black."""

_WIDTH_IN = 9.6
_PX_PER_IN = 96
_LONGEST_NAME = 38
_MOST_LETTERS = 36  # below a panel, side by side
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
    "axes.labelsize": 9,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
} | dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), INK)


@dataclass(frozen=True)
class Picture:
    """A drawing.

    Args:
        svg: An SVG document that needs nothing else.
        width_px: Its natural width.
        height_px: Its natural height.
        alt: What it shows, for those who don't see it.
    """

    svg: str
    width_px: int
    height_px: int
    alt: str = ""

    @property
    def data_url(self) -> str:
        """The drawing as an address that holds it."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg.encode()).decode("ascii")


@dataclass(frozen=True, eq=False)
class Dot:
    """A figure of a method, or of a row of any other kind.

    Args:
        label: Name of the row that it is drawn in.
        kind: Decides on colour and shape.
        estimate: The figure with its interval.
        limit: What can be reached at most, a tick in the same row; None for none.
    """

    label: str
    kind: Kind
    estimate: Estimate
    limit: float | None = None


@dataclass(frozen=True, eq=False)
class Heat:
    """A table drawn in colours.

    Args:
        rows: Names of the rows.
        columns: Names of the columns.
        values: What the colours say, (rows, columns) float64; NaN leaves a cell blank.
        texts: What is printed in the cells, rows of columns.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats
    texts: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve of a method.

    Args:
        label: Its name in the legend; empty for one of the many in the background.
        kind: Decides on the colour.
        x: (k,) float64.
        y: (k,) float64.
    """

    label: str
    kind: Kind
    x: Floats
    y: Floats


def clipped(name: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name for a label; where it is too long, its middle is left out, as variants differ at the end."""
    name = printable(name).replace("\n", " ")
    end = longest // 3
    return name if len(name) <= longest else f"{name[: longest - 1 - end]}…{name[-end:]}"


def draw_panels(
    titles: Sequence[str],
    paint: Callable[["Axes", int], None],
    *,
    height_in: float,
    columns: int = 2,
    share: str | bool = False,
) -> Picture:
    """Draw a grid of panels.

    Args:
        titles: One for each panel.
        paint: Draws the panel of a number.
        height_in: Height of one row of panels, in inches.
        columns: Panels in a row, at most.
        share: "y" for one vertical axis in each row; "both" for one horizontal axis in all as well.

    Raises:
        InputError: There is no panel.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    if not titles:
        raise InputError("expected at least one panel to draw, found none")
    columns = min(columns, len(titles))
    rows = -(-len(titles) // columns)
    size = (_WIDTH_IN, rows * height_in + 0.2)
    with rc_context(_SETTINGS), warnings.catch_warnings():
        # browsers find a font for what the one that measures text has no shapes of
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(
            rows, columns, squeeze=False, sharey="row" if share else False, sharex="all" if share == "both" else False
        )
        for number, axes in enumerate(grid.flat):
            if number >= len(titles):
                axes.set_visible(False)
                continue
            axes.set_title(titles[number], loc="left")
            paint(axes, number)
            axes.tick_params(labelbottom=True)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    start, end = text.getvalue().split("<defs>", 1)
    svg = f"{start[start.index('<svg') :]}{_HEAD}<defs>{end}".replace(INK, "currentColor")
    return Picture(svg, round(size[0] * _PX_PER_IN), round(size[1] * _PX_PER_IN))


def draw_dots(
    panels: Mapping[str, Sequence[Dot]],
    label: str,
    *,
    lines: Mapping[str, float] | None = None,
    percent: bool = False,
    base: float | None = None,
    bars: bool = False,
    band: tuple[float, float] | None = None,
) -> Picture:
    """Draw figures with intervals, a row for each label, all panels on one scale.

    Args:
        panels: Title → what is in the panel.
        label: Of the horizontal axis.
        lines: Title of a panel → where a broken line marks what is best possible.
        percent: Whether the figures are shares, printed in percent.
        base: Where a full line is drawn; None for none.
        bars: Whether bars go from that line to the dots.
        band: Ends of a range that is shaded; None for none.
    """
    names = list(dict.fromkeys(dot.label for dots in panels.values() for dot in dots))
    titles = list(panels)

    def paint(axes: "Axes", number: int) -> None:
        axes.set_yticks(range(len(names)), [clipped(name) for name in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_axisbelow(True)
        axes.grid(alpha=0.18, linewidth=0.6)
        axes.tick_params(length=0)
        axes.set_xlabel(label)
        if percent:
            axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
        if base is not None:
            axes.axvline(base, color=INK, linewidth=0.8)
        if band:
            axes.axvspan(*band, color=LOOKS["published"][0], alpha=0.15, linewidth=0)
        if lines and titles[number] in lines:
            axes.axvline(lines[titles[number]], color=INK, linewidth=1, linestyle="--")
        for dot in panels[titles[number]]:
            _paint_dot(axes, dot, names.index(dot.label), base if bars else None)

    return draw_panels(titles, paint, height_in=0.9 + 0.21 * len(names), share="both")


def draw_scores(
    protocols: Mapping[str, Sequence[S]], title: str, pick: Callable[[S], Estimate], shown: str, **options: Any
) -> Picture:
    """Draw a figure of every method, a panel for each protocol; what stands for the picture names the highest.

    Args:
        protocols: Protocol → its scores.
        title: Name of the figure.
        pick: From a score to the figure.
        shown: Format of the figure.
        options: Of `draw_dots`.
    """
    panels = {
        protocol: [Dot(score.method, score.kind, pick(score)) for score in some] for protocol, some in protocols.items()
    }
    best = {protocol: highest(some, pick) for protocol, some in protocols.items()}
    said = "; ".join(
        f"{protocol}: highest {score.method} with {shown.format(pick(score).value)}" for protocol, score in best.items()
    )
    picture = draw_dots(panels, title.lower(), **options)
    return replace(picture, alt=f"{title} of every method, by protocol. {said}.")


def _paint_dot(axes: "Axes", dot: Dot, at: int, base: float | None) -> None:
    color, shape = LOOKS[dot.kind]
    if base is not None:
        axes.barh(at, dot.estimate.value - base, left=base, height=0.6, color=color, alpha=0.45)
    axes.plot([dot.estimate.low, dot.estimate.high], [at, at], color=color, linewidth=1.6, solid_capstyle="butt")
    axes.plot([dot.estimate.value], [at], color=color, marker=shape, markersize=4.5)
    if dot.limit is not None:
        axes.plot([dot.limit], [at], color=INK, marker="|", markersize=9)


def draw_heat(
    panels: Mapping[str, Heat], label: str, *, low: float = 0.0, columns: int = 2, row_in: float = 0.21
) -> Picture:
    """Draw tables in colours, with their numbers in the cells.

    Args:
        panels: Title → table; all have the same rows.
        label: What the colours say.
        low: Value of the darkest colour; the brightest is that of 1.
        columns: Panels in a row.
        row_in: Height of a table's row, in inches.
    """
    titles = list(panels)
    longest = max(len(name) for heat in panels.values() for name in heat.columns)
    upright = longest * max(len(heat.columns) for heat in panels.values()) > _MOST_LETTERS

    def paint(axes: "Axes", number: int) -> None:
        heat = panels[titles[number]]
        # not as an image, which is blurred when a page is magnified
        image = axes.pcolormesh(np.ma.masked_invalid(heat.values), cmap="cividis", vmin=low, vmax=1)
        axes.set_xticks(np.arange(len(heat.columns)) + 0.5, heat.columns, rotation=90 if upright else 0)
        axes.set_yticks(np.arange(len(heat.rows)) + 0.5, [clipped(name) for name in heat.rows])
        axes.set_ylim(len(heat.rows), 0)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        for row, texts in enumerate(heat.texts):
            for column, text in enumerate(texts):
                bright = heat.values[row, column] > low + 0.49 * (1 - low)
                color = "#101214" if bright else "#ffffff"
                color = color if np.isfinite(heat.values[row, column]) else INK
                axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=color, fontsize=7.5)
        if number % columns == columns - 1 or number == len(titles) - 1:
            figure = axes.get_figure()
            assert figure is not None
            bar = figure.colorbar(image, ax=axes, label=label, format=lambda value, _: f"{100 * value:.0f}%")
            bar.outline.set_visible(False)

    height = 0.6 + (0.075 * longest if upright else 0.15) + row_in * max(len(heat.rows) for heat in panels.values())
    return draw_panels(titles, paint, height_in=height, columns=columns, share="y")


def draw_curves(panels: Mapping[str, Sequence[Curve]], across: str, up: str, *, ticks: Sequence[float]) -> Picture:
    """Draw curves over a logarithmic axis of factors; those without a label thin and in the background.

    Args:
        panels: Title → curves.
        across: Label of the horizontal axis.
        up: Label of the vertical axis, that of a share.
        ticks: Of the horizontal axis.
    """
    titles = list(panels)

    def paint(axes: "Axes", number: int) -> None:
        for curve in sorted(panels[titles[number]], key=lambda curve: list(KIND_TITLES).index(curve.kind)):
            color = LOOKS[curve.kind][0]
            if curve.label:
                label = clipped(curve.label)
                axes.step(curve.x, curve.y, where="post", color=color, linewidth=1.8, label=label, zorder=3)
            else:
                axes.step(curve.x, curve.y, where="post", color=color, linewidth=0.6, alpha=0.35)
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
        axes.grid(alpha=0.18, linewidth=0.6)
        axes.legend(loc="lower right", frameon=False)

    return draw_panels(titles, paint, height_in=3.0, share="y")
