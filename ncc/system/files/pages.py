"""HTML pages made from the templates in ``ncc/templates``; everything inserted is escaped."""

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from ncc.system.files.text import printable

if TYPE_CHECKING:
    from jinja2 import Environment

SHOWN_ROWS = 20
"""Functions that a notebook shows of a module or of a graph."""


def render_page(template: str, *, package: str = "ncc", **values: object) -> str:
    """Return a whole HTML document that needs no other file.

    Args:
        template: Name of a template.
        package: Package whose ``templates`` has it; those of ncc are found, too.
        values: What it shows, by the names that it uses.
    """
    return _environment(package).get_template(template).render(values, contents=[])


def html_table(caption: str, heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table for a notebook; all that is put into it is escaped.

    Examples:
        >>> html_table("a", ["b"], [["<c>"]])
        '<table><caption>a</caption><tr><th>b</th></tr><tr><td>&lt;c&gt;</td></tr></table>'
    """

    def cells(tag: str, values: Sequence[object]) -> str:
        shown = (escape(printable(value, lines=False)) for value in values)
        return "<tr>" + "".join(f"<{tag}>{value}</{tag}>" for value in shown) + "</tr>"

    body = "".join(cells("td", row) for row in rows)
    return f"<table><caption>{escape(printable(caption, lines=False))}</caption>{cells('th', heading)}{body}</table>"


@cache
def _environment(package: str) -> "Environment":
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    return Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, "ncc"))]),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.do"],
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
    )
