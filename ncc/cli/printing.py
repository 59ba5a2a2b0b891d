"""Output of commands: answers to stdout, messages to stderr, never a terminal control character."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ncc.errors import COMMAND_LINE, NccError
from ncc.system.files.text import align_columns, escape_control
from ncc.verbs.types import Rows

if TYPE_CHECKING:
    from ncc.system.files.summaries import Summary


def print_message(message: str) -> None:
    """Print a message to stderr, if that can be written."""
    try:
        print(escape_control(message), file=sys.stderr, flush=True)
    except OSError:  # what is left in its buffer would fail again when Python ends
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - to the end


def exit_with_error(message: str, *, code: int = 1) -> NoReturn:
    """Print a message to stderr and end the command."""
    print_message(f"ncc: {message}")
    raise click.exceptions.Exit(code)


def print_progress(pause_s: float = 1.0) -> Callable[[str], None]:
    """Return a function that prints a message on a terminal unless the last one is younger than a pause."""
    last = -pause_s

    def print_if_due(message: str) -> None:
        nonlocal last
        if sys.stderr.isatty() and (now := time.monotonic()) - last >= pause_s:
            last = now
            print_message(message)

    return print_if_due


def print_answer(answer: "Mapping[str, Any] | str | Sequence[Summary]", source: str = "") -> bool:
    """Print an answer, summaries with the name of their source; False if nobody reads them any more."""
    if isinstance(answer, Mapping):
        text, in_ascii = escape_control(json.dumps(answer, ensure_ascii=False)), json.dumps(answer)
    else:
        color = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        text = (
            escape_control(answer)
            if isinstance(answer, str)
            else "\n".join(summary.lines(source, color=color) for summary in answer)
        )
        in_ascii = text.encode("ascii", "backslashreplace").decode()
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:  # a name that the terminal's encoding lacks
        text = in_ascii
    try:
        print(text, flush=True)
    except OSError as error:
        give_up_output()
        if isinstance(error, BrokenPipeError):  # the reader (head, less) has seen enough
            return False
        exit_with_error(f"standard output can't be written: {error.strerror}")
    return True


def print_text(text: Any) -> None:
    """Print an answer for people: text, rows, or parts: summaries and what `rich` prints."""
    from ncc.system.files.summaries import Summary

    text = _format_rows(text) if isinstance(text, Rows) else text
    for part in [text] if isinstance(text, str) else text:
        if isinstance(part, str | Summary):
            print_answer(part if isinstance(part, str) else [part])
        else:
            from rich.console import Console

            Console(highlight=False).print(part)


def _format_rows(table: Rows) -> Any:
    """Return rows of words as a table for a terminal, which may break cells into lines, else as lines."""
    rows = [[escape_control(cell) for cell in row] for row in table.rows]
    if not sys.stdout.isatty():
        return "\n".join(align_columns(rows, left=range(len(rows[0]))))
    from rich.table import Table
    from rich.text import Text

    shown = Table(*table.heading, box=None, show_header=bool(table.heading), pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        shown.add_row(*(Text(cell, overflow="fold") for cell in row))
    return [shown]


def print_traceback(error: Exception) -> None:
    """Print where a defect of ncc shows."""
    import traceback

    print_message("".join(traceback.format_exception(error)).rstrip())


def without_command(reason: str) -> str:
    """Why an input failed, without the compiler's command, which NCC_DEBUG asks for."""
    return reason if os.environ.get("NCC_DEBUG") else reason.partition(COMMAND_LINE)[0]


def failure_reason(name: str, error: Exception) -> str:
    """Why an input failed. A defect of ncc is reported as one, with its traceback if NCC_DEBUG asks for that."""
    if isinstance(error, NccError):
        return str(error)
    if os.environ.get("NCC_DEBUG"):
        print_traceback(error)
    from ncc.system.workers.failures import is_defect, summarize_failure

    return summarize_failure(name, error) + (" (NCC_DEBUG=1 shows more)" if is_defect(error) else "")


@contextmanager
def standard_streams() -> Iterator[None]:
    """Run a command with all three streams; its output is written when it ends, or a message says why not."""
    _open_missing()
    if sys.platform == "win32":  # whose encoding lacks most letters
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader (head, less) has seen enough
        give_up_output()
    except OSError as error:
        give_up_output()
        print_message(f"ncc: standard output can't be written: {error.strerror}")
        sys.exit(1)


def give_up_output() -> None:
    """Send what is still in the buffer nowhere when the process ends, which would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_missing() -> None:
    """Open streams that the parent process closed, for which Python has None."""
    # in this order: files that are opened later must not get the numbers of these
    for number, (name, mode) in enumerate([("stdin", "r"), ("stdout", "w"), ("stderr", "w")]):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
