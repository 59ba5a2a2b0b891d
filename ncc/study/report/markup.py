"""Pieces of an HTML page: elements, tables, figures. Every string is escaped unless it is HTML already."""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass

from ncc.runtime.pages import printable
from ncc.study.bootstrap import Estimate
from ncc.study.report.drawing import Picture

__all__ = ["Cell", "Html", "Row", "element", "estimate_cell", "figure", "join", "table"]


class Html(str):
    """Text that is HTML already, and is put into a page as it stands."""

    __slots__ = ()


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Args:
        text: What is in it.
        note: Smaller text below.
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
    cells: Sequence[Cell | str]
    note: str = ""
    style: str = ""


def element(tag: str, *children: object, **attributes: str) -> Html:
    """Return an element.

    Args:
        tag: Its name.
        children: What is inside: `Html` as it stands, all else escaped.
        attributes: Their values are escaped; of names, `class_` stands for class and `aria_label` for aria-label.

    Examples:
        >>> element("p", "a < b, ", element("b", "true"), class_="note")
        '<p class="note">a &lt; b, <b>true</b></p>'
    """
    pairs = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    inside = "".join(f' {name}="{html.escape(printable(value))}"' for name, value in pairs)
    return Html(f"<{tag}{inside}>{join(*children)}</{tag}>")


def join(*children: object) -> Html:
    """Return parts one after the other: `Html` as it stands, all else escaped."""
    return Html(
        "".join(child if isinstance(child, Html) else html.escape(printable(child), quote=False) for child in children)
    )


def table(caption: str, columns: Sequence[str], rows: Sequence[Row], *, groups: Sequence[tuple[str, int]] = ()) -> Html:
    """Return a table that scrolls sideways where the screen is narrow.

    Args:
        caption: What it shows; also its name for those who don't see it.
        columns: Headings, that of the rows' titles first.
        rows: The rows.
        groups: Headings above those of the columns but the first, each with the number of columns that it spans.
    """
    head = element("tr", *(element("th", title, scope="col") for title in columns))
    spans = []
    if groups:
        spans = [element("colgroup", span="1"), *(element("colgroup", span=str(span)) for _, span in groups)]
        above = (
            element("th", title, scope="colgroup", colspan=str(span)) if title else element("td", colspan=str(span))
            for title, span in groups
        )
        titles = (element("th", title, scope="col") for title in columns[1:])
        corner = element("th", columns[0], scope="col", rowspan="2")
        head = join(element("tr", corner, *above), element("tr", *titles))
    body = (element("tr", _row_heading(row), *map(_data, row.cells), class_=row.style or "plain") for row in rows)
    words = element("caption", element("span", caption))
    inside = element("table", words, *spans, element("thead", head), element("tbody", *body))
    return _scrolling(inside, caption)


def _row_heading(row: Row) -> Html:
    note = element("span", row.note, class_="note") if row.note else ""
    return element("th", row.title, note, scope="row")


def _data(cell: Cell | str) -> Html:
    if isinstance(cell, str):
        return element("td", cell)
    note = element("span", cell.note, class_="note") if cell.note else ""
    if cell.is_best:
        return element(
            "td", element("strong", cell.text), element("span", " best", class_="unseen"), note, class_="best"
        )
    return element("td", cell.text, note, class_="name" if cell.is_name else "figure")


def estimate_cell(estimate: Estimate, *, percent: bool, is_best: bool = False) -> Cell:
    """Return the cell of a figure, with its interval below."""
    factor, unit, places = (100, " %", 1) if percent else (1, "×", 2)
    interval = f"{factor * estimate.low:.{places}f}–{factor * estimate.high:.{places}f}"
    return Cell(f"{factor * estimate.value:.{places}f}{unit}", interval, is_best)


def figure(picture: Picture, title: str, alt: str, *reading: str) -> Html:
    """Return a picture with its title and with paragraphs that say how to read it.

    Args:
        picture: The drawing.
        title: Its title.
        alt: What it shows, for those who don't see it.
        reading: The paragraphs.
    """
    data = base64.b64encode(picture.svg.encode()).decode("ascii")
    source = Html(
        f'<img src="data:image/svg+xml;base64,{data}" width="{picture.width_px}" height="{picture.height_px}" '
        f'alt="{html.escape(printable(alt))}">'
    )
    words = element("figcaption", element("strong", title), *(element("p", text) for text in reading))
    return element("figure", words, _scrolling(source, title))


def _scrolling(inside: Html, label: str) -> Html:
    # what scrolls must be reached by keyboard, and then have a name
    return element("div", inside, class_="wide", tabindex="0", role="region", aria_label=label)
