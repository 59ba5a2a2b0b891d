"""Precompiled headers: what many files begin with is parsed once. For corpora of thousands of small files."""

import hashlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path

from ncc.frontend.commands import compile_command
from ncc.frontend.compilers import find_compiler
from ncc.frontend.diagnostics import compile_error
from ncc.frontend.options import CompileOptions
from ncc.frontend.processes import run_process

__all__ = ["with_header"]


def with_header(header: Path, options: CompileOptions, cache: Path) -> CompileOptions:
    """Options under which every file begins with a header, from a precompiled form of it.

    Args:
        header: the header; it must not change while its precompiled form is in use.
        options: the options of the files; ``language`` must be "c" or "c++".
        cache: folder for the precompiled form, which is made if it is not there yet.

    Returns:
        The options with the flags that bring the header in.

    Raises:
        CompileError: the header does not compile.
    """
    language = options.language or "c++"
    if language == "c++":
        # what the header's templates come to is made once, not in every file, where it would take most of the time
        options = replace(options, flags=(*options.flags, "-fpch-instantiate-templates"))
    # the key holds the header's content; a new date alone, as of an installation anew, is no change
    options = replace(options, flags=(*options.flags, "-Xclang", "-fno-pch-timestamp"))
    compiler = find_compiler(options.clang)
    command = compile_command(compiler, language, str(header), options)
    key = hashlib.sha256(repr((command, header.read_bytes())).encode()).hexdigest()[:24]
    precompiled = cache / f"{header.stem}-{key}.pch"
    if not precompiled.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            fresh = Path(folder) / precompiled.name
            _precompile(command, language, fresh, options.timeout_s)
            fresh.replace(precompiled)
    return replace(options, flags=(*options.flags, "-include-pch", str(precompiled)))


def _precompile(command: tuple[str, ...], language: str, out: Path, timeout_s: float) -> None:
    arguments = [argument for argument in command if argument not in ("-S", "-emit-llvm")]
    arguments[arguments.index("-o") + 1] = str(out)
    arguments[arguments.index("-x") + 1] = f"{language}-header"
    environment = {**os.environ, "LC_ALL": "C"}
    finished = run_process(arguments, stdin=None, environment=environment, timeout_s=timeout_s)
    if finished.returncode != 0 or not out.exists():
        raise compile_error(command[-1], tuple(arguments), finished)
