"""What one compilation may access: the compiler, system headers, and what its user named.

A source is a stranger's: beside its own folder it reads nothing that the user did not name. Flags are the user's, so
every path in them counts as named.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from ncc.ir.frontend.beside import is_everything, readable_around, readable_below
from ncc.ir.frontend.compilers import Clang
from ncc.ir.frontend.headers import OWN_HEADERS
from ncc.ir.frontend.options import CompileOptions
from ncc.system.sandbox.confine import Permissions, find_loaders

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
        *(path for folder in readable for path in readable_below(folder)),
    ]
    if source is not None:
        read += readable_around(source, readable)
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
            yield from readable_below(path) if quoted and os.path.isdir(path) else (path,)  # noqa: PTH112 - see below
            if folder_too and os.path.exists(path):  # noqa: PTH110 - a flag may not name a file at all
                yield from readable_below(Path(path).parent)
            folder_too = quoted = False


def _programs(name: str, *, depth: int = 2) -> Iterator[str]:
    """A program with its installation; of a script, those of its interpreter as well."""
    found = shutil.which(name)
    if found is None:
        return
    for path in dict.fromkeys((Path(found).absolute(), Path(found).resolve())):
        yield str(path)
        prefix = path.parent.parent if path.parent.name == "bin" else path.parent
        if is_everything(prefix) or str(prefix) in ("/usr", "/usr/local"):
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
