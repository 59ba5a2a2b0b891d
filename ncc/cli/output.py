"""What commands print: answers to stdout, messages to stderr, never a terminal control character."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import typer

from ncc.cli.streams import give_up_output
from ncc.system.files.provenance import command_line, environment
from ncc.system.files.text import align_columns, escape_control


def say(message: str) -> None:
    """Prints a message to stderr, if that can be written."""
    with suppress(OSError):
        print(escape_control(message), file=sys.stderr, flush=True)


def fail(message: str, *, code: int = 1) -> NoReturn:
    """Prints a message to stderr and ends the command."""
    say(f"ncc: {message}")
    raise typer.Exit(code)


def now_and_then(tell: Callable[[str], None] = say, pause_s: float = 1.0) -> Callable[[str], None]:
    """Passes on what comes at least a pause after what was passed on last."""
    last = -pause_s

    def pass_on(message: str) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= pause_s:
            last = now
            tell(message)

    return pass_on


def print_answer(answer: dict[str, Any] | str) -> bool:
    """Prints an answer; False where nobody reads them any more."""
    text = escape_control(json.dumps(answer, ensure_ascii=False) if isinstance(answer, dict) else answer)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:  # a name that the terminal's encoding lacks
        text = json.dumps(answer) if isinstance(answer, dict) else answer.encode("ascii", "backslashreplace").decode()
    try:
        print(text, flush=True)
    except OSError as error:
        give_up_output()
        if isinstance(error, BrokenPipeError):  # the reader (head, less) has seen enough
            return False
        fail(f"standard output can't be written: {error.strerror}")
    return True


def print_card(about: dict[str, Any]) -> None:
    """Prints what the card of a model that was trained says."""
    print_answer(json.dumps(about, indent=1))


def print_rows(rows: Sequence[Sequence[str]], heading: Sequence[str] = (), plain: str | None = None) -> None:
    """Prints rows of words: as a table on a terminal, which may break cells into lines, else as lines.

    Args:
        rows: Cells, as many in each row.
        heading: Above the table, on a terminal alone.
        plain: Format of a line; default columns as wide as they have to be.
    """
    rows = [[escape_control(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for line in [plain.format(*row) for row in rows] if plain else align_columns(rows, left=range(len(rows[0]))):
            print(line)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*heading, box=None, show_header=bool(heading), pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(table)


def provenance() -> dict[str, Any]:
    """The command that runs, hardware and versions."""
    return {"command": command_line(), **environment()}
