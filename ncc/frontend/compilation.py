"""Compile a source file to LLVM IR: the door of this room, which the rooms after it call."""

import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ncc.errors import CompileError, InputError
from ncc.frontend.commands import compile_command
from ncc.frontend.compilers import Compiler, find_compiler
from ncc.frontend.diagnostics import compile_error
from ncc.frontend.languages import LANGUAGES, SOURCE_EXTENSIONS, language_of
from ncc.frontend.options import CompileOptions
from ncc.frontend.processes import FinishedProcess, run_process

__all__ = ["CompiledSource", "compile_source"]

_DEFAULT_OPTIONS = CompileOptions()

# Search paths from the environment would come before the bundled headers and mix with them.
_HEADER_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")


@dataclass(frozen=True, kw_only=True)
class CompiledSource:
    """What compiling gave.

    Attributes:
        ir: LLVM IR as text, in bytes.
        command: the command that printed it.
        language: one of `LANGUAGES`.
        warnings: what the compiler wrote to standard error; empty where it was content.
    """

    ir: bytes
    command: tuple[str, ...]
    language: str
    warnings: str


def compile_source(
    source: str | os.PathLike[str] | bytes, options: CompileOptions = _DEFAULT_OPTIONS
) -> CompiledSource:
    """Compile C, C++, OpenCL C or the device side of CUDA to textual LLVM IR.

    Args:
        source: the path of a source file, or source text as bytes; text needs `options.language`.
        options: compiler, optimization level, macros, folders, flags and time limit.

    Returns:
        The IR with the command that made it.

    Raises:
        InputError: if the file is missing, is a folder, or is of an unknown language.
        CompileError: if the compiler refuses the source, takes too long, or can't be started.
    """
    if isinstance(source, bytes):
        language, name, argument, stdin = _text_language(options), "source text", "-", source
    else:
        path = os.fspath(source)
        language, name, argument, stdin = _file_language(path, options), path, path, None
    compiler = find_compiler(options.clang)
    command = compile_command(compiler, language, argument, options)
    finished = _run(compiler, command, name, stdin, options.timeout_s)
    if finished.returncode != 0:
        raise compile_error(name, command, finished)
    if not finished.stdout:
        raise CompileError(
            f"{name}: the compiler succeeded but printed no IR; do the flags ask for another output?\n"
            f"command: {shlex.join(command)}"
        )
    warnings = finished.stderr.decode(errors="replace")
    return CompiledSource(ir=finished.stdout, command=command, language=language, warnings=warnings)


def _text_language(options: CompileOptions) -> str:
    if options.language is None:
        raise InputError(
            f"source text has no file extension to tell its language by; set language to one of {', '.join(LANGUAGES)}"
        )
    return options.language


def _file_language(path: str, options: CompileOptions) -> str:
    if Path(path).is_dir():
        raise InputError(f"{path}: is a folder; expected one source file")
    if not Path(path).exists():
        raise InputError(f"{path}: no such file")
    language = options.language or language_of(path)
    if language is None:
        raise InputError(
            f"{path}: extension {Path(path).suffix!r} is not that of a source file "
            f"({' '.join(sorted(SOURCE_EXTENSIONS))}); set language to compile it anyway"
        )
    return language


def _run(
    compiler: Compiler, command: tuple[str, ...], name: str, stdin: bytes | None, timeout_s: float
) -> FinishedProcess:
    try:
        return run_process(command, stdin=stdin, environment=_environment(compiler), timeout_s=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise CompileError(
            f"{name}: the compiler did not finish within {timeout_s:g} seconds and was stopped; "
            f"a larger timeout_s gives it longer\ncommand: {shlex.join(command)}"
        ) from error
    except OSError as error:
        raise CompileError(
            f"{name}: can't start the compiler {compiler.argv[0]!r}, which {compiler.origin} names: "
            f"{error.strerror}\ncommand: {shlex.join(command)}"
        ) from error


def _environment(compiler: Compiler) -> dict[str, str]:
    """Take the caller's environment, without what would change messages or the bundled headers."""
    environment = {**os.environ, "LC_ALL": "C"}
    if compiler.headers is not None:
        for variable in _HEADER_VARIABLES:
            environment.pop(variable, None)
        # __DATE__ and __TIME__ would make every compilation differ.
        environment.setdefault("SOURCE_DATE_EPOCH", "0")
    return environment
