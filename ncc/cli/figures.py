"""What commands that measure share: options, where results are kept, how figures are given."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.output import check_folder, check_writable, fail
from ncc.errors import InputError, NccError
from ncc.runtime.provenance import command_line, environment

__all__ = [
    "Jobs",
    "NoCache",
    "NumSeeds",
    "ReportFile",
    "ResultFile",
    "RunsFolder",
    "Trees",
    "answer",
    "check_outputs",
    "now_and_then",
    "runs_folder",
    "told_errors",
]

ResultFile = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write the figures, as JSON.")
]
ReportFile = Annotated[Path | None, typer.Option("--report", metavar="FILE.html", help="Write a report with pictures.")]
NumSeeds = Annotated[int, typer.Option(min=1, help="Number of runs, with seeds from --seed on.")]
Trees = Annotated[int, typer.Option(min=1, help="Trees of the controls' forests.")]
Jobs = Annotated[int, typer.Option(min=1, help="Folds run at a time, each with one thread.")]
RunsFolder = Annotated[
    Path | None,
    typer.Option("--cache", metavar="FOLDER", help="Where results of folds are kept; default the user's cache."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Run every fold, and keep none.")]


def answer(figures: dict[str, Any], text: str, output: Path | None, as_json: bool) -> None:
    """Prints figures for people or machines, and writes them with their command and environment."""
    from ncc.runtime.storage import write_atomically

    figures = {"command": command_line(), **environment(), **figures}
    if output:
        write_atomically(output, (json.dumps(figures, indent=1, ensure_ascii=False) + "\n").encode())
    print(json.dumps(figures, ensure_ascii=False) if as_json else text)


def runs_folder(cache: Path | None, no_cache: bool) -> Path | None:
    """Where results of folds are kept, if anywhere."""
    from ncc.data import cache_folder

    if cache and no_cache:
        fail("--cache and --no-cache exclude each other", code=2)
    if cache:
        check_folder(cache)
    return None if no_cache else cache or cache_folder() / "runs"


def check_outputs(*paths: Path | None) -> None:
    """Ends the command at once where a file that it is to write can't be written."""
    for path in paths:
        if path:
            check_writable(path)


@contextmanager
def told_errors() -> Iterator[None]:
    """Tells an error and ends the command: with code 2 where what was asked for is wrong, else with 1."""
    try:
        yield
    except InputError as error:
        fail(str(error), code=2)
    except NccError as error:
        fail(str(error))


def now_and_then(tell: Callable[[str], None], pause_s: float = 1.0) -> Callable[[str], None]:
    """Passes on what comes at least a pause after what was passed on last."""
    last = -pause_s

    def pass_on(message: str) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= pause_s:
            last = now
            tell(message)

    return pass_on
