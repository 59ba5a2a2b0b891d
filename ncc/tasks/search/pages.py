"""Source of two functions side by side, on a terminal or in a self-contained page."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ncc.errors import NccError
from ncc.ir.reader.objects import holds_bitcode
from ncc.ir.reader.reader import print_canonically
from ncc.system.files.pages import render_page
from ncc.system.files.text import escape_control
from ncc.tasks.search.duplicates import Duplicates
from ncc.tasks.search.index import IndexedFunction, SearchResult, read_source, source_path
from ncc.tasks.search.store import content_hash

if TYPE_CHECKING:
    from rich.table import Table

_MAX_LINES = 80
_MAX_COPIES = 8
"""Maximum number of functions of a group that are shown next to its representative."""


@dataclass(frozen=True)
class Excerpt:
    """A function and its source: number and text of each line, or why lines are missing."""

    function: IndexedFunction
    lines: tuple[tuple[int, str], ...]
    note: str


def source_lines(function: IndexedFunction, root: str | None = None, max_lines: int = _MAX_LINES) -> Excerpt:
    """The source of a function, or why it is not shown."""
    try:
        lines = _lines_of(function.file, function.source, function.folder, function.hash, root)
    except (NccError, ValueError) as error:  # a path may contain any character
        return Excerpt(function, (), str(error))
    first, last = function.first_line, min(function.last_line, len(lines))
    numbers = range(first, min(last, first + max_lines - 1) + 1) if first > 0 else ()  # an index may be forged
    rest = last - first + 1 - len(numbers)
    note = "its lines are not known" if not numbers else f"… {rest} more lines" if rest > 0 else ""
    shown = tuple((number, escape_control(lines[number - 1].expandtabs(4), lines=False)) for number in numbers)
    return Excerpt(function, shown, note)


@lru_cache(maxsize=64)
def _lines_of(path: str, source: str, folder: str | None, known: str | None, root: str | None) -> tuple[str, ...]:
    data = read_trusted(path, source, folder, known, root)
    text = print_canonically(data, path) if holds_bitcode(data) else data
    return tuple(text.decode("utf-8", "replace").splitlines())


def read_trusted(path: str, source: str, folder: str | None, known: str | None, root: str | None) -> bytes:
    """Read a source: of a query, below a root that the user trusts, or unchanged since it was indexed.

    Raises:
        NccError: It is none of these, or can't be read.
    """
    if known is not None and root is not None and source_path(path, source).is_relative_to(root):
        return read_source(path, source, root)
    data = read_source(path, source, folder)
    if known is not None and content_hash(data) != known:
        raise NccError(f"{source or path}: changed since it was indexed; index again, or pass --root FOLDER to show it")
    return data


def pairs_of(answer: SearchResult | Duplicates) -> list[tuple[str, list[tuple[IndexedFunction, IndexedFunction]]]]:
    """Titles, and the pairs of functions below them."""
    if isinstance(answer, SearchResult):
        return [(f"near {answer.query.demangled}", [(answer.query, match) for match in answer])]
    groups = [(group.title, group.functions[: _MAX_COPIES + 1]) for group in answer]
    return [(title, [(functions[0], other) for other in functions[1:]]) for title, functions in groups]


def format_similarity(function: IndexedFunction) -> str:
    """Similarity, and the fraction of copies among pairs at least as similar."""
    rate = "" if function.copy_rate is None else f" ({function.copy_rate:.0%} of pairs this similar or more are copies)"
    return f"{function.similarity:.3f}{rate}"


def side_by_side(left: IndexedFunction, right: IndexedFunction, root: str | None = None) -> "Table":
    """Source of two functions in two columns, for a terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table(expand=True, show_lines=False)
    excerpts = [source_lines(left, root), source_lines(right, root)]
    for excerpt in excerpts:
        location = escape_control(excerpt.function.location, lines=False)
        table.add_column(Text(f"{excerpt.function.demangled}\n{location}"), ratio=1)
    table.add_row(*(Text("\n".join([*(f"{n:5} {text}" for n, text in each.lines), each.note])) for each in excerpts))
    table.title = format_similarity(right)
    return table


def similar_page(
    answers: Iterable[SearchResult | Duplicates], *, title: str, about: str, root: str | None = None
) -> str:
    """A self-contained page with the source of both functions of each pair."""
    groups = [
        (
            name,
            [(source_lines(left, root), source_lines(right, root), format_similarity(right)) for left, right in pairs],
        )
        for answer in answers
        for name, pairs in pairs_of(answer)
    ]
    return render_page("similar.html.j2", title=title, about=about, groups=groups)
