"""Runs a compiler on one source, confined, in a clean environment, and reports failures readably."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from ncc.errors import CompileError, OutputError
from ncc.ir.frontend.compilers import Clang
from ncc.ir.frontend.diagnostics import FinishedProcess, compile_error
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.rights import compile_permissions
from ncc.system.sandbox.confine import Permissions, confine, launcher_failure, minimal_environment
from ncc.system.sandbox.limits import memory_limit, output_limit
from ncc.system.sandbox.process import WatchedProcess, temporary_file

_NO_SPACE = b"No space left on device"
_LITTLE_SPACE = 2**22


def run_compiler(
    compiler: Clang,
    command: Sequence[str],
    options: CompileOptions,
    *,
    name: str,
    source: str | bytes,
    readable: Sequence[str | os.PathLike[str]] = (),
    writable: Sequence[str] = (),
) -> FinishedProcess:
    """Run a command of `compile_command`."""
    try:
        path = _executable(compiler.argv[0])
        permissions = compile_permissions(
            replace(compiler, argv=(path, *compiler.argv[1:])),
            options,
            source if isinstance(source, str) else None,
            readable,
            writable=writable,
        )
        finished = _run(
            (path, *command[1:]),
            stdin=source if isinstance(source, bytes) else None,
            environment=_environment(compiler),
            timeout_s=options.timeout_s,
            permissions=permissions,
        )
    except subprocess.TimeoutExpired as error:
        raise CompileError(
            f"{name}: the compiler did not finish within {options.timeout_s:g} seconds and was stopped; "
            f"a larger time limit (--timeout, timeout_s) gives it longer\ncommand: {shlex.join(command)}",
            timed_out=True,
        ) from error
    except OSError as error:
        raise CompileError(
            f"{name}: can't start the compiler {compiler.argv[0]!r}, which {compiler.origin} names: "
            f"{error.strerror}\ncommand: {shlex.join(command)}"
        ) from error
    if isinstance(source, str):  # the compiler knows it by its whole path
        said = finished.stderr.replace(os.fsencode(f"{command[-1]}:"), os.fsencode(f"{name}:"))
        finished = replace(finished, stderr=said)
    if finished.returncode != 0:
        raise compile_error(name, command, finished)
    return finished


def _run(
    command: Sequence[str],
    *,
    stdin: bytes | None,
    environment: Mapping[str, str],
    timeout_s: float,
    permissions: Permissions,
) -> FinishedProcess:
    """Run a command to its end, confined and within the limits of `ncc.system.sandbox.limits`."""
    most = output_limit()
    limited = confine(command, permissions, memory_bytes=memory_limit(), file_bytes=most, end_with_parent=True)
    with ExitStack() as files:
        # files, not pipes: what a compiler writes without end fills them up to the limit, not this process's memory
        given = subprocess.DEVNULL if stdin is None else temporary_file(files, stdin)
        stdout = temporary_file(files)
        process = files.enter_context(WatchedProcess(limited, environment=environment, stdin=given, stdout=stdout))
        if not process.ends_within(timeout_s):
            raise subprocess.TimeoutExpired(limited, timeout_s)
        returncode, said = process.end(), process.messages()
        if failure := launcher_failure(returncode, said):
            raise failure
        if returncode and _NO_SPACE in said and _is_disk_full():  # a source can make a compiler say anything
            raise OutputError(f"{tempfile.gettempdir()}: the compiler's output can't be written: the disk is full")
        is_full = max(stdout.seek(0, os.SEEK_END), process.num_message_bytes()) >= most
        stdout.seek(0)
        output = b"" if returncode else stdout.read()
        return FinishedProcess(returncode=returncode, stdout=output, stderr=said, is_full=is_full)


def _is_disk_full() -> bool:
    return shutil.disk_usage(tempfile.gettempdir()).free < _LITTLE_SPACE


def _executable(name: str) -> str:
    """The path of a program; of one that can't be started, a path at which the attempt says why."""
    if found := shutil.which(name):
        return found
    if os.path.dirname(name):  # noqa: PTH120 - a Path would drop the "./" that makes a name a path
        return name
    raise FileNotFoundError(2, os.strerror(2))


def _environment(compiler: Clang) -> dict[str, str]:
    """The environment of a compiler: little for the bundled one; a user's own may be a script that needs all of it."""
    if compiler.headers is None:
        return {**os.environ, "LC_ALL": "C"}
    # search paths from the environment would come before the bundled headers and mix with them;
    # __DATE__ and __TIME__ would make every compilation differ
    return {"SOURCE_DATE_EPOCH": "0"} | minimal_environment()
