"""Paths that a compilation may access: the compiler, system headers, and what its user named.

A source is a stranger's: beside its own folder it reads nothing that the user did not name. Flags are the user's, so
every path in them counts as named. Landlock allows a folder with all below it. So a folder that holds something hidden
is allowed by its parts, and one that holds everything of a user's by the sources and headers in it.
"""

import functools
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ncc.ir.frontend.clang import OWN_HEADERS, Clang
from ncc.ir.frontend.options import CompileOptions
from ncc.system.sandbox.confine import Permissions, find_loaders

_CODE = (
    *(".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tpp", ".def"),
    *(".c", ".cc", ".cpp", ".cxx", ".cl", ".clh", ".cu", ".cuh"),
)
_MAX_BYTES = 2**19
"""Maximum length of all paths together, since they are passed on a command line."""
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
"""Allowed even if TMPDIR names another folder."""
_SETTLED_NS = 10**8
"""Maximum delay of a folder's modification time."""

# os.path rather than Path, since folders may have thousands of files
# ruff: noqa: PTH112, PTH114, PTH116, PTH118, PTH120


@dataclass(frozen=True, eq=False)
class Tree:
    """Snapshot of a folder and everything below it that is not hidden: modification time and names by folder."""

    root: str
    mtimes_ns: Mapping[str, int]
    folders: Mapping[str, Sequence[str]]
    files: Mapping[str, Sequence[str]]
    mixed: frozenset[str]
    """Folders that can't be allowed as a whole because they contain something hidden or unreadable."""

    def is_current(self) -> bool:
        """Return True if the folder has not changed since."""
        with suppress(OSError):
            return all(os.stat(folder).st_mtime_ns == time_ns for folder, time_ns in self.mtimes_ns.items())
        return False

    @functools.cached_property
    def paths(self) -> tuple[str, ...]:
        """Paths that together allow the whole snapshot."""
        if not self.mixed:
            return (self.root,)
        folders = [os.path.join(parent, name) for parent in self.mixed for name in self.folders.get(parent, ())]
        files = [os.path.join(parent, name) for parent in self.mixed for name in self.files.get(parent, ())]
        files.sort(key=lambda name: not is_code(name))
        return _bounded(path for path in (*folders, *files) if path not in self.mixed and not os.path.islink(path))

    @functools.cached_property
    def by_name(self) -> Mapping[str, Sequence[str]]:
        """Name of a file → its paths."""
        paths: dict[str, list[str]] = {}
        for parent, names in self.files.items():
            for name in names:
                paths.setdefault(name, []).append(os.path.join(parent, name))
        return paths


_trees: dict[str, Tree] = {}


def look_at(folder: str) -> Tree:
    """Take a snapshot of a folder, or return an earlier one that is still current."""
    tree = _trees.get(folder)
    if tree is None or not tree.is_current():
        start_ns = time.time_ns()
        tree = _walk(folder)
        if max(tree.mtimes_ns.values(), default=start_ns) < start_ns - _SETTLED_NS:
            _trees[folder] = tree
    return tree


def _walk(folder: str) -> Tree:
    folders: dict[str, list[str]] = {}
    files: dict[str, list[str]] = {}
    mtimes_ns: dict[str, int] = {}
    mixed: set[str] = set()

    def mix(path: str) -> None:
        """Mark a folder and all folders above it."""
        while path not in mixed:
            mixed.add(path)
            if path != folder:
                path = os.path.dirname(path)

    for parent, names, file_names in os.walk(folder, onerror=lambda error: mix(error.filename)):
        with suppress(OSError):  # deleted in the meantime
            mtimes_ns[parent] = os.stat(parent).st_mtime_ns
        if any(name.startswith(".") for name in (*names, *file_names)):
            mix(parent)
        names[:] = [name for name in names if not name.startswith(".")]
        folders[parent] = list(names)
        files[parent] = [name for name in file_names if not name.startswith(".")]
    return Tree(folder, mtimes_ns, folders, files, frozenset(mixed))


def allowed_paths(source: str, given: Sequence[str | os.PathLike[str]]) -> Sequence[str]:
    """Return the paths that allow a source's own folder."""
    folder = os.path.normpath(Path(source).absolute().parent)
    for path in given:
        root = os.path.normpath(Path(path).absolute())
        if Path(folder).is_relative_to(root):
            if any(part.startswith(".") for part in Path(folder).relative_to(root).parts):
                return _code_in(folder)
            return allowed_tree(folder) if is_home_or_temp(root) else ()
    return allowed_tree(folder)


def allowed_tree(folder: str | os.PathLike[str]) -> Sequence[str]:
    """Return paths that allow what is not hidden in a folder; only the code directly in it for a home and the like."""
    folder = str(Path(folder))  # without a slash at its end
    return _code_in(folder) if is_home_or_temp(folder) else look_at(folder).paths


def is_home_or_temp(folder: str | os.PathLike[str]) -> bool:
    """Return True for a user's home, the folders above it, and folders for temporary files."""
    real = Path(folder).resolve()
    homes = {os.path.expanduser("~")}  # noqa: PTH111 - Path.home() fails without a home
    with suppress(KeyError, ImportError):  # a user without an entry; Windows
        import pwd

        homes.add(pwd.getpwuid(os.getuid()).pw_dir)
    if any(Path(home).resolve().is_relative_to(real) for home in homes):
        return True
    try:
        mode = real.stat().st_mode
    except OSError:
        return False
    is_shared = mode & stat.S_ISVTX and mode & stat.S_IWOTH
    return bool(is_shared) or real in {Path(path).resolve() for path in (*_TEMPORARY, tempfile.gettempdir())}


def is_code(name: str) -> bool:
    """Return True for the name of a source or header."""
    return name.lower().endswith(_CODE)


def _code_in(folder: str) -> Sequence[str]:
    """Return sources and headers, without links (which may lead anywhere) and folders (which allow all below them)."""
    with suppress(OSError), os.scandir(folder) as entries:
        return _bounded(
            entry.path
            for entry in entries
            if is_code(entry.name) and not entry.name.startswith(".") and entry.is_file(follow_symlinks=False)
        )
    return ()


def _bounded(paths: Iterable[str]) -> tuple[str, ...]:
    """Return as many of the first paths as fit on a command line."""
    bounded, left = [], _MAX_BYTES
    for path in paths:
        left -= len(os.fsencode(path)) + len("--read  ")
        if left < 0:
            break
        bounded.append(path)
    return tuple(bounded)


# Headers and libraries of the system that every user may read; /nix and /gnu contain packages.
_SYSTEM = (
    *("/usr/include", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/share"),
    *("/usr/local/include", "/usr/local/lib", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/dev/null"),
    # read by compiler drivers to identify the distribution and the processor
    *("/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/redhat-release", "/etc/clang"),
    *("/proc/cpuinfo", "/sys/devices/system/cpu"),
)
_SEARCH_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "LD_LIBRARY_PATH")

_WITH_FOLDER = ("-include", "-imacros")
# A flag comes before its own prefixes.
_JOINED = (
    *("-include-pch", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot", "-iframework"),
    *("-iwithprefixbefore", "-iwithprefix", "-iprefix", "-cxx-isystem", "-ivfsoverlay", "-I", "-F", "-B", "-L"),
)
_NO_PATHS = ("-D", "-U", "-W")

_PARTS = ("bin", "lib", "lib32", "lib64", "libexec", "include", "share")


def compile_permissions(
    compiler: Clang, options: CompileOptions, source: str | bytes, readable: Sequence[str | os.PathLike[str]] = ()
) -> Permissions:
    """Return the paths that a compilation may access."""
    read = [
        *_SYSTEM,
        str(OWN_HEADERS),
        *options.include_paths,
        *_named_by(options.flags),
        *(path for folder in readable for path in allowed_tree(folder)),
    ]
    if isinstance(source, str):
        read += allowed_paths(source, readable)
        if not readable:  # named by the user, so it may be a link to anywhere
            read.append(source)
    if compiler.headers is not None:
        execute = [compiler.argv[0]]
        read.append(str(compiler.headers))
    else:
        execute = [*_programs(compiler.argv[0]), *find_loaders()]
        read += [path for name in _SEARCH_VARIABLES for path in os.environ.get(name, "").split(os.pathsep) if path]
    return Permissions(read=tuple(read), execute=tuple(execute))


def _named_by(flags: Sequence[str]) -> Iterator[str]:
    """Yield every path in flags, and every word that may be a path: one that does not exist allows nothing."""
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
            # ncc itself passes a source's own folder, which may be the user's home, by -iquote
            yield from allowed_tree(path) if quoted and os.path.isdir(path) else (path,)
            if folder_too and os.path.exists(path):  # noqa: PTH110 - a flag may name no file at all
                yield from allowed_tree(Path(path).parent)
            folder_too = quoted = False


def _programs(name: str, *, depth: int = 2) -> Iterator[str]:
    """Yield a program and its installation; for a script, also those of its interpreter."""
    program = shutil.which(name)
    if program is None:
        return
    for path in dict.fromkeys((Path(program).absolute(), Path(program).resolve())):
        yield str(path)
        prefix = path.parent.parent if path.parent.name == "bin" else path.parent
        if is_home_or_temp(prefix) or str(prefix) in ("/usr", "/usr/local"):
            yield from (str(prefix / part) for part in _PARTS)
        else:
            yield str(prefix)
    line = b""
    with suppress(OSError), Path(program).open("rb") as file:
        line = file.readline(512)
    if line.startswith(b"#!") and depth:
        yield from ("/bin", "/usr/bin")  # needed by most scripts
        for word in os.fsdecode(line[2:]).split():
            yield from _programs(word, depth=depth - 1)
