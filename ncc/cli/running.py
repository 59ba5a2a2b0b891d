"""Running a command's work over its inputs: one that fails costs itself, not the run."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from ncc.cli.errors import reason_of
from ncc.cli.output import fail, print_answer, say
from ncc.errors import NccError
from ncc.runtime.printable import printable

__all__ = ["Input", "run_over"]

Input = str | os.PathLike[str]
"""A file as the user named it, or one that was found in a folder, which keeps the right to that."""


def run_over(
    arguments: Sequence[str],
    work: Callable[[Input], tuple[dict[str, Any], str]],
    *,
    as_json: bool,
    fields: Sequence[str] = (),
    finish: Callable[[], None] | None = None,
) -> None:
    """Does a command's work for each input and prints its answer; one that fails does not stop the others.

    Args:
        arguments: As the user gave them.
        work: Returns the fields of the JSON object and the text for people.
        as_json: Print objects instead of text.
        fields: Names that an object has, as null, also where its input failed, beside those of every command.
        finish: Called at the end, to write what was gathered, also where the reader of the answers has gone.

    Raises:
        typer.Exit: With code 1 if an input failed.
    """
    from ncc.inputs import expand_inputs

    failed = False
    inputs = expand_inputs(arguments)
    with _progress_bar(len(inputs), "inputs") as advance:
        for item in inputs:
            answer: dict[str, Any] | str | None = None
            shown = item.name, printable(item.name, lines=False)
            try:
                if item.error:
                    raise NccError(item.error)
                values, text = work(item.source)
                answer = {"input": item.name, "ok": True, "error": None} | values if as_json else text.replace(*shown)
            except Exception as error:  # whatever it is, it is this input's alone
                failed = True
                reason = reason_of(item.name, error)
                say(f"ncc: {reason.replace(*shown)}")
                if as_json:
                    empty = dict.fromkeys(("num_statements", "unknown_rate", *fields))
                    answer = {"input": item.name, "ok": False, "error": reason} | empty
            if answer is not None and not print_answer(answer) and not finish:
                raise typer.Exit(0)
            advance()
    if finish:
        try:
            finish()
        except MemoryError as error:
            fail(reason_of("the result", error))
    if failed:
        raise typer.Exit(1)


@contextmanager
def _progress_bar(total: int, what: str) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr, where that is a terminal and there is more than a handful to do."""
    if total < 8 or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
