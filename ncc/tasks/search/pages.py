"""Shows the source of two functions side by side, on a terminal or in a page that loads nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ncc.errors import NccError
from ncc.ir.reader.objects import holds_bitcode
from ncc.ir.reader.reader import print_canonically
from ncc.system.files.pages import render_page
from ncc.system.files.reading import FoundFile, read_file
from ncc.system.files.text import printable
from ncc.tasks.search.duplicates import Duplicates
from ncc.tasks.search.index import Found, Matches

if TYPE_CHECKING:
    from rich.table import Table

_MOST_LINES = 80
_MOST_COPIES = 8
"""Functions of a group that are shown beside the one in its middle."""


@dataclass(frozen=True)
class Side:
    """A function with its source, as it is shown.

    Attributes:
        found: The function.
        lines: Number and text of each line.
        note: Why there are none, or not all.
    """

    found: Found
    lines: tuple[tuple[int, str], ...]
    note: str


def source_lines(found: Found) -> Side:
    """The source of a function; of a file in a folder, only what is in that folder is read."""
    try:
        lines = _lines_of(_readable(found), found.folder)
    except NccError as error:
        return Side(found, (), str(error))
    first, last = found.first_line, min(found.last_line, len(lines))
    numbers = range(first, min(last, first + _MOST_LINES - 1) + 1) if first else ()
    left = last - first + 1 - len(numbers)
    note = "its lines are not known" if not numbers else f"… {left} more lines" if left > 0 else ""
    return Side(
        found, tuple((number, printable(lines[number - 1].expandtabs(4), lines=False)) for number in numbers), note
    )


def _readable(found: Found) -> str:
    """The file to read: debug information may name any, and what it names must be what was given to be read."""
    source = (Path(found.file).parent / found.source).resolve() if found.source else Path(found.file).resolve()
    if source == Path(found.file).resolve():
        return found.file
    if found.folder is None or not source.is_relative_to(Path(found.folder).resolve()):
        raise NccError(f"{found.source}: not among what was indexed")
    return str(source)


@lru_cache(maxsize=64)
def _lines_of(path: str, folder: str | None) -> tuple[str, ...]:
    data = read_file(FoundFile(path, folder))
    text = print_canonically(data, path) if holds_bitcode(data) else data
    return tuple(text.decode("utf-8", "replace").splitlines())


def pairs_of(answer: Matches | Duplicates) -> Iterator[tuple[str, list[tuple[Found, Found]]]]:
    """What is shown of an answer: a title and its pairs of functions."""
    if isinstance(answer, Matches):
        yield f"near {answer.query.demangled}", [(answer.query, match) for match in answer]
        return
    for group in answer:
        title = f"{len(group)} functions, {group.num_statements} duplicate statements"
        yield title, [(group[0], other) for other in group.functions[1 : _MOST_COPIES + 1]]


def similarity_in_words(found: Found) -> str:
    """How similar a function is, and how likely it is a copy."""
    return f"{found.similarity:.3f}" + (f" ({found.share:.0%} likely a copy)" if found.share is not None else "")


def side_by_side(left: Found, right: Found) -> "Table":
    """Two functions' source beside each other, for a terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table(expand=True, show_lines=False)
    sides = [source_lines(left), source_lines(right)]
    for side in sides:
        table.add_column(Text(f"{side.found.demangled}\n{printable(side.found.place, lines=False)}"), ratio=1)
    table.add_row(*(Text("\n".join([*(f"{n:5} {text}" for n, text in side.lines), side.note])) for side in sides))
    table.title = similarity_in_words(right)
    return table


def similar_page(answers: Iterable[Matches] | Duplicates, *, title: str, about: str) -> str:
    """A page of answers with both places' source: whole, loading nothing."""
    several = [answers] if isinstance(answers, Duplicates) else answers
    groups = [
        (name, [(source_lines(left), source_lines(right), similarity_in_words(right)) for left, right in pairs])
        for answer in several
        for name, pairs in pairs_of(answer)
    ]
    return render_page("similar.html.j2", title=title, about=about, groups=groups)
