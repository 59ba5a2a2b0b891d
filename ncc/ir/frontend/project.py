"""Hints in a project's files: flags in its ``compile_commands.json``, and folders of headers that no search path names.

Where headers are is written in build files, which nobody has run. So what a compiler does not find is looked for among
the project's own files, and the nearest one of that name is taken.
"""

import functools
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ncc.errors import InputFileError
from ncc.ir.frontend.allowed_paths import Tree, is_home_or_temp, look_at
from ncc.ir.frontend.options import CompileOptions

_PATH_FLAGS = ("-I", "-isystem", "-iquote", "-include")
_FLAGS = (
    *("-D", "-U", "-std=", "-m"),
    *("-fno-exceptions", "-fno-rtti", "-fsigned-char", "-funsigned-char", "-fopenmp"),
)
"""What is kept of a command, and paths."""


def own_flags(source: str | os.PathLike[str] | bytes, options: CompileOptions) -> tuple[str, ...]:
    """Return the flags that the database of the options, if they name one, has for a file."""
    if options.commands is None or isinstance(source, bytes):
        return ()
    return load_commands(options.commands).get(Path(os.path.normpath(Path(source).absolute())), ())


def with_own_flags(source: str | os.PathLike[str] | bytes, options: CompileOptions) -> CompileOptions:
    """Return options that have a file's own flags before the others, and need no database."""
    return replace(options, commands=None, flags=(*own_flags(source, options), *options.flags))


def load_commands(path: str | os.PathLike[str]) -> Mapping[Path, tuple[str, ...]]:
    """Map files to the flags of their commands that another clang understands, paths made absolute."""
    path = Path(path)
    try:
        return _load(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise InputFileError(f"{path}: can't be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise InputFileError(f"{path}: not a compilation database: it is not JSON ({error})") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        expected = "expected a list of objects with 'directory', 'file' and 'arguments' or 'command'"
        raise InputFileError(f"{path}: not a compilation database: {expected}") from error


@functools.lru_cache(maxsize=4)
def _load(path: Path, _modified: int) -> Mapping[Path, tuple[str, ...]]:
    entries = json.loads(path.read_bytes())
    folders = [path.absolute().parent / entry["directory"] for entry in entries]
    return {
        Path(os.path.normpath(folder / entry["file"])): tuple(
            _kept(entry.get("arguments") or shlex.split(entry["command"]), folder)
        )
        for entry, folder in zip(entries, folders, strict=True)
    }


def _kept(arguments: list[str], directory: Path) -> Iterator[str]:
    words = iter(arguments)
    for word in words:
        flag = next((flag for flag in _PATH_FLAGS if word.startswith(flag)), None)
        if flag:
            yield from (flag, str(directory / (word.removeprefix(flag) or next(words, ""))))
        elif word in ("-D", "-U"):
            yield from (word, next(words, ""))
        elif word.startswith(_FLAGS):
            yield word


_INCLUDE = rb'(?m)^[ \t]*#[ \t]*include(?:_next)?[ \t]*["<]([^">\n]+)[">]'
_MAX_FILES, _MAX_FOLDERS = 3000, 64
_MAX_FILE_BYTES = 2**22

# os.path, which takes paths as os.walk writes them
# ruff: noqa: PTH100, PTH114, PTH118, PTH119, PTH120


def header_folders(source: str, roots: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Find folders to search for the headers that a source and its headers include."""
    path, *projects = (os.path.abspath(name) for name in (source, *roots))
    if not any(Path(path).parent.is_relative_to(project) for project in projects):
        projects.append(os.path.dirname(path))
    trees = [look_at(project) for project in projects if not is_home_or_temp(project)]
    folders: dict[str, None] = {}
    waiting = [path]
    seen = set(waiting)
    while waiting and len(seen) < _MAX_FILES:
        path = waiting.pop(0)
        for name in _included(path):
            header = _resolve(name, path, folders, trees)
            if header and header not in seen and len(folders) < _MAX_FOLDERS:
                seen.add(header)
                waiting.append(header)
    return tuple(folders)


def _resolve(name: str, path: str, folders: dict[str, None], trees: Sequence[Tree]) -> str | None:
    """Return the file that an include names; add its folder to the others if that is what finds it."""
    candidates = [file for tree in trees for file in tree.by_name.get(os.path.basename(name), ())]
    for folder in (os.path.dirname(path), *folders):
        beside = os.path.normpath(os.path.join(folder, name))
        if beside in candidates:
            return beside
    ending = f"/{name.removeprefix('./')}"
    fitting = [file for file in candidates if file.endswith(ending)]
    if not fitting:
        return None
    nearest = min(fitting, key=lambda file: (-len(os.path.commonpath([file, path]).split("/")), len(file), file))
    folders[nearest[: -len(ending)]] = None
    return nearest


def _included(path: str) -> list[str]:
    if os.path.islink(path):  # it may lead anywhere
        return []
    try:
        with Path(path).open("rb") as file:
            return [os.fsdecode(name) for name in re.findall(_INCLUDE, file.read(_MAX_FILE_BYTES))]
    except OSError:
        return []
