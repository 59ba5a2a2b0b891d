"""Compiles a source file to LLVM IR, if need be behind a precompiled header: the entry point of `ncc.ir.frontend`."""

import hashlib
import logging
import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ncc.errors import COMMAND_LINE, CompileError, InputError, InputFileError
from ncc.ir.frontend.clang import Clang, compile_command, find_compiler, toolkit_flags, with_extensions
from ncc.ir.frontend.device_code import MOST_TOLD, compile_device_code
from ncc.ir.frontend.languages import LANGUAGES, SOURCE_EXTENSIONS, language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import header_folders, with_own_flags
from ncc.ir.frontend.run import CompiledSource, run_compiler
from ncc.system.sandbox.limits import refuse_large


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


logger = logging.getLogger(__name__)

_DEFAULT_OPTIONS = CompileOptions()
_NO_HEADER = re.compile(r"error: '[^']+' file not found")
_RELOCATABLE = "-fgpu-rdc"
_HIP = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"]hip/hip_runtime\.h[>\"]", re.MULTILINE)


def compile_source(
    source: str | os.PathLike[str] | bytes,
    options: CompileOptions = _DEFAULT_OPTIONS,
    *,
    readable: Sequence[str | os.PathLike[str]] = (),
) -> CompiledSource:
    """Compile C, C++, OpenCL C or the device side of CUDA to textual LLVM IR."""
    options = with_own_flags(source, options)
    if isinstance(source, bytes):
        language, name = _text_language(options), "source text"
    else:
        source = name = os.fspath(source)
        language = _file_language(source, options)
    compiler = find_compiler(options.clang)
    toolkit = toolkit_flags(options.cuda_path) if language == "cuda" else ()
    # where the toolkit's headers and ours don't go together, ours alone may do
    ways = [replace(options, flags=(*toolkit, *options.flags)), options] if toolkit else [options]
    for number in range(len(ways)):
        while True:
            try:
                return _compile(compiler, language, source, ways[number], readable)
            except CompileError as error:
                refused = error
                more = _with_launches(language, ways[number], error) or _with_header_folders(
                    source, language, ways[number], error, readable
                )
                if more is None:
                    break
                ways[number] = more
        if number < len(ways) - 1:
            logger.debug("%s: does not compile with the toolkit's headers: %s", name, refused)
    device = _device_code(compiler, source, ways, readable) if language == "cuda" and refused.errors else None
    if device is None:
        raise refused
    told, untold = device.skipped_functions[:MOST_TOLD], device.skipped_functions[MOST_TOLD:]
    for function, reason in told:
        skipped_functions = {"skipped_functions": {function: reason}}
        logger.warning("%s: %s does not compile, and is left out: %s", name, function, reason, extra=skipped_functions)
    if untold:
        skipped_functions = {"skipped_functions": dict(untold)}
        logger.warning(
            "%s: %d more functions do not compile, and are left out", name, len(untold), extra=skipped_functions
        )
    return device


def _device_code(
    compiler: Clang,
    source: str | bytes,
    ways: Sequence[CompileOptions],
    readable: Sequence[str | os.PathLike[str]],
) -> CompiledSource | None:
    """A file's device code in the way that leaves least out; None where none leaves a kernel."""
    found: list[CompiledSource] = []
    for way in ways:
        try:
            device = compile_device_code(compiler, source, way, readable)
        except CompileError:
            if way is ways[-1] and not found:
                raise
            continue
        if device and not device.skipped_functions:
            return device
        found += [device] if device else []
    return min(found, key=lambda one: len(one.skipped_functions), default=None)


def _with_launches(language: str, options: CompileOptions, error: CompileError) -> CompileOptions | None:
    """Options by which kernels may launch kernels; None where none does."""
    if language != "cuda" or _RELOCATABLE in options.flags or _RELOCATABLE not in " ".join(error.errors):
        return None
    return replace(options, flags=(*options.flags, _RELOCATABLE))


def _with_header_folders(
    source: str | bytes,
    language: str,
    options: CompileOptions,
    error: CompileError,
    roots: Sequence[str | os.PathLike[str]],
) -> CompileOptions | None:
    """Options with further folders that have what a compiler did not find; None where there are none, or no need."""
    if not any(_NO_HEADER.search(line) for line in error.errors):
        return None
    if extended := with_extensions(options, error.errors, language):
        return extended
    folders = () if isinstance(source, bytes) else header_folders(source, roots)
    return replace(options, searched=folders) if folders and folders != options.searched else None


def _compile(
    compiler: Clang,
    language: str,
    source: str | bytes,
    options: CompileOptions,
    readable: Sequence[str | os.PathLike[str]],
) -> CompiledSource:
    name = "source text" if isinstance(source, bytes) else source
    command = compile_command(compiler, language, None if isinstance(source, bytes) else source, options)
    finished = run_compiler(compiler, command, options, name=name, source=source, readable=readable)
    if not finished.stdout:
        raise CompileError(
            f"{name}: the compiler succeeded but printed no IR; do the flags ask for another output?"
            f"{COMMAND_LINE}{shlex.join(command)}"
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
        raise InputFileError(f"{path}: is a folder; expected one source file")
    if not Path(path).exists():
        raise InputFileError(f"{path}: no such file")
    refuse_large(path)
    language = options.language or language_of(path)
    if language == "c++" and not options.language and _HIP.search(Path(path).read_bytes()):
        return "cuda"
    if language is None:
        raise InputError(
            f"{path}: extension {Path(path).suffix!r} is not that of a source file "
            f"({' '.join(sorted(SOURCE_EXTENSIONS))}); set language to compile it anyway"
        )
    return language
