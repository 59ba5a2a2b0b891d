"""Tables of reports: built once from scores, then shown as HTML in a page or as text in a terminal."""

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ncc.system.files.columns import aligned
from ncc.system.files.pages import html_table
from ncc.system.files.text import printable
from ncc_lab.report.kinds import KIND_TITLES, S
from ncc_lab.runs import Kind

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from ncc_lab.evaluation import Score

NONE = "–"
"""What stands where there is no figure."""

_NARROWEST = 9  # letters of a heading, before it is broken into lines

T = TypeVar("T")


class Ranged(Protocol):
    """A figure with the ends of its range, such as an `Estimate`."""

    @property
    def value(self) -> float:
        """The figure."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Args:
        text: What is in it.
        note: Smaller text below; in brackets where a table is text.
        is_best: Whether to mark it as the best of its column.
        is_name: Whether it is a name, not a figure, and may be broken into lines.
    """

    text: str
    note: str = ""
    is_best: bool = False
    is_name: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Args:
        title: The row's heading.
        cells: One for each column but the first.
        note: What kind of row it is, printed beside the heading.
        style: Name of the row's class, of the page's style sheet.
    """

    title: str
    cells: Sequence[Cell]
    note: str = ""
    style: str = ""


@dataclass(frozen=True)
class Table:
    """A table.

    Args:
        caption: What it shows; also its name for those who don't see it.
        columns: Headings, that of the rows' titles first.
        rows: The rows.
        groups: Headings above those of the columns but the first, each with the number of columns that it spans.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Row]
    groups: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True)
class Column(Generic[T]):
    """A column of a table of scores.

    Args:
        title: Its heading.
        pick: From a score to what the column shows of it; a `Cell` is shown as it is.
        unit: "%" for a share, "×" for a ratio, or empty.
        places: Decimal places.
        is_ranked: Whether the highest figure is marked.
        group: Heading above those of several columns.
    """

    title: str
    pick: Callable[[T], Cell | Ranged | float | str | None]
    unit: str = ""
    places: int = 1
    is_ranked: bool = False
    group: str = ""


def show(figure: Cell | Ranged | float | str | None, unit: str = "", places: int = 1, *, is_best: bool = False) -> Cell:
    """Return the cell of a figure, with its range below.

    Examples:
        >>> show(0.5, "%"), show(None)
        (Cell(text='50.0%', note='', is_best=False, is_name=False), Cell(text='–', note='', is_best=False, \
is_name=False))
    """
    if figure is None:
        return Cell(NONE)
    if isinstance(figure, Cell):
        return figure
    if isinstance(figure, str):
        return Cell(figure)
    factor, sign = (100, "%") if unit == "%" else (1, unit)
    if isinstance(figure, (int, float)):
        return Cell(f"{factor * figure:,.{places}f}{sign}", is_best=is_best)
    value, low, high = (f"{factor * end:,.{places}f}" for end in (figure.value, figure.low, figure.high))
    return Cell(value + sign, f"{low}–{high}", is_best)


def table_of(
    caption: str,
    columns: Sequence[Column[T]],
    scores: Sequence[T],
    *,
    heading: str = "method",
    row: Callable[[T, Sequence[Cell]], Row],
) -> Table:
    """Return a table with a row for each score.

    Args:
        caption: What it shows.
        columns: What it shows of each score.
        scores: The scores.
        heading: Heading of the rows' titles.
        row: Makes the row of a score from its cells.
    """
    groups: list[tuple[str, int]] = []
    for column in columns:
        if groups and groups[-1][0] == column.group:
            groups[-1] = (column.group, groups[-1][1] + 1)
        else:
            groups.append((column.group, 1))
    shown = [_cells(column, scores) for column in columns]
    rows = [row(score, cells) for score, cells in zip(scores, zip(*shown, strict=True), strict=True)]
    titles = [heading, *(column.title for column in columns)]
    return Table(caption, titles, rows, groups if any(column.group for column in columns) else ())


def score_row(score: "Score[Any]", cells: Sequence[Cell]) -> Row:
    """Return a method's row."""
    return Row(score.method, cells, note=KIND_TITLES[score.kind], style=score.kind)


def table_of_kinds(
    caption: str, heading: str, columns: Sequence[Column[S]], best: Mapping[str, Mapping[Kind, S]]
) -> Table:
    """Return a table with the best method of each kind side by side; the best of a row are marked.

    Args:
        caption: What it shows.
        heading: Heading of the rows' titles.
        columns: What it shows of each score.
        best: Title of a row → kind → the best score.
    """
    rows = []
    for title, of_kind in best.items():
        shown = zip(*(_cells(column, list(of_kind.values())) for column in columns), strict=True)
        cells = dict(zip(of_kind, shown, strict=True))
        row: list[Cell] = []
        for kind in KIND_TITLES:
            there = kind in of_kind
            row.append(Cell(of_kind[kind].method, is_name=True) if there else Cell(NONE))
            row += cells[kind] if there else [Cell(NONE)] * len(columns)
        rows.append(Row(title, row))
    titles = [heading] + ["method", *(column.title for column in columns)] * len(KIND_TITLES)
    return Table(caption, titles, rows, [(title, 1 + len(columns)) for title in KIND_TITLES.values()])


def _cells(column: Column[T], scores: Sequence[T]) -> list[Cell]:
    picked = [column.pick(score) for score in scores]
    figures = [_number(figure) for figure in picked]
    known = [figure for figure in figures if figure is not None]
    best = max(known) if column.is_ranked and known else None
    return [
        show(figure, column.unit, column.places, is_best=best is not None and number == best)
        for figure, number in zip(picked, figures, strict=True)
    ]


def _number(figure: Cell | Ranged | float | str | None) -> float | None:
    if figure is None or isinstance(figure, (Cell, str)):
        return None
    return figure if isinstance(figure, (int, float)) else figure.value


def text_of(parts: Iterable[Table | str]) -> str:
    """Return tables and texts for a file or a pipe."""
    return "\n\n".join(part if isinstance(part, str) else to_text(part) for part in parts)


class Tabular(ABC):
    """Figures that are told as tables and texts."""

    @abstractmethod
    def parts(self) -> list[Table | str]:
        """Tables and texts for people."""

    def to_text(self) -> str:
        """The same as plain text."""
        return text_of(self.parts())

    def _repr_html_(self) -> str:
        return html_of(self.parts())


def html_of(parts: Iterable[Table | str]) -> str:
    """Return tables and texts for a notebook."""
    return "".join(
        f"<p>{escape(printable(part))}</p>"
        if isinstance(part, str)
        else html_table(
            part.caption,
            [" ".join(filter(None, heading)) for heading in zip(_groups(part), part.columns, strict=True)],
            ([row.title, *map(_plain, row.cells)] for row in part.rows),
        )
        for part in parts
    )


def to_text(table: Table) -> str:
    """Return a table as plain text: its caption, then columns as wide as they have to be."""
    names = _names(table)
    columns = []
    for number, heading in enumerate(zip(_groups(table), table.columns, strict=True)):
        body = [_plain(row.cells[number - 1]) if number else row.title for row in table.rows]
        columns.append((_broken(*heading, body), body))
    height = max(len(heading) for heading, _ in columns)
    padded = ([""] * (height - len(heading)) + heading + body for heading, body in columns)
    lines = aligned(list(zip(*padded, strict=True)), left=names)
    return "\n".join([table.caption, *lines] if table.caption else lines)


def to_rich(table: Table) -> "RichTable":
    """Return a table for a terminal, which may break names and headings into lines."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    names = _names(table)
    shown = RichTable(title=Text(table.caption), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for number, heading in enumerate(zip(_groups(table), table.columns, strict=True)):
        body = [text for row in table.rows for cell in row.cells[max(number - 1, 0) :][:1] for text in _lines(cell)]
        shown.add_column(
            Text(printable("\n".join(_broken(*heading, body)))),
            justify="left" if number in names else "right",
            no_wrap=number not in names,
            overflow="fold",
            min_width=None if number else 16,
        )
    for row in table.rows:
        cells = (Text(printable("\n".join(_lines(cell))), "bold" if cell.is_best else "") for cell in row.cells)
        shown.add_row(Text(printable(row.title)), *cells)
    return shown


def _groups(table: Table) -> list[str]:
    """What stands above the heading of each column: the group, above the first of its columns."""
    groups = table.groups or [("", len(table.columns) - 1)]
    return ["", *(group if first else "" for group, span in groups for first in [True, *[False] * span][:span])]


def _names(table: Table) -> set[int]:
    """Columns of names."""
    return {0} | {number for row in table.rows for number, cell in enumerate(row.cells, 1) if cell.is_name}


def _broken(group: str, title: str, body: Sequence[str]) -> list[str]:
    """A heading in lines not much wider than what stands below it, the group's above."""
    widest = max([_NARROWEST, *map(len, body)])
    lines = textwrap.wrap(title, widest, break_long_words=False)
    return [group, *lines] if group else lines


def _lines(cell: Cell) -> list[str]:
    """What is in a cell, and the note below."""
    return [f"{'★ ' if cell.is_best else ''}{cell.text}", *filter(None, [cell.note])]


def _plain(cell: Cell) -> str:
    text, *note = _lines(cell)
    return " ".join([text, *(f"({one})" for one in note)])
