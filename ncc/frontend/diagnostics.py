"""Turn what clang says on standard error into one message that a user can act on."""

import os
import re
import shlex
import signal
from collections.abc import Sequence

from ncc.errors import CompileError
from ncc.frontend.headers import OWN_HEADERS
from ncc.frontend.processes import FinishedProcess

__all__ = ["compile_error"]

_MAX_ERRORS = 3
_ERROR_LINE = re.compile(r"^(?:.*: )?(?:fatal )?error: ")


def compile_error(source: str, command: Sequence[str], finished: FinishedProcess) -> CompileError:
    """Describe a compiler run that failed, as an error to raise.

    Args:
        source: the file's name, or a description of where the source came from.
        command: the command that was run.
        finished: how it ended.

    Returns:
        An error of several lines: the file, clang's first errors with their line and column, the command.
    """
    stderr = finished.stderr.decode(errors="replace")
    errors = [line for line in stderr.splitlines() if _ERROR_LINE.match(line)]
    lines = [f"{source}: {_outcome(finished.returncode, bool(errors))}"]
    lines += [f"  {_without_own_folder(line)}" for line in errors[:_MAX_ERRORS]]
    if len(errors) > _MAX_ERRORS:
        lines.append(f"  and {len(errors) - _MAX_ERRORS} more errors")
    if not errors:
        lines += [f"  {line}" for line in stderr.strip().splitlines()[:_MAX_ERRORS]]
    lines.append(f"command: {shlex.join(command)}")
    return CompileError("\n".join(lines), tuple(errors))


def _outcome(returncode: int, has_errors: bool) -> str:
    if returncode < 0:
        try:
            name = signal.Signals(-returncode).name
        except ValueError:
            name = str(-returncode)
        return f"the compiler was ended by signal {name}"
    if has_errors:
        return "does not compile"
    return f"the compiler failed with exit code {returncode}"


def _without_own_folder(line: str) -> str:
    """Name a header of ours by what it is: its full path would look like the user's own file."""
    return line.replace(f"{OWN_HEADERS}{os.sep}", "ncc's own header ")
