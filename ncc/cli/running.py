"""Running a command's work over its inputs: if one fails, the others are still answered."""

import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from ncc.cli.errors import reason_of, without_command
from ncc.cli.output import fail, print_answer, say
from ncc.errors import COMMAND_LINE, InputError, NccError, UnknownNameError
from ncc.system.files.reading import is_own_stream
from ncc.system.files.text import escape_control
from ncc.system.files.writing import check_writable
from ncc.system.workers.failures import Warnings
from ncc.system.workers.pool import ITEM_SECONDS, Pool

if TYPE_CHECKING:
    from ncc.ir.inputs import Input as FoundInput

_Loaded = TypeVar("_Loaded")

Input = str | os.PathLike[str]
"""A file as the user named it, or one that was found in a folder, which keeps the right to that."""


Warned = tuple[Any, dict[str, Any]]
"""A result, and what an answer says of warnings on the way to it."""


@lru_cache(maxsize=8)
def loaded(load: Callable[..., _Loaded], *named: Any) -> _Loaded:
    """What options name, read once by each process that works on inputs."""
    return load(*named)


def check_plot(plot: Path | None, arguments: Sequence[str]) -> None:
    """Refuses a picture that can't be drawn, before the work.

    Raises:
        InputError: Its extension is none that is drawn, or there are several inputs.
        OutputError: It can't be written.
    """
    from ncc.ir.inputs import find_inputs
    from ncc.system.files.pages import check_plot_path

    if plot is not None:
        check_plot_path(plot)
        if len(find_inputs(arguments)) != 1:
            raise InputError("--plot takes one input")
        check_writable(plot)


def run_over(
    arguments: Sequence[str],
    work: Callable[[Input], Any],
    tell: Callable[[Any], tuple[dict[str, Any], str]] | None = None,
    *,
    as_json: bool,
    fields: Sequence[str] = (),
    kernels: bool = False,
    finish: Callable[[], None] | None = None,
    results_of: "Callable[[Sequence[FoundInput]], Generator[Callable[[], Warned]]] | None" = None,
    jobs: int = 1,
    compile_s: float = 0.0,
) -> None:
    """Does a command's work for each input and prints its answer; one that fails does not stop the others.

    Args:
        arguments: As the user gave them.
        work: Returns the fields of the JSON object and the text for people, or what ``tell`` makes these of; a
            function of a module, or a partial of one, where there is more than one job.
        tell: Called with what ``work`` returned, in the order of the inputs.
        as_json: Print objects instead of text; one has ``warning`` where there is something to be warned of,
            and ``skipped_functions`` where functions did not compile.
        fields: Names that an object has, as null, also where its input failed, beside those of every command.
        kernels: Of a folder's C and C++, work on those alone that may hold a kernel.
        finish: Called at the end, to write what was gathered, also where the reader of the answers has gone.
        results_of: Gives for each input what returns its result and fields of warnings, or raises, instead of ``work``.
        jobs: Worker processes; one job is done in this one.
        compile_s: Time for the compilation of an input; a worker has more for the rest.

    Raises:
        typer.Exit: With code 1 if an input failed, or 2 if none has the name that was asked for.
    """
    from ncc.ir.inputs import find_inputs

    failures: list[str] = []
    num_unknown = 0
    inputs = find_inputs(arguments, kernels=kernels)
    results = (
        results_of(inputs)
        if results_of
        else Pool(jobs, seconds=ITEM_SECONDS + compile_s).in_order(
            inputs,
            partial(_work_on, work=work),
            name_of=lambda item: item.name,
            runs_inline=lambda item: bool(item.error) or is_own_stream(item.source),
        )
    )
    with _progress_bar(len(inputs), "inputs") as advance, closing(results) as done:
        for item, result in zip(inputs, done, strict=True):
            answer: dict[str, Any] | str | None = None
            shown = item.name, escape_control(item.name, lines=False)
            try:
                found, told = result()
                values, text = tell(found) if tell else found
                if told:
                    values, text = values | told, f"{text}\n  {told['warning']}"
                answer = {"input": item.name, "ok": True, "error": None} | values if as_json else text.replace(*shown)
            except Exception as error:  # whatever it is, it is this input's alone
                reason = reason_of(item.name, error)
                failures.append(reason)
                num_unknown += isinstance(error, UnknownNameError)
                say(f"ncc: {without_command(reason).replace(*shown)}")
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
    if failures:
        if len(inputs) > 1:
            more = "; --json tells the commands" if not as_json and any(COMMAND_LINE in one for one in failures) else ""
            say(f"ncc: {len(failures)} of {len(inputs)} inputs failed{more}")
        raise typer.Exit(2 if num_unknown == len(inputs) else 1)


def _work_on(item: "FoundInput", work: Callable[[Input], Any]) -> Warned:
    if item.error:
        raise NccError(item.error)
    with Warnings() as told:
        result = work(item.source)
    return result, fields_of(told)


def fields_of(told: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """What an answer says of warnings: their text, and which functions are left out, with reasons."""
    skipped = {name: reason for functions in told.values() for name, reason in functions.items()}
    return {"warning": "\n  ".join(told)} | ({"skipped_functions": skipped} if skipped else {}) if told else {}


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
