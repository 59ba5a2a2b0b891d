"""Run a compiler on one source: confined, with an environment of its own, and with its end put into words."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace

from ncc.errors import CompileError
from ncc.frontend.compilers import Compiler
from ncc.frontend.diagnostics import compile_error
from ncc.frontend.options import CompileOptions
from ncc.frontend.permissions import compile_permissions
from ncc.frontend.processes import FinishedProcess, run_process
from ncc.runtime.confinement import quiet_environment

__all__ = ["run_compiler"]


def run_compiler(
    compiler: Compiler,
    command: Sequence[str],
    options: CompileOptions,
    *,
    name: str,
    source: str | bytes,
    readable: Sequence[str | os.PathLike[str]] = (),
    writable: Sequence[str] = (),
) -> FinishedProcess:
    """Run a command of `compile_command`.

    Args:
        compiler: Whose command it is.
        command: The executable as the compiler names it, and its arguments.
        options: Those of the compilation: time limit, and the paths that they name.
        name: What messages call the source.
        source: The path of the source, or its text.
        readable: More folders that may be read.
        writable: Folders that may be written.

    Raises:
        CompileError: If the compiler fails, exceeds a limit, or can't be started.
        OutputError: If temporary files can't be written.
    """
    try:
        path = _executable(compiler.argv[0])
        permissions = compile_permissions(
            replace(compiler, argv=(path, *compiler.argv[1:])),
            options,
            source if isinstance(source, str) else None,
            readable,
            writable=writable,
        )
        finished = run_process(
            (path, *command[1:]),
            stdin=source if isinstance(source, bytes) else None,
            environment=_environment(compiler),
            timeout_s=options.timeout_s,
            permissions=permissions,
        )
    except subprocess.TimeoutExpired as error:
        raise CompileError(
            f"{name}: the compiler did not finish within {options.timeout_s:g} seconds and was stopped; "
            f"a larger timeout_s gives it longer\ncommand: {shlex.join(command)}"
        ) from error
    except OSError as error:
        raise CompileError(
            f"{name}: can't start the compiler {compiler.argv[0]!r}, which {compiler.origin} names: "
            f"{error.strerror}\ncommand: {shlex.join(command)}"
        ) from error
    if finished.returncode != 0:
        raise compile_error(name, command, finished)
    return finished


def _executable(name: str) -> str:
    """The path of a program; of one that can't be started, a path at which the attempt says why."""
    if found := shutil.which(name):
        return found
    if os.path.dirname(name):  # noqa: PTH120 - a Path would drop the "./" that makes a name a path
        return name
    raise FileNotFoundError(2, os.strerror(2))


def _environment(compiler: Compiler) -> dict[str, str]:
    """The environment of a compiler: little for the bundled one; a user's own may be a script that needs all of it."""
    if compiler.headers is None:
        return {**os.environ, "LC_ALL": "C"}
    # search paths from the environment would come before the bundled headers and mix with them;
    # __DATE__ and __TIME__ would make every compilation differ
    return {"SOURCE_DATE_EPOCH": "0"} | quiet_environment()
