"""HTML pages, made of the templates in ``ncc/templates``; all that is put into a page is escaped."""

from functools import cache
from typing import TYPE_CHECKING

from ncc.runtime.printable import printable

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_page"]


def render_page(template: str, **values: object) -> str:
    """Return a whole HTML document that needs no other file.

    Args:
        template: Name of a template in ``ncc/templates``.
        values: What it shows, by the names that it uses.
    """
    return _environment().get_template(template).render(values, contents=[])


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    return Environment(
        loader=PackageLoader("ncc"),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.do"],
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
    )
