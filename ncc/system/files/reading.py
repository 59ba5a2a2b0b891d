"""Opens the content of a path, once and with checks: a file, an archive member, a pipe, or standard input."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BufferedReader, FileIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from ncc.errors import InputError, InputFileError
from ncc.system.files.archives import read_member, split_member
from ncc.system.sandbox.limits import refuse_size

STDIN = "-"
MAX_STREAM_BYTES = 2**31

_PIECE_BYTES, _BUFFER_BYTES = 2**20, 2**13
"""A larger buffer, as Python has from 3.14 on, would be filled for each small file of an archive."""
_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe would wait for a writer
_DESCRIPTORS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


@dataclass(frozen=True)
class InputFile:
    """A file by its path, which is never read as text, with permission to include files of a folder."""

    path: str
    folder: str | None = None  # in which it was found, as the user named it; None if the user named the file itself

    def __fspath__(self) -> str:
        return self.path

    __str__ = __fspath__


def read_input(
    path: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None, *, is_regular: bool = False
) -> bytes:
    """Read a whole file, pipe or archive member; with ``is_regular``, no pipe, and no more than its size."""
    archive, member = split_member(path)
    folder = path.folder if isinstance(path, InputFile) else folder
    if folder is None and member is None and not is_regular and (content := read_stream(path)) is not None:
        return content
    with open_input(archive, folder) as file:
        if member is not None:
            return read_member(file, archive, member)
        return file.read(os.fstat(file.fileno()).st_size if is_regular else -1)


@contextmanager
def open_input(path: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> Iterator[BufferedReader]:
    """Open a file that must be in a folder, if given, and check the open file, since links may change."""
    name = os.fspath(path)
    try:
        opened = os.open(name, _READ) if folder is None else _open_inside(name, folder)
        file: BufferedReader = BufferedReader(FileIO(opened), _BUFFER_BYTES)
        with file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{name}: is a pipe or a device, not a file")
            refuse_size(name, status.st_size)
            yield file
    except FileNotFoundError as error:
        raise InputFileError(f"{name}: no such file") from error
    except OSError as error:
        raise InputFileError(f"{name}: can't be read: {error.strerror}") from error


def refuse_link_out(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Path:
    """Return the real path of a file relative to its folder; raise `InputError` if it is outside."""
    real, real_folder = (Path(os.path.realpath(each)) for each in (path, folder))  # each may be a link to itself
    if not real.is_relative_to(real_folder):
        raise InputError(f"{path}: is a link out of {folder}, to {real}; pass that file itself to read it")
    return real.relative_to(real_folder)


def _open_inside(path: str, folder: str | os.PathLike[str]) -> int:
    """Open a file of a folder step by step, so that new links on the way are not followed."""
    inside = refuse_link_out(path, folder)
    if sys.platform == "win32":  # no way to open files relative to an open folder
        return os.open(Path(folder).resolve() / inside, _READ)
    opened = os.open(Path(folder).resolve(), _PATH_ONLY | os.O_DIRECTORY)
    steps = [(part, _PATH_ONLY | os.O_DIRECTORY) for part in inside.parts[:-1]]
    for part, flags in (*steps, (inside.name, _READ)):
        parent = opened
        try:
            opened = os.open(part, flags | os.O_NOFOLLOW, dir_fd=parent)
        finally:
            os.close(parent)
    return opened


def is_own_stream(source: str | os.PathLike[str]) -> bool:
    """Return True if a path has a different meaning in each process, so that workers and compilers can't open it."""
    return source == STDIN or str(source).startswith(_DESCRIPTORS)


def read_stream(source: str | os.PathLike[str]) -> bytes | None:
    """Read standard input ("-") or a pipe; None for other paths."""
    if source == STDIN:
        return _read_to_end(sys.stdin.buffer, "standard input")
    path = Path(source)
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError):
        kind = None
    if kind in (stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK):
        raise InputError(f"{path}: is a device or a socket; expected a file, a pipe, or - for standard input")
    if kind != stat.S_IFIFO and not is_own_stream(path):
        return None
    try:
        with path.open("rb") as pipe:
            return _read_to_end(pipe, str(path))
    except OSError as error:
        raise InputFileError(f"{path}: can't be read: {error.strerror}") from error


def _read_to_end(stream: BinaryIO, name: str) -> bytes:
    pieces = iter(partial(stream.read, _PIECE_BYTES), b"")  # one `read` would allocate the maximum
    content = b"".join(islice(pieces, MAX_STREAM_BYTES // _PIECE_BYTES + 1))
    if len(content) > MAX_STREAM_BYTES:
        raise InputError(f"{name} has more than {MAX_STREAM_BYTES >> 30} GiB; pass it as a file")
    if not content.strip():
        raise InputError(f"{name} is empty")
    return content
