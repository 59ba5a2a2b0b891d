"""Compiles incomplete programs: without their #include lines or macros, or in an outdated C.

Collections of student programs and snippets are published like that. Each is compiled as it stands where that works.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ncc.errors import CompileError, OutputError
from ncc.ir.frontend.compile import compile_source, with_header
from ncc.ir.frontend.languages import language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import with_own_flags
from ncc.ir.frontend.run import CompiledSource
from ncc.system.files.reading import read_input

_USUAL = Path(__file__).with_name("usual")
_HEADERS = {"c++": _USUAL / "usual.hpp", "c": _USUAL / "usual.h"}
_OLD_C = ("-std=gnu89",)
_ROUNDS = 12

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_VOID_MAIN = re.compile(rb"\bvoid(\s+main\s*\()")
_BARE_MAIN = re.compile(rb"(^|[;}\n])([ \t]*)(main\s*\()")
_UNDECLARED = re.compile(r"error: (?:use of undeclared identifier|unknown type name) '(\w+)'")
_CLASH = re.compile(
    r"error: (?:reference to '(\w+)' is ambiguous|redefinition of '(\w+)' as different kind of symbol"
    r"|conflicting types for '(\w+)')"
)
_IN_HEADERS = frozenset({"cin", "cout", "cerr", "endl", "string", "std", "namespace"})
_PLACEHOLDER = "100"


@dataclass(frozen=True, kw_only=True)
class CompiledProgram:
    """A program that compiled, and what it took.

    Attributes:
        ir: LLVM IR as text, in bytes.
        way: "as it is", "with headers" in the language of its extension, "as old C" (of 1989, with headers), "as C++"
            (with headers), "mended" where more had to be done to it.
        macros: Those that were made up: name → value.
    """

    ir: bytes
    way: str
    macros: dict[str, str]


def compile_program(
    source: str | os.PathLike[str] | bytes,
    options: CompileOptions,
    cache: Path,
    *,
    readable: Sequence[str | os.PathLike[str]] = (),
) -> CompiledProgram:
    """Compiles a C or C++ program; what it lacks is put before it."""
    options = with_own_flags(source, options)
    language = options.language or (None if isinstance(source, bytes) else language_of(source))
    if language not in _HEADERS:
        return _finished(compile_source(source, options, readable=readable), "as it is")
    text = source if isinstance(source, bytes) else read_input(source)
    options = replace(options, is_strict=True)  # so that headers are tried before a function is guessed
    first: CompileError | None = None
    for way, tried, flags in _attempts(language, whole=_INCLUDE.search(text) is not None):
        try:
            attempt = replace(options, language=tried) if flags is None else _prepared(options, tried, cache, *flags)
            return _finished(compile_source(source, attempt, readable=readable), way)
        except CompileError as error:
            first = first or error
    lenient = ("-ferror-limit=0", "-Wno-everything")
    # not while the header is prepared, which every folder would need anew
    folder = () if isinstance(source, bytes) else ("-iquote", str(Path(source).absolute().parent))
    for tried, standard in (("c++", ()), ("c", _OLD_C)):
        with suppress(CompileError):  # of the headers, where the caller's flags don't suit the language
            prepared = _prepared(options, tried, cache, *standard, *lenient)
            if program := _patch(text, replace(prepared, flags=(*prepared.flags, *folder)), readable):
                return program
    assert first is not None
    raise first


def _attempts(language: str, *, whole: bool) -> Iterator[tuple[str, str, tuple[str, ...] | None]]:
    """Ways to try in turn, each with its language and flags, None for those without the usual headers."""
    if whole:
        yield "as it is", language, None
    yield "with headers", language, ()
    if not whole:
        yield "as it is", language, None
    yield "as old C", "c", _OLD_C
    if language == "c":
        yield "as C++", "c++", ()


def _finished(compiled: CompiledSource, way: str) -> CompiledProgram:
    return CompiledProgram(ir=compiled.ir, way=way, macros={})


def _prepared(options: CompileOptions, language: str, cache: Path, *flags: str) -> CompileOptions:
    header = _HEADERS[language]
    options = replace(options, language=language, flags=("-w", *flags, *options.flags))
    try:
        return with_header(header, options, cache)
    except (OSError, OutputError):  # nowhere to keep a precompiled form
        return replace(options, flags=(*options.flags, "-include", str(header.absolute())))


def _patch(text: bytes, options: CompileOptions, readable: Sequence[str | os.PathLike[str]]) -> CompiledProgram | None:
    """The program with what its errors ask for, or None where that does not end in one that compiles."""
    text = _VOID_MAIN.sub(rb"int\1", text)
    text = _BARE_MAIN.sub(rb"\1\2int \3", text)
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
            return CompiledProgram(ir=compiled.ir, way="mended", macros=macros)
    return None


def _missing(errors: tuple[str, ...], known: dict[str, str]) -> dict[str, str]:
    """Macros that errors ask for: of the first error, and of those that look like macros."""
    found: dict[str, str] = {}
    for error in errors:
        if match := _UNDECLARED.search(error):
            name = match[1]
            if name in _IN_HEADERS or (found and not name.isupper()):
                continue
            value = "int" if "type name" in error else _value(name)
        elif match := _CLASH.search(error):
            name = next(group for group in match.groups() if group)
            value = f"{name}_"
        else:
            continue
        if name not in known and name.removesuffix("_") not in known:
            found.setdefault(name, value)
    return found


def _value(name: str) -> str:
    lower = name.lower()
    if lower == "pi":
        return "3.14159265358979"
    if lower in ("e", "eps", "epsilon"):
        return "1e-6"
    if lower in ("true", "false", "yes", "no", "null"):
        return str(int(lower in ("true", "yes")))
    return _PLACEHOLDER
