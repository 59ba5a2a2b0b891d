"""What one compilation may access: the compiler, system headers, and what its user named.

A source is a stranger's: beside its own folder it reads nothing that the user did not name. Flags are the user's, so
every path in them counts as named. Landlock allows a folder with all below it. So a folder that holds something hidden
is allowed by its parts, and one that holds everything of a user's by the sources and headers in it.
"""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ncc.ir.frontend.clang import OWN_HEADERS, Clang
from ncc.ir.frontend.options import CompileOptions
from ncc.system.sandbox.confine import Permissions, find_loaders

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
class FolderSnapshot:
    """What a look at folders found: them, with their times of change."""

    mtimes_ns: Mapping[str, int]

    def is_current(self) -> bool:
        """Whether another would find the same."""
        try:
            return all(os.stat(folder).st_mtime_ns == time_ns for folder, time_ns in self.mtimes_ns.items())  # noqa: PTH116 - thousands
        except OSError:
            return False


@dataclass(frozen=True)
class _Visible(FolderSnapshot):
    """And the paths that stand for them."""

    paths: tuple[str, ...]


_known: dict[str, _Visible] = {}


def allowed_paths(source: str, given: Sequence[str | os.PathLike[str]]) -> Sequence[str]:
    """Paths that stand for a source's own folder."""
    folder = os.path.normpath(Path(source).absolute().parent)
    for path in given:
        root = os.path.normpath(Path(path).absolute())
        if Path(folder).is_relative_to(root):
            if any(part.startswith(".") for part in Path(folder).relative_to(root).parts):
                return _code_in(folder)
            return allowed_tree(folder) if is_home_or_temp(root) else ()
    return allowed_tree(folder)


def allowed_tree(folder: str | os.PathLike[str]) -> Sequence[str]:
    """Paths that stand for all in a folder that is not hidden; of one that holds everything, for the code in it."""
    folder = str(Path(folder))  # without a slash at its end
    if is_home_or_temp(folder):
        return _code_in(folder)
    known = _known.get(folder)
    if known is None or not known.is_current():
        began_ns = time.time_ns()
        known = _look(folder)
        if max(known.mtimes_ns.values(), default=began_ns) < began_ns - _SETTLED_NS:
            _known[folder] = known
    return known.paths


def is_home_or_temp(folder: str | os.PathLike[str]) -> bool:
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
    mtimes_ns: dict[str, int] = {}
    mixed: set[str] = set()

    def mix(path: str) -> None:
        """This folder, and so those above it, are allowed by their parts."""
        while path not in mixed:
            mixed.add(path)
            if path != folder:
                path = os.path.dirname(path)  # noqa: PTH120 - as os.walk writes them

    for parent, names, files in os.walk(folder, onerror=lambda error: mix(error.filename)):
        mtimes_ns[parent] = os.stat(parent).st_mtime_ns  # noqa: PTH116 - thousands
        if any(name.startswith(".") for name in (*names, *files)):
            mix(parent)
        names[:] = [name for name in names if not name.startswith(".")]
        listed[parent] = list(names), files
    if not mixed:
        return _Visible(mtimes_ns, (folder,))
    parts = [os.path.join(parent, name) for parent in mixed for name in listed.get(parent, ((), ()))[0]]  # noqa: PTH118
    files = [
        os.path.join(parent, name)  # noqa: PTH118 - thousands
        for parent in mixed
        for name in listed.get(parent, ((), ()))[1]
        if not name.startswith(".")
    ]
    files.sort(key=lambda name: not name.lower().endswith(_CODE))
    allowed = [path for path in (*parts, *files) if path not in mixed and not os.path.islink(path)]  # noqa: PTH114
    return _Visible(mtimes_ns, tuple(_bounded(allowed)))


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


# Headers and libraries of the system, as far as programs of every user may read them; /nix and /gnu hold packages.
_SYSTEM = (
    *("/usr/include", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/share"),
    *("/usr/local/include", "/usr/local/lib", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/dev/null"),
    # what a driver looks at to know the distribution and the processor
    *("/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/redhat-release", "/etc/clang"),
    *("/proc/cpuinfo", "/sys/devices/system/cpu"),
)
_SEARCH_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "LD_LIBRARY_PATH")

_WITH_FOLDER = ("-include", "-imacros")
# A flag stands before those that it begins with.
_JOINED = (
    *("-include-pch", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot", "-iframework"),
    *("-iwithprefixbefore", "-iwithprefix", "-iprefix", "-cxx-isystem", "-ivfsoverlay", "-I", "-F", "-B", "-L"),
)
_NO_PATHS = ("-D", "-U", "-W")

_PARTS = ("bin", "lib", "lib32", "lib64", "libexec", "include", "share")


def compile_permissions(
    compiler: Clang,
    options: CompileOptions,
    source: str | None,
    readable: Sequence[str | os.PathLike[str]] = (),
    *,
    writable: Sequence[str] = (),
) -> Permissions:
    """What a compilation may use."""
    read = [
        *_SYSTEM,
        str(OWN_HEADERS),
        *options.include_paths,
        *_named_by(options.flags),
        *(path for folder in readable for path in allowed_tree(folder)),
    ]
    if source is not None:
        read += allowed_paths(source, readable)
        if not readable:  # a file that the user named himself, which may be a link to anywhere
            read.append(source)
    if compiler.headers is not None:
        execute = [compiler.argv[0]]
        read.append(str(compiler.headers))
    else:
        execute = [*_programs(compiler.argv[0]), *find_loaders()]
        read += [path for name in _SEARCH_VARIABLES for path in os.environ.get(name, "").split(os.pathsep) if path]
    return Permissions(read=tuple(read), write=tuple(writable), execute=tuple(execute))


def _named_by(flags: Sequence[str]) -> Iterator[str]:
    """Every path in flags, and words that may be one: what does not exist allows nothing."""
    folder_too = quoted = False
    for flag in flags:
        if flag.startswith(_NO_PATHS) or flag == "-Xclang":
            continue
        joined = next((name for name in _JOINED if flag.startswith(name)), None)
        if joined:
            path = flag.removeprefix(joined)
            folder_too, quoted = joined in _WITH_FOLDER, joined == "-iquote"
        elif flag.startswith("-"):
            path = flag.partition("=")[2]
        else:
            path = flag.removeprefix("@")
        if path:
            # -iquote is what ncc writes for a source's own folder, that of a user's home among them
            yield from allowed_tree(path) if quoted and os.path.isdir(path) else (path,)  # noqa: PTH112 - see below
            if folder_too and os.path.exists(path):  # noqa: PTH110 - a flag may not name a file at all
                yield from allowed_tree(Path(path).parent)
            folder_too = quoted = False


def _programs(name: str, *, depth: int = 2) -> Iterator[str]:
    """A program with its installation; of a script, those of its interpreter as well."""
    found = shutil.which(name)
    if found is None:
        return
    for path in dict.fromkeys((Path(found).absolute(), Path(found).resolve())):
        yield str(path)
        prefix = path.parent.parent if path.parent.name == "bin" else path.parent
        if is_home_or_temp(prefix) or str(prefix) in ("/usr", "/usr/local"):
            yield from (str(prefix / part) for part in _PARTS)
        else:
            yield str(prefix)
    words = _interpreter(found)
    if words and depth:
        yield from ("/bin", "/usr/bin")  # what scripts live by
        for word in words:
            yield from _programs(word, depth=depth - 1)


def _interpreter(path: str) -> list[str]:
    try:
        with Path(path).open("rb") as file:
            line = file.readline(512)
    except OSError:
        return []
    return os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
