"""Inputs (files, folders, globs, text and standard input), each read into a `Module`."""

import glob
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ncc.errors import InputError, InputFileError, IRError
from ncc.ir.frontend.languages import SOURCE_EXTENSIONS, language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.objects import HOW_TO_EMBED, IR_EXTENSIONS, is_bitcode, is_ir_path, modules_of
from ncc.ir.reader.reader import read_module
from ncc.system.files.archives import split_member
from ncc.system.files.reading import STDIN, InputFile, read_input, read_stream, refuse_link_out

# the frontend is imported for source alone; os.path takes a name that is too long for one of no file
# ruff: noqa: PTH110, PTH112, PTH113, PTH207


_ENDS = tuple(sorted(IR_EXTENSIONS | SOURCE_EXTENSIONS))
_DEVICE_CODE = rb"__global__|hip/hip_runtime\.h"
_MAX_NAMES = 3
"""Modules of an archive in a message."""


@dataclass(frozen=True)
class Input:
    """One input: a file, "-" for standard input, or the reason why an argument has no file."""

    source: str | InputFile
    error: str | None = None

    @property
    def name(self) -> str:
        """Name in messages."""
        return str(self.source)


def find_inputs(arguments: Sequence[str], *, kernels: bool = False) -> list[Input]:
    """Expand the arguments of a command, folders and globs among them; ``kernels`` leaves out host code in folders."""
    return [item for argument in arguments for item in _find(argument, kernels)]


def _find(argument: str, kernels: bool) -> list[Input]:
    path = Path(argument)
    if argument == STDIN:
        return [Input(argument)]
    if os.path.isdir(argument):  # not "", the path of which is the working folder
        files = (Path(parent) / name for parent, _, names in os.walk(path) for name in names if name.endswith(_ENDS))
        paths = [file for file in sorted(files) if file.suffix and (not kernels or _may_hold_kernels(file))]
        kinds = "kernels" if kernels else f"code: {' '.join(_ENDS)}"
        nothing = Input(argument, f"{argument}: no file in this folder holds {kinds}")
        return [item for file in paths for item in _modules(str(file), str(path))] or [nothing]
    if os.path.exists(split_member(argument)[0]):  # a pipe is a file; a device is refused when it is read
        return _modules(argument)
    if glob.has_magic(argument):
        matches = sorted(glob.glob(argument, recursive=True))  # absolute patterns too
        items = [item for match in matches if Path(match).is_file() for item in _modules(match)]
        return items or [Input(argument, f"{argument}: no file matches this pattern")]
    return [Input(argument, f"{argument or repr(argument)}: no such file or folder")]


def _may_hold_kernels(path: Path) -> bool:
    """Return False for host code, which most files of a GPU project are."""
    with suppress(InputError):  # the error is raised when it is read
        is_host = path.suffix not in IR_EXTENSIONS and language_of(path) in ("c", "c++")
        return not is_host or re.search(_DEVICE_CODE, read_input(path, is_regular=True)) is not None
    return True


def _modules(path: str, folder: str | None = None) -> list[Input]:
    """List the inputs in a file; an object without bitcode is skipped in a folder, and refused if named."""
    if folder is None and Path(path).suffix != ".a":
        return [Input(InputFile(path))]
    if folder is not None and os.path.exists(path) and not os.path.isfile(path):  # may never end
        return [Input(path, f"{path}: is a pipe or a device, not a file")]
    modules = [Input(InputFile(module, folder)) for module in modules_of(path, folder)]
    nothing = Input(path, f"{path}: no file of this archive holds LLVM bitcode; {HOW_TO_EMBED}")
    return modules or ([nothing] if folder is None else [])


def load_module(
    source: str | os.PathLike[str] | bytes,
    *,
    options: CompileOptions | None = None,
    language: str | None = None,
    abstraction: Abstraction | None = None,
) -> Module:
    """Load a module from a file or text.

    Args:
        source: A path, "-" for standard input, or the text itself: bytes, a string of several lines, or, with a
            language, one line with a brace or semicolon that is not the name of a file. A file's extension sets its
            type; text and standard input are IR unless a language is set. A file that `find_inputs` found in a folder
            may read that folder, and must not be a link out of it.
        options: Compiler options, and whether to verify IR; ``language`` overrides the extension.
        language: "c", "c++", "opencl" or "cuda"; overrides the options.
        abstraction: Rules for abstracting statements.

    Returns:
        The module as arrays; it may have no functions.

    Raises:
        InputError: The file is missing, empty, or of an unknown type.
        CompileError: The compiler refuses the source.
        IRError: The IR can't be read, or LLVM's verifier rejects it.
    """
    options = CompileOptions.of(options, language)
    if not isinstance(source, str | os.PathLike | bytes) or not source:
        raise InputError(f"source is {source!r:.80}; expected a path, text or bytes")
    source, name, options = _open(source, options)
    readable = _folder_of(source)
    if isinstance(source, bytes):
        is_ir = options.language is None or is_bitcode(source)
    else:
        if not os.path.exists(path := split_member(source)[0]):
            raise InputFileError(f"{path}: no such file")
        if name.endswith(".a"):
            first, *more = _modules(name)
            if first.error or more:
                names = ", ".join(module.name for module in (first, *more)[:_MAX_NAMES])
                several = f"{name}: holds {1 + len(more)} modules; name one of them: {names}, …"
                raise InputError(first.error or several)
            source = name = first.name
        is_ir = options.language is None and is_ir_path(source)
    if is_ir:
        try:
            return read_module(source, name=name, abstraction=abstraction, verify=options.verify)
        except IRError as error:
            if not isinstance(source, bytes) or "expected top-level entity" not in str(error):
                raise
            hint = "text and standard input are read as LLVM IR; for source code, name its language: --language c"
            raise IRError(f"{error}\n  {hint}", line=error.line, column=error.column) from error
    _refuse_empty(source, name)
    from ncc.ir.frontend.compile import compile_source

    compiled = compile_source(source, options, readable=readable)
    module = read_module(compiled.ir, name=name, abstraction=abstraction)
    return replace(module, skipped_functions=compiled.skipped_functions)


def load_program(
    source: str | os.PathLike[str] | bytes,
    levels: Sequence[str],
    *,
    options: CompileOptions | None = None,
    abstraction: Abstraction | None = None,
    cache: Path,
) -> tuple[list[Module], str]:
    """Compile a program to one module per level and return how it compiled; C and C++ may lack their headers."""
    source, name, options = _open(source, options or CompileOptions())
    language = options.language or (None if isinstance(source, bytes) else language_of(source))
    if not language or (isinstance(source, bytes) and is_bitcode(source)):
        return [load_module(source, options=options, abstraction=abstraction)], "IR"
    level_options = [replace(options, optimization=level) for level in levels]
    if language not in ("c", "c++"):
        return [load_module(source, options=level, abstraction=abstraction) for level in level_options], "unchanged"
    _refuse_empty(source, name)
    from ncc.ir.frontend.snippets import compile_program

    programs = [compile_program(source, level, cache, readable=_folder_of(source)) for level in level_options]
    modules = [read_module(program.ir, name=name, abstraction=abstraction) for program in programs]
    return modules, programs[-1].compiled_as


def _open(
    source: str | os.PathLike[str] | bytes, options: CompileOptions
) -> tuple[str | os.PathLike[str] | bytes, str, CompileOptions]:
    """Return text as bytes, that of streams too, and other paths unchanged; the name; options with the language."""
    if isinstance(source, str):
        is_code = options.language is not None and ("{" in source or ";" in source) and not os.path.exists(source)
        source = source.encode() if is_code or "\n" in source else source
    if isinstance(source, bytes):
        return source, "<text>", options
    name = os.fspath(source)
    if (text := read_stream(source)) is not None:
        return text, name, replace(options, language=options.language or language_of(source))
    return source, name, options


def _folder_of(source: str | os.PathLike[str] | bytes) -> tuple[str, ...]:
    """Return the folder that a path was found in, if it was."""
    if not isinstance(source, InputFile) or source.folder is None:
        return ()
    refuse_link_out(split_member(source)[0], source.folder)
    return (source.folder,)


def _refuse_empty(source: str | os.PathLike[str] | bytes, name: str) -> None:
    if isinstance(source, bytes) or Path(source).is_file():
        text = source if isinstance(source, bytes) else read_input(source)
        if not text.strip():
            raise InputError(f"{name}: the file is empty; expected source code")
