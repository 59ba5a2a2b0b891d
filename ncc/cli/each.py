"""One verb over many inputs: if one fails, the others are still answered."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ncc.cli.printing import failure_reason, print_answer, print_message, without_command
from ncc.errors import COMMAND_LINE, NccError, UnknownNameError, naming_extras
from ncc.verbs.types import Command, load_command

if TYPE_CHECKING:
    from ncc.ir.inputs import Input
    from ncc.system.files.summaries import Summary


def answer_each(
    command: Command, inputs: Sequence[str], *, jobs: int = 1, as_json: bool = False, **options: Any
) -> None:
    """Answer for each input and print it; one that fails does not stop the others.

    Raises:
        click.exceptions.Exit: With code 1 if an input failed, or 2 if none has the requested name.
    """
    from ncc.ir.inputs import find_inputs
    from ncc.system.files.reading import is_own_stream
    from ncc.system.files.text import escape_control
    from ncc.system.workers.pool import ITEM_SECONDS, Pool

    plan, options["as_json"] = command.per_input, as_json
    assert plan
    items = find_inputs(inputs, kernels=plan.kernels)
    sink = plan.prepare(len(items), options) if plan.prepare else None
    plan.load(options)  # a message about a model is printed once
    results = Pool(jobs, seconds=ITEM_SECONDS + options["options"].timeout_s).in_order(
        items,
        partial(_work_on, place=command.place, options=options),
        name_of=lambda item: item.name,
        runs_inline=lambda item: bool(item.error) or is_own_stream(item.source),
    )
    failures: list[str] = []
    num_unknown = 0
    with sink or nullcontext(), closing(results), _progress_bar(len(items)) as advance:
        for item, result in zip(items, results, strict=True):
            answer: dict[str, Any] | Sequence[Summary] | None = None
            shown = item.name, escape_control(item.name, lines=False)
            try:
                (values, summaries, *rows), warnings = result()
                if sink:
                    sink.add(*rows)
                if as_json:
                    answer = {"input": item.name, "ok": True, "error": None} | values | warnings
                else:
                    *others, last = summaries
                    answer = [*others, last.add(("caution", warnings["warning"])) if warnings else last]
            except Exception as error:  # whatever it is, it is this input's alone
                reason = failure_reason(item.name, error)
                failures.append(reason)
                num_unknown += isinstance(error, UnknownNameError)
                print_message(f"ncc: {without_command(reason).replace(*shown)}")
                if as_json:
                    empty = dict.fromkeys(("num_statements", "unknown_rate", *plan.fields.split()))
                    answer = {"input": item.name, "ok": False, "error": reason} | empty
            if answer is not None and not print_answer(answer, item.name) and not sink:
                raise click.exceptions.Exit(0)
            advance()
    if failures:
        if len(items) > 1:
            is_long = not as_json and any(COMMAND_LINE in reason for reason in failures)
            more = "; --json shows the compiler commands" if is_long else ""
            print_message(f"ncc: {len(failures)} of {len(items)} inputs failed{more}")
        raise click.exceptions.Exit(2 if num_unknown == len(items) else 1)


def _work_on(item: "Input", place: str, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the answer for an input, and its fields of warnings: their text, and skipped functions with reasons."""
    from ncc.system.workers.failures import Warnings

    if item.error:
        raise NccError(item.error)
    with Warnings() as warnings, naming_extras():
        answer = load_command(place).answer(item.source, options)
    fields: dict[str, Any] = {"warning": "\n  ".join(warnings)} if warnings else {}
    if skipped := {name: reason for functions in warnings.values() for name, reason in functions.items()}:
        fields["skipped_functions"] = skipped
    return answer, fields


@contextmanager
def _progress_bar(total: int) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr, if only that is a terminal and there is more than a handful to do."""
    if total < 8 or sys.stdout.isatty() or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("inputs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("inputs", total=total)
        yield lambda: bar.advance(task)
