"""Compiles incomplete programs: without their #include lines or macros, or in an outdated C.

Collections of student programs and snippets are published like that. Each is compiled as it stands where that works.
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ncc.errors import CompileError, OutputError
from ncc.ir.frontend.compile import compile_source, with_header
from ncc.ir.frontend.languages import language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import with_own_flags
from ncc.system.files.reading import read_input

_USUAL = Path(__file__).with_name("usual")
_HEADERS = {"c++": _USUAL / "usual.hpp", "c": _USUAL / "usual.h"}
_OLD_C = ("-std=gnu89",)
_ROUNDS = 12

_INCLUDE = rb"(?m)^[ \t]*#[ \t]*include\b"
_VOID_MAIN = rb"\bvoid(\s+main\s*\()"
_BARE_MAIN = rb"(?m)(^|[;}\n])([ \t]*)(main\s*\()"
_UNDECLARED = r"error: (?:use of undeclared identifier|unknown type name) '(\w+)'"
_CLASH = (
    r"error: (?:reference to '(\w+)' is ambiguous|redefinition of '(\w+)' as different kind of symbol"
    r"|conflicting types for '(\w+)')"
)
_IN_HEADERS = frozenset({"cin", "cout", "cerr", "endl", "string", "std", "namespace"})
_VALUES = {
    "pi": "3.14159265358979",
    **dict.fromkeys(("e", "eps", "epsilon"), "1e-6"),
    **dict.fromkeys(("true", "yes"), "1"),
    **dict.fromkeys(("false", "no", "null"), "0"),
}
_PLACEHOLDER = "100"


@dataclass(frozen=True, kw_only=True)
class CompiledProgram:
    """LLVM IR of a program, how it compiled, and the invented macros: name → value."""

    ir: bytes
    compiled_as: str
    """Either "unchanged", "with headers" in its language, as "C89" or "C++" with headers, or "patched" further."""
    macros: dict[str, str] = field(default_factory=dict)


def compile_program(
    source: str | os.PathLike[str] | bytes,
    options: CompileOptions,
    cache: Path,
    *,
    readable: Sequence[str | os.PathLike[str]] = (),
) -> CompiledProgram:
    """Compile a C or C++ program with a preamble of what it lacks."""
    options = with_own_flags(source, options)
    language = options.language or (None if isinstance(source, bytes) else language_of(source))
    if language not in _HEADERS:
        return CompiledProgram(ir=compile_source(source, options, readable=readable).ir, compiled_as="unchanged")
    text = source if isinstance(source, bytes) else read_input(source)
    options = replace(options, is_strict=True)  # so that headers are tried before a function is guessed
    errors: list[CompileError] = []
    # each with its language and flags, None for those without the usual headers
    attempts: list[tuple[str, str, tuple[str, ...] | None]] = [("with headers", language, ()), ("C89", "c", _OLD_C)]
    attempts.insert(0 if re.search(_INCLUDE, text) else 1, ("unchanged", language, None))
    if language == "c":
        attempts.append(("C++", "c++", ()))
    for way, tried, flags in attempts:
        try:
            attempt = replace(options, language=tried) if flags is None else _prepared(options, tried, cache, *flags)
            return CompiledProgram(ir=compile_source(source, attempt, readable=readable).ir, compiled_as=way)
        except CompileError as error:
            errors.append(error)
    lenient = ("-ferror-limit=0", "-Wno-everything")
    # not while the header is precompiled, or every folder would need its own
    folder = () if isinstance(source, bytes) else ("-iquote", str(Path(source).absolute().parent))
    for tried, standard in (("c++", ()), ("c", _OLD_C)):
        with suppress(CompileError):  # the error is about the headers if the caller's flags don't suit the language
            prepared = _prepared(options, tried, cache, *standard, *lenient)
            if program := _patch(text, replace(prepared, flags=(*prepared.flags, *folder)), readable):
                return program
    raise errors[0]


def _prepared(options: CompileOptions, language: str, cache: Path, *flags: str) -> CompileOptions:
    header = _HEADERS[language]
    options = replace(options, language=language, flags=("-w", *flags, *options.flags))
    try:
        return with_header(header, options, cache)
    except (OSError, OutputError):  # nowhere to keep a precompiled form
        return replace(options, flags=(*options.flags, "-include", str(header.absolute())))


def _patch(text: bytes, options: CompileOptions, readable: Sequence[str | os.PathLike[str]]) -> CompiledProgram | None:
    """Compile the program with what its errors ask for; None if it still doesn't compile."""
    text = re.sub(_BARE_MAIN, rb"\1\2int \3", re.sub(_VOID_MAIN, rb"int\1", text))
    macros: dict[str, str] = {}
    for _ in range(_ROUNDS):
        lines = "".join(f"#define {name} {value}\n" for name, value in macros.items())
        try:
            compiled = compile_source(lines.encode() + b"#line 1\n" + text, options, readable=readable)
        except CompileError as error:
            missing = _missing(error.errors, macros)
            if not missing:
                return None
            macros |= missing
        else:
            return CompiledProgram(ir=compiled.ir, compiled_as="patched", macros=macros)
    return None


def _missing(errors: tuple[str, ...], macros: dict[str, str]) -> dict[str, str]:
    """Return macros for names in errors: in the first error, and in all others if they look like macros."""
    missing: dict[str, str] = {}
    for error in errors:
        if match := re.search(_UNDECLARED, error):
            name = match[1]
            if name in _IN_HEADERS or (missing and not name.isupper()):
                continue
            value = "int" if "type name" in error else _VALUES.get(name.lower(), _PLACEHOLDER)
        elif match := re.search(_CLASH, error):
            name = next(group for group in match.groups() if group)
            value = f"{name}_"
        else:
            continue
        if name not in macros and name.removesuffix("_") not in macros:
            missing.setdefault(name, value)
    return missing
