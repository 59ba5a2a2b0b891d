"""Sources of GPU programs: the host code around a kernel, and the macros and folders that a Makefile names."""

import functools
import os
import re
from collections.abc import Sequence
from pathlib import Path

from ncc.ir.frontend.options import CompileOptions
from ncc.kernels.launch import Launch
from ncc.tasks.gpus.host import HostCode, ReadArguments

HOST_SUFFIXES = frozenset((".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".c", ".hip"))
"""Files that may hold code of a program's."""

_FLAG = re.compile(r"(?<!\S)-([DI]) ?(\S+)")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
_DEVICE = re.compile(r'__global__|<<<|#\s*include\s*"')
_AS_CUDA = re.compile(r"-x cu\b")
_INCLUDED = re.compile(r'#\s*include\s*"(?:[^"]*/)?([^"/]+\.(?:cu|hip))"')

_MOST_FILES = 64
_MOST_BYTES = 1_000_000


def make_options(program: Path) -> CompileOptions:
    """The macros and folders that a program's Makefile names, and its own folders."""
    flags = [
        found
        for file in sorted(program.rglob("Makefile*"))
        for found in _FLAG.findall(file.read_text(errors="replace"))
        if "$" not in found[1]
    ]
    folders = [program, program / "include", program / "src", program.parent / "include"]
    folders += [program / value for kind, value in flags if kind == "I"]
    defines = dict.fromkeys(value for kind, value in flags if kind == "D" and value not in ("DEBUG", "VERIFY"))
    return CompileOptions(
        include_paths=tuple(dict.fromkeys(str(folder.resolve()) for folder in folders if folder.is_dir())),
        defines=tuple(defines),
        language="cuda",
        timeout_s=240.0,
    )


def device_sources(program: Path) -> list[Path]:
    """A program's sources that may hold device code, but for those that others include.

    Args:
        program: A folder, or one source, which is then all.
    """
    if program.is_file():
        return [program]
    is_cuda = any(_AS_CUDA.search(_text(file)) for file in program.rglob("Makefile*"))
    suffixes = (".cu", ".hip", ".c", ".cpp") if is_cuda else (".cu", ".hip")
    files = [file for file in sorted(program.rglob("*")) if file.suffix in suffixes and file.is_file()]
    texts = {file: _text(file) for file in files}
    included = {name for text in texts.values() for name in _INCLUDED.findall(text)}
    return [file for file, text in texts.items() if file.name not in included and _DEVICE.search(text)]


def host_arguments(
    source: str | os.PathLike[str] | bytes,
    kernel: str,
    launch: Launch,
    options: CompileOptions | None = None,
    program_arguments: Sequence[str] | None = None,
) -> ReadArguments:
    """What host code tells of a launch: that of the file and of what it includes, else that of the files beside it.

    Args:
        source: Path of a source file, or its text.
        kernel: The kernel's name, with template arguments where it has some.
        launch: Its sizes.
        options: How it is compiled, for macros and folders.
        program_arguments: The program's own arguments.
    """
    options = options or CompileOptions()
    defines = "".join(f"#define {one.replace('=', ' ', 1)}\n" for one in options.defines if "=" in one)
    given = None if program_arguments is None else tuple(program_arguments)
    if isinstance(source, bytes):
        return _host_code(defines + source.decode(errors="replace"), given).arguments_of(kernel, launch)
    path = Path(source)
    own = _with_includes(path, [Path(one) for one in options.include_paths], set())
    found = _host_code(defines + own, given).arguments_of(kernel, launch)
    if found.found:
        return found
    files = sorted(one for one in path.parent.glob("*") if one.suffix in HOST_SUFFIXES and one.is_file())[:_MOST_FILES]
    beside = "\n".join(_text(one) for one in files)
    if "<<<" not in beside:
        return found
    return _host_code(defines + beside, given).arguments_of(kernel, launch)


@functools.lru_cache(maxsize=16)
def _host_code(text: str, program_arguments: tuple[str, ...] | None) -> HostCode:
    return HostCode(text, program_arguments)


def _with_includes(path: Path, folders: Sequence[Path], seen: set[Path]) -> str:
    """A file's text with that of its own headers in their places."""
    if path in seen or len(seen) >= _MOST_FILES:
        return ""
    seen.add(path)

    def included(found: re.Match[str]) -> str:
        for folder in (path.parent, *folders):
            if (folder / found[1]).is_file():
                return _with_includes(folder / found[1], folders, seen)
        return ""

    return _INCLUDE.sub(included, _text(path))


def _text(path: Path) -> str:
    with path.open(errors="replace") as file:
        return file.read(_MOST_BYTES)
