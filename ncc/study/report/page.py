"""The page around a report: heading, contents, what was run, sections, style for light and dark screens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ncc.study.report.markup import Html, element, join

__all__ = ["Section", "provenance", "render_page"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2126; --dim: #59626c; --paper: #ffffff; --line: #d5dae0; --best: #e3f1e6;
  --control: #f2f3f5; --ours: #fdf1e7; --link: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ea; --dim: #a3acb6; --paper: #15181c; --line: #3a424b; --best: #1f3d29; --control: #1d2126;
    --ours: #33261a; --link: #7db8f2; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1rem; max-width: 62rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.3rem; margin-top: 2.5rem; } h3 { font-size: 1.1rem; }
p, dl, li { max-width: 46rem; }
a { color: var(--link); }
dt { font-weight: 600; } dd { margin: 0 0 .5rem; overflow-wrap: anywhere; }
.wide { position: relative; overflow-x: auto; margin: .75rem 0; }
.wide:focus-visible, summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
caption span { display: block; max-width: min(46rem, 100vw - 2rem); }
tr { background: var(--paper); }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
thead th { vertical-align: bottom; white-space: normal; } thead th[colspan] { text-align: center; }
thead tr:first-child th:first-child, tbody th { text-align: left; position: sticky; left: 0; background: inherit; }
tbody th { font-weight: 500; white-space: normal; min-width: 10rem; overflow-wrap: anywhere; }
.note { display: block; font-size: .75rem; font-weight: 400; color: var(--dim); }
tr.control { background: var(--control); } tr.ours { background: var(--ours); } tr.oracle { font-style: italic; }
td.name { text-align: left; white-space: normal; min-width: 8rem; overflow-wrap: anywhere; }
td.best { background: var(--best); } td.best strong::after { content: " \\2605"; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
figure { margin: 1.5rem 0; } figcaption p { margin: .4rem 0; }
figure img { display: block; width: 100%; min-width: 40rem; height: auto; }
summary { cursor: pointer; font-weight: 600; padding: .25rem 0; }
@media print { .wide { overflow: visible; } figure img { min-width: 0; } }
"""


@dataclass(frozen=True)
class Section:
    """A part of the report.

    Args:
        title: Its heading.
        parts: What is in it.
    """

    title: str
    parts: Sequence[Html]


def render_page(title: str, introduction: Sequence[str], sections: Sequence[Section]) -> str:
    """Return a whole HTML document that needs no other file and no net.

    Args:
        title: Of the document.
        introduction: Paragraphs below it.
        sections: The rest, with a list of contents before it.
    """
    anchors = [f"part-{number + 1}" for number in range(len(sections))]
    links = (
        element("li", element("a", section.title, href=f"#{anchor}"))
        for anchor, section in zip(anchors, sections, strict=True)
    )
    body = (
        element("section", element("h2", section.title, id=anchor), *section.parts, aria_labelledby=anchor)
        for anchor, section in zip(anchors, sections, strict=True)
    )
    opening = element("header", element("h1", title), *(element("p", text) for text in introduction))
    contents = element("nav", element("ul", *links), aria_label="Contents")
    head = join(
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html("""<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:;"""),
        Html(""" style-src 'unsafe-inline'">"""),
        element("title", title),
        element("style", Html(_STYLE)),
    )
    content = element("body", opening, contents, element("main", *body))
    return f"<!doctype html>\n{element('html', element('head', head), content, lang='en')}\n"


def provenance(about: Mapping[str, Any]) -> Html:
    """Return what is known of the run: command, versions, hardware and whatever else there is.

    Args:
        about: Names → values, such as those of `ncc.runtime.provenance.environment`; values may be such mappings
            themselves.
    """
    lines = []
    for name, value in about.items():
        words = element("code", value) if name == "command" else _plain(value)
        lines.append(join(element("dt", name), element("dd", words)))
    return element("dl", *lines)


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(inner)}" for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value))
    return str(value)
