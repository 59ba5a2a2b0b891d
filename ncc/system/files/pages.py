"""HTML pages from the templates in ``ncc/templates``, and tables for notebooks; all inserted text is escaped."""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ncc.system.files.text import escape_control, escape_html

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(template: str, *, package: str = "ncc", **values: object) -> str:
    """Render a whole HTML document from a template of a package or of ncc."""
    return _environment(package).get_template(template).render(values, contents=[])


def pack(value: object) -> str:
    """Return data as the explorer's page reads them: JSON, deflated, in base 64."""
    return base64.b64encode(zlib.compress(json.dumps(value, separators=(",", ":")).encode())).decode()


def explorer_page(title: str, data: Mapping[str, object]) -> str:
    """Return the page of functions, and the contents of its data files by name."""
    from markupsafe import Markup

    sources = Path(__file__).parents[2] / "templates" / "explore"
    script = "\n".join(path.read_text(encoding="utf-8") for path in sorted(sources.glob("*.js")))
    return render_page(
        "explore.html.j2",
        title=title,
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data={name: pack(value) for name, value in data.items()},
    )


def html_table(caption: str, heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table for a notebook."""

    def cells(tag: str, values: Sequence[object]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape_html(value)}</{tag}>" for value in values) + "</tr>"

    body = "".join(cells("td", row) for row in rows)
    return f"<table><caption>{escape_html(caption)}</caption>{cells('th', heading)}{body}</table>"


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
        finalize=lambda value: value if isinstance(value, Markup) else escape_control(value),
    )
