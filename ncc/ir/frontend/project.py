"""What a project's files say: flags in its ``compile_commands.json``, and folders of headers that no search path names.

Projects say where their headers are in build files, which nobody has run. So what a compiler does not find is looked
for among the project's own files, and the nearest one of that name is taken.
"""

import functools
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ncc.errors import InputFileError
from ncc.ir.frontend.allowed_paths import FolderSnapshot, is_home_or_temp
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


_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_MAX_LISTED, _MAX_FILES = 200_000, 3000
_MAX_FOLDERS = 64
_MAX_FILE_BYTES = 2**22


@dataclass(frozen=True)
class _Files(FolderSnapshot):
    """The files below a folder that are not hidden, by their names."""

    by_name: Mapping[str, Sequence[str]]


_known: dict[str, _Files] = {}


def header_folders(source: str, roots: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Folders to search for the headers that a source and its headers include."""
    path, *places = (os.path.abspath(one) for one in (source, *roots))  # noqa: PTH100 - as os.walk writes them
    own = Path(path).parent
    if not any(own.is_relative_to(place) for place in places):
        places.append(str(own))
    known = [_files_below(place) for place in places if not is_home_or_temp(place)]
    folders: dict[str, None] = {}
    waiting = [path]
    seen = set(waiting)
    while waiting and len(seen) < _MAX_FILES:
        path = waiting.pop(0)
        for name in _included(path):
            found = _resolve(name, path, folders, known)
            if found and found not in seen and len(folders) < _MAX_FOLDERS:
                seen.add(found)
                waiting.append(found)
    return tuple(folders)


def _resolve(name: str, path: str, folders: dict[str, None], known: Sequence[_Files]) -> str | None:
    """The file that an include names, and its folder among the others where that is what finds it."""
    base = os.path.basename(name)  # noqa: PTH119
    alike = [other for files in known for other in files.by_name.get(base, ())]
    for folder in (os.path.dirname(path), *folders):  # noqa: PTH120
        beside = os.path.normpath(os.path.join(folder, name))  # noqa: PTH118
        if beside in alike:
            return beside
    ending = f"/{name.removeprefix('./')}"
    fitting = [other for other in alike if other.endswith(ending)]
    if not fitting:
        return None
    nearest = min(fitting, key=lambda other: (-len(os.path.commonpath([other, path]).split("/")), len(other), other))
    folders[nearest[: -len(ending)]] = None
    return nearest


def _included(path: str) -> list[str]:
    if os.path.islink(path):  # noqa: PTH114 - it may lead anywhere
        return []
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            text = file.read(_MAX_FILE_BYTES)
    except OSError:
        return []
    return [os.fsdecode(name) for name in _INCLUDE.findall(text)]


def _files_below(root: str) -> _Files:
    known = _known.get(root)
    if known is None or not known.is_current():
        by_name: dict[str, list[str]] = {}
        mtimes_ns = {}
        num_files = 0
        for parent, names, files in os.walk(root):
            try:
                mtimes_ns[parent] = os.stat(parent).st_mtime_ns  # noqa: PTH116
            except OSError:  # gone meanwhile
                continue
            names[:] = sorted(name for name in names if not name.startswith("."))
            num_files += len(files)
            if num_files > _MAX_LISTED:
                break
            for name in files:
                if not name.startswith("."):
                    by_name.setdefault(name, []).append(os.path.join(parent, name))  # noqa: PTH118
        known = _known[root] = _Files(mtimes_ns, by_name)
    return known
