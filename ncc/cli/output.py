"""What the commands share: compiler options, running over inputs, messages, progress and exit codes."""

import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from ncc.cli.standard import give_up_output
from ncc.errors import NccError

__all__ = [
    "Clang",
    "DataFolder",
    "Define",
    "EmbeddingFolder",
    "Flag",
    "Include",
    "Inputs",
    "Json",
    "Language",
    "Optimization",
    "OutputFolder",
    "Seed",
    "Timeout",
    "compile_options",
    "fail",
    "progress_bar",
    "run_over",
    "say",
]

Inputs = Annotated[list[str], typer.Argument(metavar="INPUT...", help="File, folder, glob, or - for standard input.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object per input and line on stdout.")]
Clang = Annotated[
    str | None, typer.Option("--clang", metavar="PATH", help="Compiler; default NCC_CLANG, then the bundled clang.")
]
Include = Annotated[list[str] | None, typer.Option("-I", "--include", metavar="FOLDER", help="Header search path.")]
Define = Annotated[list[str] | None, typer.Option("-D", "--define", metavar="NAME[=VALUE]", help="Macro.")]
Flag = Annotated[list[str] | None, typer.Option("--flag", metavar="FLAG", help="Further flag for the compiler.")]
Optimization = Annotated[str, typer.Option("-O", metavar="LEVEL", help="Optimisation level: 0 1 2 3 s z fast.")]
Language = Annotated[
    str | None, typer.Option("--language", help="c, c++, opencl or cuda; default by the file's extension.")
]
OutputFolder = Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="Folder for the result.")]
EmbeddingFolder = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Embedding to use; default the shipped one.")
]
DataFolder = Annotated[
    str | None, typer.Option("--data", metavar="FOLDER", help="Datasets; default NCC_DATA, then the cache.")
]
Seed = Annotated[int, typer.Option(help="Seed of everything that is drawn.")]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="Time limit of a compilation.")]


def compile_options(
    clang: str | None,
    include: list[str] | None,
    define: list[str] | None,
    flag: list[str] | None,
    optimization: str,
    language: str | None,
    timeout_s: float,
) -> Any:
    """The options of the compiler from a command's arguments; wrong ones end the command with exit code 2."""
    from ncc.frontend import CompileOptions

    try:
        return CompileOptions(
            clang=clang,
            include_paths=tuple(include or ()),
            defines=tuple(define or ()),
            flags=tuple(flag or ()),
            optimization=optimization,
            language=language,
            timeout_s=timeout_s,
        )
    except NccError as error:
        fail(str(error), code=2)


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that a terminal obeys; names and excerpts of a stranger's file may hold them."""


def _escape(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"  # as JSON has it too


def say(message: str) -> None:
    """Prints a message to stderr, if that can be written."""
    with suppress(OSError):
        print(_CONTROL.sub(_escape, message), file=sys.stderr, flush=True)


def fail(message: str, *, code: int = 1) -> NoReturn:
    """Prints a message to stderr and ends the command."""
    say(f"ncc: {message}")
    raise typer.Exit(code)


def run_over(
    arguments: Sequence[str],
    work: Callable[[str], tuple[dict[str, Any], str]],
    *,
    as_json: bool,
    fields: Sequence[str] = ("num_statements", "unknown_rate"),
    finish: Callable[[], None] | None = None,
) -> None:
    """Does a command's work for each input and prints its answer; one that fails does not stop the others.

    Args:
        arguments: As the user gave them.
        work: Returns the fields of the JSON object and the text for people.
        as_json: Print objects instead of text.
        fields: Names that an object has, as null, also where its input failed.
        finish: Called at the end, to write what was gathered, also where the reader of the answers has gone.

    Raises:
        typer.Exit: With code 1 if an input failed.
    """
    from ncc.inputs import expand_inputs

    failed = False
    inputs = expand_inputs(arguments)
    with progress_bar(len(inputs), "inputs") as advance:
        for item in inputs:
            answer: dict[str, Any] | str | None = None
            try:
                if item.error:
                    raise NccError(item.error)
                values, text = work(item.name)
                answer = {"input": item.name, "ok": True, "error": None} | values if as_json else text
            except Exception as error:  # whatever it is, it is this input's alone
                failed = True
                reason = _reason(item.name, error)
                say(f"ncc: {reason}")
                if as_json:
                    answer = {"input": item.name, "ok": False, "error": reason} | dict.fromkeys(fields)
            if answer is not None and not _print(answer) and not finish:
                raise typer.Exit(0)
            advance()
    if finish:
        try:
            finish()
        except (NccError, MemoryError) as error:
            fail(_reason("the result", error))
    if failed:
        raise typer.Exit(1)


def _reason(name: str, error: Exception) -> str:
    """Why an input failed. A defect of ncc is told as one, with its traceback where NCC_DEBUG asks for that."""
    if isinstance(error, NccError):
        return str(error)
    if os.environ.get("NCC_DEBUG"):
        with suppress(OSError):
            traceback.print_exception(error)
    from ncc.runtime.failures import REPORT, summarize_failure

    reason = summarize_failure(name, error)
    return f"{reason} (NCC_DEBUG=1 shows more)" if reason.endswith(REPORT) else reason


def _print(answer: dict[str, Any] | str) -> bool:
    """Prints an answer; False where nobody reads them any more."""
    text = _CONTROL.sub(_escape, json.dumps(answer, ensure_ascii=False) if isinstance(answer, dict) else answer)
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


@contextmanager
def progress_bar(total: int, what: str) -> Iterator[Callable[[], None]]:
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


# os.path says no where nobody may look, and of names that no file can have: Path's questions raise then


def check_writable(path: Path) -> None:
    """Ends the command at once, rather than after the work, where a file can't be written."""
    folder = path.parent
    if os.path.isdir(path):  # noqa: PTH112
        fail(f"{path}: is a folder; expected a file to write")
    if not os.path.isdir(folder):  # noqa: PTH112
        fail(f"{path}: there is no folder {folder}")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):  # noqa: PTH110
        fail(f"{path}: can't be written: Permission denied")


def check_folder(folder: Path) -> None:
    """Ends the command at once, rather than after the work, where files can't be written into a folder."""
    whole = folder.absolute()
    try:
        whole.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:  # nobody may look there, or no folder can have this name
        fail(f"{folder}: can't be written: {error.strerror}")
    existing = next(path for path in (whole, *whole.parents) if os.path.exists(path))  # noqa: PTH110
    if not os.path.isdir(existing):  # noqa: PTH112
        fail(f"{folder}: can't be written: {existing} is a file; expected a folder")
    if not os.access(existing, os.W_OK):
        fail(f"{folder}: can't be written: Permission denied")
