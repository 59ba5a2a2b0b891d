"""Compiles a source file to LLVM IR, optionally with a precompiled header: the entry point of `ncc.ir.frontend`."""

import hashlib
import logging
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ncc.errors import COMMAND_LINE, CompileError, InputError, InputFileError
from ncc.ir.frontend.clang import find_compiler, toolkit_flags, with_extensions
from ncc.ir.frontend.device_code import MAX_LISTED, compile_device_code
from ncc.ir.frontend.languages import LANGUAGES, SOURCE_EXTENSIONS, language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import header_folders, with_own_flags
from ncc.ir.frontend.run import CompiledSource, TranslationUnit
from ncc.ir.reader.objects import IR_EXTENSIONS
from ncc.system.files.writing import write_atomically
from ncc.system.sandbox.limits import refuse_size

logger = logging.getLogger(__name__)

_DEFAULT_OPTIONS = CompileOptions()
_NO_HEADER = r"error: '[^']+' file not found"
_RELOCATABLE = "-fgpu-rdc"
_HIP = rb"(?m)^[ \t]*#[ \t]*include[ \t]*[<\"]hip/hip_runtime\.h[>\"]"


def with_header(
    header: Path, options: CompileOptions, cache: Path, *, readable: Sequence[str | os.PathLike[str]] = ()
) -> CompileOptions:
    """Return options that include a precompiled header at the start of every file."""
    language = options.language or "c++"
    # instantiates a C++ header's templates once, not in every file, where it would take most of the time
    templates = ("-fpch-instantiate-templates",) if language == "c++" else ()
    # the key contains the header's content; a new date alone, as after a reinstallation, is not a change
    options = replace(options, flags=(*options.flags, *templates, "-Xclang", "-fno-pch-timestamp"))
    unit = TranslationUnit(find_compiler(options.clang), language, str(header.absolute()), readable)
    command = [argument for argument in unit.command(options) if argument not in ("-S", "-emit-llvm")]
    command[command.index("-x") + 1] = f"{language}-header"
    key = hashlib.sha256(repr((command, header.read_bytes())).encode()).hexdigest()[:24]
    precompiled = cache / f"{header.stem}-{key}.pch"
    if not precompiled.exists():
        write_atomically(precompiled, _compile(unit, options, command).ir)
    return replace(options, flags=(*options.flags, "-include-pch", str(precompiled.absolute())))


def compile_source(
    source: str | os.PathLike[str] | bytes,
    options: CompileOptions = _DEFAULT_OPTIONS,
    *,
    readable: Sequence[str | os.PathLike[str]] = (),
) -> CompiledSource:
    """Compile C, C++, OpenCL C or the device side of CUDA to textual LLVM IR."""
    options = with_own_flags(source, options)
    source = source if isinstance(source, bytes) else os.fspath(source)
    language = _language(source, options)
    unit = TranslationUnit(find_compiler(options.clang), language, source, readable)
    toolkit = toolkit_flags(options.cuda_path) if language == "cuda" else ()
    # if the toolkit's headers are not compatible with ncc's, ncc's alone may suffice
    attempts = [replace(options, flags=(*toolkit, *options.flags)), options] if toolkit else [options]
    index = 0
    while index < len(attempts):
        try:
            return _compile(unit, attempts[index], unit.command(attempts[index]))
        except CompileError as error:
            refusal = error
            if extended := _extended(unit, attempts[index], error):
                attempts[index] = extended
            else:
                index += 1
    device = _device_code(unit, attempts) if language == "cuda" and refusal.errors else None
    if device is None:
        raise refusal
    for function, reason in device.skipped_functions[:MAX_LISTED]:
        extra = {"skipped_functions": {function: reason}}
        logger.warning("%s: %s does not compile, and is left out: %s", unit.name, function, reason, extra=extra)
    if rest := device.skipped_functions[MAX_LISTED:]:
        extra = {"skipped_functions": dict(rest)}
        logger.warning("%s: %d more functions do not compile, and are left out", unit.name, len(rest), extra=extra)
    return device


def _device_code(unit: TranslationUnit, attempts: Sequence[CompileOptions]) -> CompiledSource | None:
    """Compile a file's device code in the way that skips least; None if no way leaves a kernel."""
    results: list[CompiledSource] = []
    for attempt in attempts:
        try:
            device = compile_device_code(unit, attempt)
        except CompileError:
            if attempt is attempts[-1] and not results:
                raise
            continue
        if device and not device.skipped_functions:
            return device
        results += [device] if device else []
    return min(results, key=lambda result: len(result.skipped_functions), default=None)


def _extended(unit: TranslationUnit, options: CompileOptions, error: CompileError) -> CompileOptions | None:
    """Return options that allow kernels to launch kernels, or add folders of missing headers; None if neither helps."""
    if unit.language == "cuda" and _RELOCATABLE not in options.flags and _RELOCATABLE in " ".join(error.errors):
        return replace(options, flags=(*options.flags, _RELOCATABLE))
    if not any(re.search(_NO_HEADER, line) for line in error.errors):
        return None
    if extended := with_extensions(options, error.errors, unit.language):
        return extended
    folders = () if isinstance(unit.source, bytes) else header_folders(unit.source, unit.readable)
    return replace(options, searched=folders) if folders and folders != options.searched else None


def _compile(unit: TranslationUnit, options: CompileOptions, command: Sequence[str]) -> CompiledSource:
    finished = unit.run(options, command)
    if not finished.stdout:
        raise CompileError(
            f"{unit.name}: the compiler succeeded but printed no IR; do the flags ask for another output?"
            f"{COMMAND_LINE}{shlex.join(command)}"
        )
    warnings = finished.stderr.decode(errors="replace")
    return CompiledSource(ir=finished.stdout, command=tuple(command), warnings=warnings)


def _language(source: str | bytes, options: CompileOptions) -> str:
    if isinstance(source, bytes):
        if options.language is None:
            languages = ", ".join(LANGUAGES)
            raise InputError(f"source text has no file extension; set language to one of {languages}")
        return options.language
    path = Path(source)
    if path.is_dir():
        raise InputFileError(f"{source}: is a folder; expected one source file")
    if not path.exists():
        raise InputFileError(f"{source}: no such file")
    refuse_size(source, path.stat().st_size)
    language = options.language or language_of(source)
    if language == "c++" and not options.language and re.search(_HIP, path.read_bytes()):
        return "cuda"
    if language is None:
        raise InputError(
            f"{source}: extension {path.suffix!r} is not one that ncc reads "
            f"({' '.join(sorted(IR_EXTENSIONS | SOURCE_EXTENSIONS))}); name the language to read it anyway"
        )
    return language
