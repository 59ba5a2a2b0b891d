"""One verb over many inputs: if one fails, the others are still answered."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ncc.cli.printing import failure_reason, print_answer, print_message, without_command
from ncc.errors import COMMAND_LINE, NccError, UnknownNameError, naming_extras
from ncc.verbs.types import Each

if TYPE_CHECKING:
    from ncc.ir.inputs import Input
    from ncc.system.files.summaries import Summary


def answer_each(plan: Each) -> None:
    """Do the work for each input and print its answer; one that fails does not stop the others.

    Raises:
        click.exceptions.Exit: With code 1 if an input failed, or 2 if none has the requested name.
    """
    from ncc.ir.inputs import find_inputs
    from ncc.system.files.text import escape_control

    failures: list[str] = []
    num_unknown = 0
    inputs = find_inputs(plan.inputs, kernels=plan.kernels)
    with plan.sink or nullcontext(), closing(_results(plan, inputs)) as done, _progress_bar(len(inputs)) as advance:
        for item, result in zip(inputs, done, strict=True):
            answer: dict[str, Any] | Sequence[Summary] | None = None
            shown = item.name, escape_control(item.name, lines=False)
            try:
                (values, summaries, *rows), warnings = result()
                if plan.sink:
                    plan.sink.add(*rows)
                if plan.as_json:
                    answer = {"input": item.name, "ok": True, "error": None} | values | warnings
                else:
                    *others, last = summaries
                    answer = [*others, last.add(("caution", warnings["warning"])) if warnings else last]
            except Exception as error:  # whatever it is, it is this input's alone
                reason = failure_reason(item.name, error)
                failures.append(reason)
                num_unknown += isinstance(error, UnknownNameError)
                print_message(f"ncc: {without_command(reason).replace(*shown)}")
                if plan.as_json:
                    empty = dict.fromkeys(("num_statements", "unknown_rate", *plan.fields))
                    answer = {"input": item.name, "ok": False, "error": reason} | empty
            if answer is not None and not print_answer(answer, item.name) and not plan.sink:
                raise click.exceptions.Exit(0)
            advance()
    if failures:
        if len(inputs) > 1:
            is_long = not plan.as_json and any(COMMAND_LINE in reason for reason in failures)
            more = "; --json tells the commands" if is_long else ""
            print_message(f"ncc: {len(failures)} of {len(inputs)} inputs failed{more}")
        raise click.exceptions.Exit(2 if num_unknown == len(inputs) else 1)


def _results(plan: Each, inputs: "list[Input]") -> Any:
    from ncc.system.files.reading import is_own_stream
    from ncc.system.workers.pool import ITEM_SECONDS, Pool

    return Pool(plan.jobs, seconds=ITEM_SECONDS + plan.compile_s).in_order(
        inputs,
        partial(_work_on, work=plan.work),
        name_of=lambda item: item.name,
        runs_inline=lambda item: bool(item.error) or is_own_stream(item.source),
    )


def _work_on(item: "Input", work: Callable[[Any], Any]) -> tuple[Any, dict[str, Any]]:
    from ncc.system.workers.failures import Warnings

    if item.error:
        raise NccError(item.error)
    with Warnings() as warnings, naming_extras():
        result = work(item.source)
    return result, _warning_fields(warnings)


def _warning_fields(warnings: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Fields of an answer: text of warnings, and skipped functions with reasons."""
    if not warnings:
        return {}
    skipped = {name: reason for functions in warnings.values() for name, reason in functions.items()}
    return {"warning": "\n  ".join(warnings)} | ({"skipped_functions": skipped} if skipped else {})


@contextmanager
def _progress_bar(total: int) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr, if that is a terminal and there is more than a handful to do."""
    if total < 8 or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("inputs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("inputs", total=total)
        yield lambda: bar.advance(task)
