"""Runs a compiler on one source, confined, in a clean environment; errors become a message that a user can act on."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ncc.errors import COMMAND_LINE, CompileError, OutputError
from ncc.ir.frontend.allowed_paths import compile_permissions
from ncc.ir.frontend.clang import OWN_HEADERS, Clang, compile_command
from ncc.ir.frontend.options import DEFAULT_CXX, CompileOptions
from ncc.system.sandbox.confine import Permissions, confine, launcher_failure, minimal_environment
from ncc.system.sandbox.limits import GIGABYTE, memory_limit, output_limit
from ncc.system.sandbox.process import WatchedProcess, signal_name, temporary_file

_MAX_ERRORS = 6
_MAX_LINE = 1000
_ERROR_LINE = r"^(?:.*: )?(?:fatal )?error: "
# whole phrases: a compiler prints lines of the source as well
_OUT_OF_MEMORY = (
    r"(?m)^LLVM ERROR: out of memory|instance of 'std::bad_alloc'|what\(\):\s+std::bad_alloc|: Cannot allocate memory$"
)
_NOT_OPENED = r"error: (?:cannot open file|error reading|error opening) '(.+?)': Permission denied"
# of #embed; headers that no search path has give the same error, but don't begin like this
_NOT_EMBEDDED = r"^(.+?):\d+:\d+: fatal error: '([/.].+)' file not found"
_NOT_FOUND = r"error: '(?![/.])(.+?)' file not found"
# C++20 and later: keywords, errors about code that uses these as names, and names of the library
_LATER = (
    r"'(?:co_\w+|suspend_\w+|coroutine_\w+|concept|requires|consteval|constinit|char8_t|import|module|span|ranges|views"
    r"|format|source_location|jthread|\w+_ordering|same_as|integral|floating_point|numbers)'|error: expected template$"
)
_LIKE_A_MACRO = r"(?:undeclared identifier|unknown type name) '([A-Z][A-Z0-9_]+)'"
_KILLED_BY_SHELL = 128
_LITTLE_SPACE = 2**22


@dataclass(frozen=True, kw_only=True)
class CompiledSource:
    """LLVM IR as text (bytes), how it was compiled, and what is missing from a CUDA or HIP file's device code."""

    ir: bytes
    command: tuple[str, ...]
    warnings: str = ""
    skipped_functions: tuple[tuple[str, str], ...] = ()
    """Functions that don't compile, each with the first error."""
    empty_headers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FinishedProcess:
    """Exit code (negative for a signal), output (empty if it failed), and messages of a compiler."""

    returncode: int
    stdout: bytes
    stderr: bytes
    hit_output_limit: bool = False


def compile_error(source: str, command: Sequence[str], finished: FinishedProcess) -> CompileError:
    """Describe a compiler run that failed, as an error to raise."""
    stderr = finished.stderr.decode(errors="replace")
    errors = [line for line in stderr.splitlines() if re.match(_ERROR_LINE, line)]
    lines = [f"{source}: {_outcome(finished, stderr, bool(errors))}"]
    # the full path of a bundled header would look like the user's file
    plain = (line.replace(f"{OWN_HEADERS}{os.sep}", "ncc's own header ") for line in errors[:_MAX_ERRORS])
    lines += [f"  {line[:_MAX_LINE]}" for line in plain]
    if len(errors) > _MAX_ERRORS:
        lines.append(f"  and more, {len(errors)} errors in all")
    if not errors:
        lines += [f"  {line[:_MAX_LINE]}" for line in stderr.strip().splitlines()[:_MAX_ERRORS]]
    lines += [f"  {hint}" for hint in dict.fromkeys(filter(None, map(_advice, errors)))]
    text = "\n".join(errors)
    if re.search(f"(?m){_LATER}", text) and [flag for flag in command if flag.startswith("-std=")] == [DEFAULT_CXX]:
        lines.append("  C++ is read as that of 2017; of a later standard, try --flag -std=c++20")
    if macro := re.search(_LIKE_A_MACRO, text):
        lines.append(f"  if {macro[1]} is a macro that a build or a host program defines: -D {macro[1]}=VALUE")
    return CompileError("\n".join(lines) + COMMAND_LINE + shlex.join(command), tuple(errors), stderr)


def _outcome(finished: FinishedProcess, stderr: str, has_errors: bool) -> str:
    returncode = finished.returncode
    ended_by = -returncode if returncode < 0 else returncode - _KILLED_BY_SHELL
    if signal_name(-ended_by) == "SIGXFSZ" or finished.hit_output_limit:
        return f"the compiler wrote more than {output_limit() / GIGABYTE:.3g} GB and was stopped; raise NCC_OUTPUT_GB"
    if re.search(_OUT_OF_MEMORY, stderr):
        return f"the compiler needs more than {memory_limit() / GIGABYTE:.3g} GB of memory; raise NCC_MEMORY_GB"
    if name := signal_name(returncode):
        reason = ", maybe for want of memory" if name == "SIGKILL" else ""
        return f"the compiler was ended by signal {name}{reason}"
    if has_errors and ended_by <= 0:
        return "does not compile"
    return f"the compiler failed with exit code {returncode}"


def _advice(error: str) -> str | None:
    """Advise about a file that was not found, or that the source may not read although the user could."""
    if missing := re.search(_NOT_FOUND, error):
        return (
            f"{missing[1]} not found: pass its folder (-I FOLDER) or the project's compile_commands.json "
            "(--compile-commands FILE), or pass the project's folder as input so that ncc searches it"
        )
    if opened := re.search(_NOT_OPENED, error):
        name = path = opened[1]
    elif embedded := re.search(_NOT_EMBEDDED, error):
        name = embedded[2]
        path = os.path.join(os.path.dirname(embedded[1]), name)  # noqa: PTH118, PTH120 - an absolute name stays
    else:
        return None
    try:
        if not os.access(path, os.R_OK):
            return None
        folder = shlex.quote(str(Path(path).resolve().parent))
    except (OSError, ValueError):
        return None
    return (
        f"{name}: access denied; sources may read their own folder except hidden files, the system's headers and -I "
        f"folders. If you trust it: -I {folder}"
    )


@dataclass(frozen=True)
class TranslationUnit:
    """A source or its text, its language, the compiler for it, and folders that it may read."""

    compiler: Clang
    language: str
    source: str | bytes
    readable: Sequence[str | os.PathLike[str]] = ()

    @property
    def name(self) -> str:
        """Name in messages."""
        return "source text" if isinstance(self.source, bytes) else self.source

    def command(self, options: CompileOptions) -> tuple[str, ...]:
        """Return the command that prints its IR."""
        return compile_command(self.compiler, self.language, self.source, options)

    def run(self, options: CompileOptions, command: Sequence[str] = ()) -> FinishedProcess:
        """Run the source's command, or another one that ends with the source."""
        command, compiler = command or self.command(options), self.compiler
        try:
            path = shutil.which(compiler.argv[0]) or os.path.abspath(compiler.argv[0])  # noqa: PTH100
            started = replace(compiler, argv=(path, *compiler.argv[1:]))
            permissions = compile_permissions(started, options, self.source, self.readable)
            finished = _run((path, *command[1:]), self.source, compiler, options, permissions)
        except subprocess.TimeoutExpired as error:
            raise CompileError(
                f"{self.name}: the compiler did not finish within {options.timeout_s:g} seconds and was stopped; "
                f"raise the time limit (--timeout, timeout_s){COMMAND_LINE}{shlex.join(command)}",
                timed_out=True,
            ) from error
        except OSError as error:
            raise CompileError(
                f"{self.name}: can't start the compiler {compiler.argv[0]!r}, which {compiler.origin} names: "
                f"{error.strerror}{COMMAND_LINE}{shlex.join(command)}"
            ) from error
        if isinstance(self.source, str):  # the compiler gets its full path
            stderr = finished.stderr.replace(os.fsencode(f"{command[-1]}:"), os.fsencode(f"{self.name}:"))
            finished = replace(finished, stderr=stderr)
        if finished.returncode != 0:
            raise compile_error(self.name, command, finished)
        return finished


def _run(
    command: Sequence[str], source: str | bytes, compiler: Clang, options: CompileOptions, permissions: Permissions
) -> FinishedProcess:
    """Run a command to its end, confined and within the limits of `ncc.system.sandbox.limits`."""
    max_bytes = output_limit()
    limited = confine(command, permissions, memory_bytes=memory_limit(), file_bytes=max_bytes, end_with_parent=True)
    if compiler.headers is None:  # a user's compiler may be a script that needs the whole environment
        environment = {**os.environ, "LC_ALL": "C"}
    else:  # search paths would mix with the bundled headers; __DATE__ and __TIME__ would change between compilations
        environment = {"SOURCE_DATE_EPOCH": "0"} | minimal_environment()
    with ExitStack() as files:
        # files, not pipes: endless output fills them up to the limit, not this process's memory
        stdin = temporary_file(files, source) if isinstance(source, bytes) else subprocess.DEVNULL
        stdout = temporary_file(files)
        watched = WatchedProcess(limited, environment=environment, stdin=stdin, stdout=stdout)
        process = files.enter_context(watched)
        if not process.wait(options.timeout_s):
            raise subprocess.TimeoutExpired(limited, options.timeout_s)
        returncode, stderr = process.end(), process.messages()
        if failure := launcher_failure(returncode, stderr):
            raise failure
        if returncode and b"No space left on device" in stderr:  # a source can make a compiler print anything
            folder = tempfile.gettempdir()
            if shutil.disk_usage(folder).free < _LITTLE_SPACE:
                raise OutputError(f"{folder}: the compiler's output can't be written: the disk is full")
        hit_output_limit = any(os.fstat(file.fileno()).st_size >= max_bytes for file in (stdout, process.stderr))
        stdout.seek(0)
        output = b"" if returncode else stdout.read()
        return FinishedProcess(returncode=returncode, stdout=output, stderr=stderr, hit_output_limit=hit_output_limit)
