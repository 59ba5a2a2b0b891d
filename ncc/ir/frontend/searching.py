"""Finds header folders that no search path names, by name, in the folder where a source was found.

Projects say where their headers are in build files, which nobody has run. So what a compiler does not find is looked
for among the project's own files, and the nearest one of that name is taken.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ncc.ir.frontend.beside import Look, is_everything

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_MOST_KNOWN, _MOST_FILES = 200_000, 3000
_MOST_FOLDERS = 64
_LARGEST_BYTES = 2**22


@dataclass(frozen=True)
class _Files(Look):
    """The files below a folder that are not hidden, by their names."""

    by_name: Mapping[str, Sequence[str]]


_known: dict[str, _Files] = {}


def header_folders(source: str, roots: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Folders to search for the headers that a source and its headers include."""
    path, *places = (os.path.abspath(one) for one in (source, *roots))  # noqa: PTH100 - as os.walk writes them
    own = Path(path).parent
    if not any(own.is_relative_to(place) for place in places):
        places.append(str(own))
    known = [_files_below(place) for place in places if not is_everything(place)]
    folders: dict[str, None] = {}
    waiting = [path]
    seen = set(waiting)
    while waiting and len(seen) < _MOST_FILES:
        path = waiting.pop(0)
        for name in _included(path):
            found = _resolve(name, path, folders, known)
            if found and found not in seen and len(folders) < _MOST_FOLDERS:
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
            text = file.read(_LARGEST_BYTES)
    except OSError:
        return []
    return [os.fsdecode(name) for name in _INCLUDE.findall(text)]


def _files_below(root: str) -> _Files:
    known = _known.get(root)
    if known is None or not known.holds():
        by_name: dict[str, list[str]] = {}
        changed_ns = {}
        num_files = 0
        for parent, names, files in os.walk(root):
            try:
                changed_ns[parent] = os.stat(parent).st_mtime_ns  # noqa: PTH116
            except OSError:  # gone meanwhile
                continue
            names[:] = sorted(name for name in names if not name.startswith("."))
            num_files += len(files)
            if num_files > _MOST_KNOWN:
                break
            for name in files:
                if not name.startswith("."):
                    by_name.setdefault(name, []).append(os.path.join(parent, name))  # noqa: PTH118
        known = _known[root] = _Files(changed_ns, by_name)
    return known
