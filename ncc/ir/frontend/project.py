"""Compilation databases (``compile_commands.json``): the flags that a project's own build gives each of its files."""

import functools
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ncc.errors import InputFileError
from ncc.ir.frontend.options import CompileOptions

_PATH_FLAGS = ("-I", "-isystem", "-iquote", "-include")
_KEPT_FLAGS = (
    "-D",
    "-U",
    "-std=",
    "-m",
    "-fno-exceptions",
    "-fno-rtti",
    "-fsigned-char",
    "-funsigned-char",
    "-fopenmp",
)


def load_commands(path: str | os.PathLike[str]) -> Mapping[Path, tuple[str, ...]]:
    """File → the flags of its command that another clang understands, paths made absolute."""
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


def own_flags(source: str | os.PathLike[str] | bytes, options: CompileOptions) -> tuple[str, ...]:
    """What the database of the options, if they name one, says of a file; nothing of one that it does not name."""
    if options.commands is None or isinstance(source, bytes):
        return ()
    return load_commands(options.commands).get(Path(os.path.normpath(Path(source).absolute())), ())


def with_own_flags(source: str | os.PathLike[str] | bytes, options: CompileOptions) -> CompileOptions:
    """Options that have a file's own flags before the others, and need no database."""
    if options.commands is None:
        return options
    return replace(options, commands=None, flags=(*own_flags(source, options), *options.flags))


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
            where = word.removeprefix(flag) or next(words, "")
            yield from (flag, str(directory / where))
        elif word in ("-D", "-U"):
            yield from (word, next(words, ""))
        elif word.startswith(_KEPT_FLAGS):
            yield word
