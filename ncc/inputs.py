"""Inputs: files, folders, globs, text and standard input, each to a `Module`."""

import glob
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ncc.errors import InputError
from ncc.frontend import SOURCE_EXTENSIONS, CompileOptions, compile_source, language_of
from ncc.frontend.programs import compile_program
from ncc.ir import Abstraction, Module, is_bitcode, read_module

__all__ = ["IR_EXTENSIONS", "STDIN", "expand_inputs", "load_module", "load_program"]

IR_EXTENSIONS = frozenset({".ll", ".bc"})
STDIN = "-"


@dataclass(frozen=True)
class ExpandedInput:
    """One thing to answer for: a file (or "-"), or the reason why an argument led to none."""

    name: str
    error: str | None = None


def expand_inputs(arguments: Sequence[str]) -> list[ExpandedInput]:
    """Files behind the arguments of a command: files as they are, folders searched, globs expanded, "-" for stdin."""
    expanded: list[ExpandedInput] = []
    for argument in arguments:
        path = Path(argument)
        if argument == STDIN:
            expanded.append(ExpandedInput(argument))
        elif _holds(path.is_dir):
            found = _files_below(path)
            known = " ".join(sorted(IR_EXTENSIONS | SOURCE_EXTENSIONS))
            expanded += found or [ExpandedInput(argument, f"{argument}: no file in this folder ends in {known}")]
        elif _holds(path.exists):  # a file, or a pipe
            expanded.append(ExpandedInput(argument))
        elif glob.has_magic(argument):
            found_paths = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 (absolute patterns too)
            matches = [match for match in found_paths if Path(match).is_file()]
            nothing = [ExpandedInput(argument, f"{argument}: no file matches this pattern")]
            expanded += [ExpandedInput(match) for match in matches] or nothing
        else:
            expanded.append(ExpandedInput(argument, f"{argument}: no such file or folder"))
    return expanded


def _holds(question: Callable[[], bool]) -> bool:
    """A path's answer to a question; no, where the system can't even look for it (a name that is too long)."""
    try:
        return question()
    except (OSError, ValueError):
        return False


def _files_below(folder: Path) -> list[ExpandedInput]:
    extensions = IR_EXTENSIONS | SOURCE_EXTENSIONS
    found = [
        Path(parent) / name for parent, _, names in os.walk(folder) for name in names if Path(name).suffix in extensions
    ]
    return [ExpandedInput(str(path)) for path in sorted(found)]


def load_module(
    source: str | os.PathLike[str] | bytes,
    *,
    options: CompileOptions | None = None,
    abstraction: Abstraction | None = None,
) -> Module:
    """Makes a module of whatever holds code.

    Args:
        source: a path; "-" for standard input; or the text itself: bytes, or a string of more than one line. A file's
            extension says what it is; text and standard input are IR unless ``options.language`` names a language.
        options: how source is compiled; its ``language`` overrides the extension.
        abstraction: what statements keep.

    Raises:
        InputError: there is no such file, it is empty, or of a kind that ncc does not read.
        CompileError: the compiler refuses the source.
        IRError: the IR can't be read.
    """
    options = options or CompileOptions()
    if isinstance(source, str) and "\n" in source:
        source = source.encode()
    if source == STDIN:
        source = sys.stdin.buffer.read()
        if not source.strip():
            raise InputError("standard input is empty")
    if isinstance(source, bytes):
        return _from_text(source, options, abstraction)
    path = Path(source)
    if not _holds(path.exists):
        raise InputError(f"{path}: no such file")
    if path.suffix in IR_EXTENSIONS and options.language is None:
        return read_module(path, abstraction=abstraction)
    if path.is_file() and path.suffix not in SOURCE_EXTENSIONS and options.language is None:
        raise InputError(
            f"{path}: extension {path.suffix!r} is not one that ncc reads "
            f"({' '.join(sorted(IR_EXTENSIONS | SOURCE_EXTENSIONS))}); name the language to read it anyway"
        )
    if path.is_file() and _is_blank(path):
        raise InputError(f"{path}: the file is empty; expected source code")
    ir = compile_source(path, options).ir
    return read_module(ir, name=os.fspath(source), abstraction=abstraction)


def load_program(
    source: str | os.PathLike[str] | bytes,
    levels: Sequence[str],
    *,
    options: CompileOptions | None = None,
    abstraction: Abstraction | None = None,
    cache: Path,
) -> tuple[list[Module], str]:
    """Makes modules of a program, that of C or C++ which lacks its headers included.

    Args:
        source: as for `load_module`.
        levels: optimisation levels to compile it at, as "-O1".
        options: as for `load_module`, but for the level.
        abstraction: what statements keep.
        cache: folder for precompiled headers.

    Returns:
        A module for each level, or the one that IR is, and the way that it compiled at the last of them, "IR" where
        it was IR; see `compile_program`.

    Raises:
        InputError, CompileError, IRError: as for `load_module`.
    """
    options = options or CompileOptions()
    if isinstance(source, str) and "\n" in source:
        source = source.encode()
    if source == STDIN:
        source = sys.stdin.buffer.read()
    language = options.language or (None if isinstance(source, bytes) else language_of(source))
    if not language or (isinstance(source, bytes) and is_bitcode(source)):
        return [load_module(source, options=options, abstraction=abstraction)], "IR"
    at_levels = [replace(options, optimization=level) for level in levels]
    if language not in ("c", "c++"):
        return [load_module(source, options=some, abstraction=abstraction) for some in at_levels], "as it is"
    if isinstance(source, bytes):
        name, blank = "<text>", not source.strip()
    else:
        name, blank = os.fspath(source), Path(source).is_file() and _is_blank(Path(source))
    if blank:
        raise InputError(f"{name}: is empty; expected source code")
    compiled = [compile_program(source, some, cache) for some in at_levels]
    return [read_module(program.ir, name=name, abstraction=abstraction) for program in compiled], compiled[-1].way


def _is_blank(path: Path) -> bool:
    try:
        return not path.read_bytes().strip()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error


def _from_text(text: bytes, options: CompileOptions, abstraction: Abstraction | None) -> Module:
    if options.language is None or is_bitcode(text):
        return read_module(text, name="<text>", abstraction=abstraction)
    ir = compile_source(text, options).ir
    return read_module(ir, name="<text>", abstraction=abstraction)
