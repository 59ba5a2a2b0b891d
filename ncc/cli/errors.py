"""How commands report errors: ncc's own are for the user to fix, anything else is reported as a bug."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from typer import BadParameter
from typer.core import TyperGroup

from ncc.cli.output import fail, say
from ncc.cli.streams import StandardOutputError
from ncc.errors import COMMAND_LINE, InputError, InputFileError, NccError


class NccGroup(TyperGroup):
    """Commands whose `NccError` becomes a message and exit code 1, or 2 where what was asked for is wrong."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was named."""
        try:
            return super().invoke(ctx)
        except BadParameter as error:  # without the words of the library that typer has check values
            error.message = error.message.removeprefix("Value error, ")
            raise
        except NccError as error:
            is_usage = isinstance(error, InputError) and not isinstance(error, InputFileError)
            fail(without_command(str(error)), code=2 if is_usage else 1)


def command_group(about: str, kind: type[NccGroup] = NccGroup) -> typer.Typer:
    """Make a group of commands.

    Args:
        about: Its help.
        kind: Class of the group.
    """
    return typer.Typer(
        help=about,
        cls=kind,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


@contextmanager
def told_defects() -> Iterator[None]:
    """Tells an exception that nobody planned for, a defect of ncc with its traceback, and ends with exit code 1."""
    try:
        yield
    except (BrokenPipeError, StandardOutputError):
        raise
    except Exception as error:
        from ncc.system.workers.failures import is_defect, summarize_failure

        if is_defect(error):
            _print_traceback(error)
        say(f"ncc: {summarize_failure('this command', error)}")
        sys.exit(1)


def without_command(reason: str) -> str:
    """Why an input failed, without the compiler's command, which NCC_DEBUG asks for."""
    return reason if os.environ.get("NCC_DEBUG") else reason.partition(COMMAND_LINE)[0]


def reason_of(name: str, error: Exception) -> str:
    """Why an input failed. A defect of ncc is told as one, with its traceback where NCC_DEBUG asks for that."""
    if isinstance(error, NccError):
        return str(error)
    if os.environ.get("NCC_DEBUG"):
        _print_traceback(error)
    from ncc.system.workers.failures import is_defect, summarize_failure

    return summarize_failure(name, error) + (" (NCC_DEBUG=1 shows more)" if is_defect(error) else "")


def _print_traceback(error: Exception) -> None:
    with suppress(OSError):
        say("".join(traceback.format_exception(error)).rstrip())
