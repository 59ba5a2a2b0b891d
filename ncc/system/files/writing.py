"""Atomic files, written under another name and then renamed, and locks of folders."""

import errno
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO

from ncc.errors import InputError, OutputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_WAIT_S = 60.0  # another process may take this long to write a model
_PAUSE_S = 0.02
_held: ContextVar[frozenset[str]] = ContextVar("_held", default=frozenset())
"""Folders that this thread has locked."""

# os.path returns False for inaccessible paths and impossible names, for which Path raises errors


@contextmanager
def open_atomically(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name, complete, if the block succeeds; missing folders are made."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    with _output_errors(path):
        if _is_special(path):
            raise OutputError(f"{path}: is a pipe or a device, which a file can't replace")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:  # with the permissions that any new file gets
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file, or leave the existing one."""
    with open_atomically(path) as file:
        file.write(data)


def write_output(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file that the user named to its target: through a link, or into a pipe or a device."""
    path = Path(path)
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    with _output_errors(path):
        if special := _open_special(path):
            with special:
                special.write(data)
            return
    write_atomically(os.path.realpath(path) if path.is_symlink() else path, data)


def _is_special(path: Path) -> bool:
    """Return True for a pipe or a device, which root could replace with a file."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _open_special(path: Path) -> IO[bytes] | None:
    """Open a pipe, a device, or the file that standard output goes to; None for other files."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):  # opened again, it would be written from its start
                sys.stdout.flush()
                return open(os.dup(descriptor), "wb")  # noqa: PTH123
    return path.open("wb") if _is_special(path) else None


@contextmanager
def _output_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror or error}") from error


def check_writable(*paths: Path | None, extensions: Collection[str] = ()) -> None:
    """Raise `OutputError` if a file can't be written, `InputError` if its name ends otherwise; None is skipped."""
    for path in filter(None, paths):
        if extensions and path.suffix not in extensions:
            known = " ".join(extensions) if len(extensions) == 1 else f"one of {' '.join(extensions)}"
            raise InputError(f"{path}: extension {path.suffix!r} is not {known}")
        folder = os.path.dirname(os.path.realpath(path)) if os.path.islink(path) else path.parent  # noqa: PTH114, PTH120
        if os.path.isdir(path):  # noqa: PTH112
            raise OutputError(f"{path}: is a folder; expected a file to write")
        if not os.path.isdir(folder):  # noqa: PTH112
            raise OutputError(f"{path}: no such folder: {folder}")
        if not os.access(path if os.path.exists(path) else folder, os.W_OK):  # noqa: PTH110
            raise OutputError(f"{path}: can't be written: Permission denied")


def check_folder(*folders: str | os.PathLike[str] | None) -> None:
    """Raise `OutputError` if files can't be written into a folder, which need not exist yet; None is skipped."""
    for folder in (Path(one) for one in folders if one is not None):
        whole = folder.absolute()
        with _output_errors(folder):
            existing = next(path for path in (whole, *whole.parents) if path.is_symlink() or path.exists())
        if not existing.is_dir():
            raise OutputError(f"{folder}: can't be written: {existing} is a file; expected a folder")
        if not os.access(existing, os.W_OK):
            raise OutputError(f"{folder}: can't be written: Permission denied")


@contextmanager
def folder_lock(folder: Path, *, wait_s: float = _WAIT_S) -> Iterator[None]:
    """Make a folder and lock it against other processes and threads; nesting is allowed."""
    name, is_new = os.path.realpath(folder), not folder.exists()
    if name in _held.get():
        yield
        return
    with _output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = _open_lock(folder)
    try:
        deadline = time.monotonic() + wait_s
        while not _lock(handle):
            if time.monotonic() >= deadline:
                hint = "another run of ncc is writing to this folder; wait for it, or pass another folder"
                raise OutputError(f"{folder}: can't be written: {hint}")
            time.sleep(_PAUSE_S)
        token = _held.set(_held.get() | {name})
        try:
            yield
        except BaseException:
            if is_new:
                with suppress(OSError):  # something was written
                    folder.rmdir()
            raise
        finally:
            _held.reset(token)
            _lock(handle, is_wanted=False)  # a process that is just being started shares the handle until it runs
    finally:
        os.close(handle)


def _lock(handle: int, *, is_wanted: bool = True) -> bool:
    """Lock or unlock a folder; also True if its file system has no locks."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK if is_wanted else msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB if is_wanted else fcntl.LOCK_UN)
    except OSError as error:
        return sys.platform != "win32" and error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def _open_lock(folder: Path) -> int:
    """Open a folder; on Windows, where that is impossible, a user's file that represents it."""
    if sys.platform == "win32":
        name = hashlib.sha256(os.fsencode(os.path.normcase(folder.resolve()))).hexdigest()
        return os.open(Path(tempfile.gettempdir(), f"ncc-{name[:32]}.lock"), os.O_RDWR | os.O_CREAT)
    return os.open(folder, os.O_RDONLY)
