"""Inputs (files, folders, globs, text and standard input), each read into a `Module`."""

import glob
import logging
import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ncc.errors import InputError, InputFileError, IRError
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.languages import SOURCE_EXTENSIONS, language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.run import CompiledSource
from ncc.ir.frontend.snippets import compile_program
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.agreement import find_mismatch
from ncc.ir.reader.module import Module
from ncc.ir.reader.objects import HOW_TO_EMBED, IR_EXTENSIONS, is_bitcode, is_ir_path, modules_of
from ncc.ir.reader.reader import read_module
from ncc.system.files.archives import split_member
from ncc.system.files.reading import STDIN, InputFile, read_input, read_stream, refuse_link_out
from ncc.system.files.text import escape_control

logger = logging.getLogger(__name__)

_DEVICE_CODE = re.compile(rb"__global__|hip/hip_runtime\.h")
_MAX_NAMES = 3
"""Modules of an archive in a message."""


@dataclass(frozen=True)
class Input:
    """One thing to answer for: a file or "-" for standard input, or the reason why an argument led to none."""

    source: str | InputFile
    error: str | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.source)


def find_inputs(arguments: Sequence[str], *, kernels: bool = False) -> list[Input]:
    """Expand the arguments of a command, folders and globs among them; ``kernels`` leaves out host code in folders."""
    expanded: list[Input] = []
    for argument in arguments:
        path = Path(argument)
        if argument == STDIN:
            expanded.append(Input(argument))
        elif _holds(path.is_dir):
            found = _files_below(path, kernels)
            known = "kernels" if kernels else f"code: {' '.join(sorted(IR_EXTENSIONS | SOURCE_EXTENSIONS))}"
            expanded += found or [Input(argument, f"{argument}: no file in this folder holds {known}")]
        elif _holds(Path(split_member(argument)[0]).exists):  # a pipe is a file; a device is refused when it is read
            expanded += _modules(argument)
        elif glob.has_magic(argument):
            found_paths = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 (absolute patterns too)
            matches = [match for match in found_paths if Path(match).is_file()]
            nothing = [Input(argument, f"{argument}: no file matches this pattern")]
            expanded += [item for match in matches for item in _modules(match)] or nothing
        else:
            expanded.append(Input(argument, f"{argument}: no such file or folder"))
    return expanded


def _holds(question: Callable[[], bool]) -> bool:
    """The answer of a path; False if the system can't look for it, as for a name that is too long."""
    try:
        return question()
    except (OSError, ValueError):
        return False


def _files_below(folder: Path, kernels: bool) -> list[Input]:
    extensions = IR_EXTENSIONS | SOURCE_EXTENSIONS
    found = [
        Path(parent) / name for parent, _, names in os.walk(folder) for name in names if Path(name).suffix in extensions
    ]
    return [item for path in sorted(found) if not kernels or _may_hold_kernels(path) for item in _found(path, folder)]


def _may_hold_kernels(path: Path) -> bool:
    """False for host code, of which projects for GPUs have most."""
    if path.suffix in IR_EXTENSIONS or language_of(path) not in ("c", "c++"):
        return True
    try:
        return not path.is_file() or _DEVICE_CODE.search(path.read_bytes()) is not None
    except OSError:  # reading it will say what is wrong
        return True


def _modules(path: str) -> list[Input]:
    """What a file that the user named holds; an object without bitcode is refused when it is read."""
    if Path(path).suffix != ".a":
        return [Input(InputFile(path))]
    nothing = Input(path, f"{path}: no file of this archive holds LLVM bitcode; {HOW_TO_EMBED}")
    return [Input(InputFile(module)) for module in modules_of(path)] or [nothing]


def _found(path: Path, folder: Path) -> list[Input]:
    try:
        mode = path.stat().st_mode
    except OSError:  # reading it will say what is wrong
        mode = stat.S_IFREG
    if stat.S_ISREG(mode):
        return [Input(InputFile(module, str(folder))) for module in modules_of(path, folder)]
    return [Input(str(path), f"{path}: is a pipe or a device, not a file")]  # which may never end


def load_module(
    source: str | os.PathLike[str] | bytes,
    *,
    options: CompileOptions | None = None,
    language: str | None = None,
    abstraction: Abstraction | None = None,
    readable: Sequence[str | os.PathLike[str]] = (),
) -> Module:
    """Makes a module from anything that holds code.

    Args:
        source: A path; "-" for standard input; or the text itself: bytes, a string of more than one line, or of one
            with a brace or semicolon where a language is named and no file is called so. A file's extension says what
            it is; text and standard input are IR unless a language is named.
        options: How source is compiled, and whether IR is verified; its ``language`` overrides the extension.
        language: The same: "c", "c++", "opencl" or "cuda"; goes before that of the options.
        abstraction: What statements keep.
        readable: Folders that source may read as well; see `compile_source`. Of a file that `find_inputs` found in a
            folder, that one as well, and the file must not be a link out of it.

    Returns:
        The module as arrays; one without functions is valid.

    Raises:
        InputError: There is no such file, it is empty, or of a kind that ncc does not read.
        CompileError: The compiler refuses the source.
        IRError: The IR can't be read, or LLVM's verifier was asked and refuses it.
    """
    options = CompileOptions.of(options, language)
    if not isinstance(source, str | os.PathLike | bytes) or not source:
        raise InputError(f"source is {source!r:.80}; expected a path, text or bytes")
    source = _as_text(source, options)
    if isinstance(source, bytes):
        return _from_text(source, options, abstraction, "<text>")
    if (text := read_stream(source)) is not None:
        options = replace(options, language=options.language or language_of(source))
        return _from_text(text, options, abstraction, os.fspath(source))
    path = Path(split_member(source)[0])
    if not _holds(path.exists):
        raise InputFileError(f"{path}: no such file")
    readable = (*readable, *_folder_of(source))
    if os.fspath(source).endswith(".a"):
        first, *more = _modules(os.fspath(source))
        if more or first.error:
            names = ", ".join(module.name for module in (first, *more)[:_MAX_NAMES])
            several = f"{source}: holds {1 + len(more)} modules; name one of them: {names}, …"
            raise InputError(first.error or several)
        source = first.name
    if is_ir_path(source) and options.language is None:
        return _read_ir(source, os.fspath(source), options, abstraction)
    if path.is_file() and path.suffix not in SOURCE_EXTENSIONS and options.language is None:
        raise InputError(
            f"{path}: extension {path.suffix!r} is not one that ncc reads "
            f"({' '.join(sorted(IR_EXTENSIONS | SOURCE_EXTENSIONS))}); name the language to read it anyway"
        )
    if path.is_file() and not read_input(source).strip():
        raise InputError(f"{path}: the file is empty; expected source code")
    return _read_compiled(compile_source(source, options, readable=readable), os.fspath(source), abstraction)


def load_program(
    source: str | os.PathLike[str] | bytes,
    levels: Sequence[str],
    *,
    options: CompileOptions | None = None,
    abstraction: Abstraction | None = None,
    cache: Path,
) -> tuple[list[Module], str]:
    """Make a module for each level of a program, and say how it compiled; C and C++ may lack their headers."""
    options = options or CompileOptions()
    source = _as_text(source, options)
    language = options.language or (None if isinstance(source, bytes) else language_of(source))
    if not isinstance(source, bytes) and (text := read_stream(source)) is not None:
        source, options = text, replace(options, language=language)
    if not language or (isinstance(source, bytes) and is_bitcode(source)):
        return [load_module(source, options=options, abstraction=abstraction)], "IR"
    at_levels = [replace(options, optimization=level) for level in levels]
    if language not in ("c", "c++"):
        return [load_module(source, options=some, abstraction=abstraction) for some in at_levels], "as it is"
    if isinstance(source, bytes):
        name, blank = "<text>", not source.strip()
    else:
        name, blank = os.fspath(source), Path(source).is_file() and not read_input(source).strip()
    if blank:
        raise InputError(f"{name}: is empty; expected source code")
    readable = () if isinstance(source, bytes) else _folder_of(source)
    compiled = [compile_program(source, some, cache, readable=readable) for some in at_levels]
    return [read_module(program.ir, name=name, abstraction=abstraction) for program in compiled], compiled[-1].way


def _as_text(source: str | os.PathLike[str] | bytes, options: CompileOptions) -> str | os.PathLike[str] | bytes:
    """Text as bytes; paths unchanged."""
    if not isinstance(source, str):
        return source
    is_code = options.language is not None and ("{" in source or ";" in source) and not _holds(Path(source).exists)
    return source.encode() if is_code or "\n" in source else source


def _folder_of(source: str | os.PathLike[str]) -> tuple[str, ...]:
    """The folder that a path was found in, if it was."""
    if not isinstance(source, InputFile) or source.folder is None:
        return ()
    refuse_link_out(source, source.folder)
    return (source.folder,)


def _from_text(text: bytes, options: CompileOptions, abstraction: Abstraction | None, name: str) -> Module:
    if options.language is None or is_bitcode(text):
        try:
            return _read_ir(text, name, options, abstraction)
        except IRError as error:
            if "expected top-level entity" not in str(error):
                raise
            hint = "text and standard input are read as LLVM IR; for source code, name its language: --language c"
            raise IRError(f"{error}\n  {hint}", line=error.line, column=error.column) from error
    return _read_compiled(compile_source(text, options), name, abstraction)


def _read_compiled(compiled: CompiledSource, name: str, abstraction: Abstraction | None) -> Module:
    return replace(
        read_module(compiled.ir, name=name, abstraction=abstraction), skipped_functions=compiled.skipped_functions
    )


def _read_ir(
    source: str | os.PathLike[str] | bytes, name: str, options: CompileOptions, abstraction: Abstraction | None
) -> Module:
    """Read IR, and warn of IR that can't be right unless LLVM verified it."""
    module = read_module(source, name=name, abstraction=abstraction, verify=options.verify)
    if not options.verify and (mismatch := find_mismatch(module)):
        logger.warning("%s: not verified: %s; --verify asks LLVM", escape_control(name, lines=False), mismatch)
    return module
