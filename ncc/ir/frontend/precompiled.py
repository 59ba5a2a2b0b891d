"""Precompiled headers: parses what many files begin with only once, for corpora of thousands of small files."""

import hashlib
import os
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ncc.errors import COMMAND_LINE, CompileError
from ncc.ir.frontend.clang import compile_command
from ncc.ir.frontend.compilers import Clang, find_compiler
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.run import run_compiler


def with_header(
    header: Path, options: CompileOptions, cache: Path, *, readable: Sequence[str | os.PathLike[str]] = ()
) -> CompileOptions:
    """Options under which every file begins with a header, from a precompiled form of it."""
    language = options.language or "c++"
    if language == "c++":
        # what the header's templates come to is made once, not in every file, where it would take most of the time
        options = replace(options, flags=(*options.flags, "-fpch-instantiate-templates"))
    # the key holds the header's content; a new date alone, as of an installation anew, is not a change
    options = replace(options, flags=(*options.flags, "-Xclang", "-fno-pch-timestamp"))
    compiler = find_compiler(options.clang)
    command = compile_command(compiler, language, str(header), options)
    key = hashlib.sha256(repr((command, header.read_bytes())).encode()).hexdigest()[:24]
    precompiled = cache / f"{header.stem}-{key}.pch"
    if not precompiled.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            fresh = Path(folder) / precompiled.name
            _precompile(compiler, command, language, options, fresh, readable)
            fresh.replace(precompiled)
    return replace(options, flags=(*options.flags, "-include-pch", str(precompiled.absolute())))


def _precompile(
    compiler: Clang,
    command: Sequence[str],
    language: str,
    options: CompileOptions,
    out: Path,
    readable: Sequence[str | os.PathLike[str]],
) -> None:
    arguments = [argument for argument in command if argument not in ("-S", "-emit-llvm")]
    arguments[arguments.index("-o") + 1] = str(out)
    arguments[arguments.index("-x") + 1] = f"{language}-header"
    header = command[-1]
    folder = str(out.parent)
    run_compiler(compiler, arguments, options, name=header, source=header, readable=readable, writable=(folder,))
    if not out.exists():
        raise CompileError(f"{header}: the compiler succeeded but wrote no {out}{COMMAND_LINE}{shlex.join(arguments)}")
