"""What a source may read of its own folder, or of one that was passed: nothing that is hidden.

Landlock allows a folder with all below it. So a folder that holds something hidden is allowed by its parts, and one
that holds everything of a user's by the sources and headers in it.
"""

import os
import stat
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_CODE = (
    *(".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tpp", ".def"),
    *(".c", ".cc", ".cpp", ".cxx", ".cl", ".clh", ".cu", ".cuh"),
)
_MOST_BYTES = 2**19
"""Of all paths together: they go on a command line."""
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
"""There also where TMPDIR names another."""
_SETTLED_NS = 10**8
"""A folder's time of change can be this far behind."""


@dataclass(frozen=True)
class Look:
    """What a look at folders found: them, with their times of change."""

    changed_ns: Mapping[str, int]

    def holds(self) -> bool:
        """Whether another would find the same."""
        try:
            return all(os.stat(folder).st_mtime_ns == time_ns for folder, time_ns in self.changed_ns.items())  # noqa: PTH116 - thousands
        except OSError:
            return False


@dataclass(frozen=True)
class _Visible(Look):
    """And the paths that stand for them."""

    paths: tuple[str, ...]


_known: dict[str, _Visible] = {}


def readable_around(source: str, given: Sequence[str | os.PathLike[str]]) -> Sequence[str]:
    """Paths that stand for a source's own folder."""
    folder = os.path.normpath(Path(source).absolute().parent)
    for path in given:
        root = os.path.normpath(Path(path).absolute())
        if Path(folder).is_relative_to(root):
            if any(part.startswith(".") for part in Path(folder).relative_to(root).parts):
                return _code_in(folder)
            return readable_below(folder) if is_everything(root) else ()
    return readable_below(folder)


def readable_below(folder: str | os.PathLike[str]) -> Sequence[str]:
    """Paths that stand for all in a folder that is not hidden; of one that holds everything, for the code in it."""
    folder = str(Path(folder))  # without a slash at its end
    if is_everything(folder):
        return _code_in(folder)
    known = _known.get(folder)
    if known is None or not known.holds():
        began_ns = time.time_ns()
        known = _look(folder)
        if max(known.changed_ns.values(), default=began_ns) < began_ns - _SETTLED_NS:
            _known[folder] = known
    return known.paths


def is_everything(folder: str | os.PathLike[str]) -> bool:
    """Is this the folder of a user, one above it, or one of everybody's temporary files?"""
    real = Path(folder).resolve()
    if any(home.is_relative_to(real) for home in _homes()):
        return True
    try:
        mode = real.stat().st_mode
    except OSError:
        return False
    shared = mode & stat.S_ISVTX and mode & stat.S_IWOTH
    return bool(shared) or real in {Path(path).resolve() for path in (*_TEMPORARY, tempfile.gettempdir())}


def _homes() -> set[Path]:
    homes = {os.path.expanduser("~")}  # noqa: PTH111 - Path.home() fails without a home
    try:
        import pwd

        homes.add(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):  # Windows; a user without an entry
        pass
    return {Path(home).resolve() for home in homes}


def _look(folder: str) -> _Visible:
    listed: dict[str, tuple[list[str], list[str]]] = {}
    changed_ns: dict[str, int] = {}
    mixed: set[str] = set()

    def mix(path: str) -> None:
        """This folder, and so those above it, are allowed by their parts."""
        while path not in mixed:
            mixed.add(path)
            if path != folder:
                path = os.path.dirname(path)  # noqa: PTH120 - as os.walk writes them

    for parent, names, files in os.walk(folder, onerror=lambda error: mix(error.filename)):
        changed_ns[parent] = os.stat(parent).st_mtime_ns  # noqa: PTH116 - thousands
        if any(name.startswith(".") for name in (*names, *files)):
            mix(parent)
        names[:] = [name for name in names if not name.startswith(".")]
        listed[parent] = list(names), files
    if not mixed:
        return _Visible(changed_ns, (folder,))
    parts = [os.path.join(parent, name) for parent in mixed for name in listed.get(parent, ((), ()))[0]]  # noqa: PTH118
    files = [
        os.path.join(parent, name)  # noqa: PTH118 - thousands
        for parent in mixed
        for name in listed.get(parent, ((), ()))[1]
        if not name.startswith(".")
    ]
    files.sort(key=lambda name: not name.lower().endswith(_CODE))
    allowed = [path for path in (*parts, *files) if path not in mixed and not os.path.islink(path)]  # noqa: PTH114
    return _Visible(changed_ns, tuple(_bounded(allowed)))


def _code_in(folder: str) -> list[str]:
    """Sources and headers: no link, which could lead anywhere, and no folder, which would bring all below it."""
    try:
        with os.scandir(folder) as entries:
            return _bounded(
                entry.path
                for entry in entries
                if entry.name.lower().endswith(_CODE)
                and not entry.name.startswith(".")
                and entry.is_file(follow_symlinks=False)
            )
    except OSError:
        return []


def _bounded(paths: Iterable[str]) -> list[str]:
    """The first of them, as many as a command line holds."""
    found, left = [], _MOST_BYTES
    for path in paths:
        left -= len(os.fsencode(path)) + len("--read  ")
        if left < 0:
            break
        found.append(path)
    return found
