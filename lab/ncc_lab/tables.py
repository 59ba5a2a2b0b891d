"""Tables for people: pandas frames of texts with a caption, as plain text and as HTML, and the page of a report."""

import base64
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from ncc.system.files.pages import html_table, render_page
from ncc.system.files.text import align_columns, escape_control


@dataclass(frozen=True, eq=False)
class Table:
    """A table of texts."""

    caption: str
    frame: pd.DataFrame

    def to_text(self) -> str:
        """Return the table as plain text: its caption, then columns as wide as they have to be."""
        names = [str(name) for name in self.frame.columns]
        rows = [
            ["", *names],
            *([str(name), *map(str, row)] for name, row in zip(self.frame.index, self.frame.to_numpy(), strict=True)),
        ]
        lines = align_columns([[escape_control(cell, lines=False) for cell in row] for row in rows], left={0})
        return "\n".join([self.caption, *lines] if self.caption else lines)

    def to_html(self) -> str:
        """Return the table as HTML; everything in it is escaped."""
        rows = zip(self.frame.index, self.frame.to_numpy(), strict=True)
        return html_table(self.caption, ["", *map(str, self.frame.columns)], ([name, *row] for name, row in rows))


def table(caption: str, rows: Mapping[str, Sequence[str]], columns: Sequence[str], heading: str = "") -> Table:
    """Return a table from texts: name of a row → its cells."""
    frame = pd.DataFrame.from_dict(dict(rows), orient="index", columns=list(columns)).rename_axis(heading or "name")
    return Table(caption, frame)


@dataclass(frozen=True)
class Picture:
    """A drawing."""

    svg: str
    width_px: int
    height_px: int
    alt: str = ""

    @property
    def data_url(self) -> str:
        """The drawing as an address that holds it."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg.encode()).decode("ascii")


class Tabular(ABC):
    """Figures that are shown as tables and texts."""

    @abstractmethod
    def parts(self) -> list[Table | str]:
        """Return tables and texts for people."""

    def to_text(self) -> str:
        """Return the same as plain text."""
        return text_of(self.parts())

    def _repr_html_(self) -> str:
        return html_of(self.parts())


def text_of(parts: Iterable[Table | str]) -> str:
    """Return tables and texts as plain text."""
    return "\n\n".join(part if isinstance(part, str) else part.to_text() for part in parts)


def html_of(parts: Iterable[Table | str]) -> str:
    """Return tables and texts as HTML."""
    return "\n".join(
        f"<p>{escape(escape_control(one))}</p>" if isinstance(one, str) else one.to_html() for one in parts
    )


def page(title: str, parts: Iterable[Table | str], pictures: Mapping[str, Picture], about: Mapping[str, Any]) -> str:
    """Return a self-contained HTML page."""
    from markupsafe import Markup

    main = Markup(html_of(parts))
    return render_page("report.html.j2", package="ncc_lab", title=title, main=main, pictures=pictures, about=about)
