"""Checks before hours of work that the result can be written, and that nobody else writes there."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from ncc.errors import OutputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_WAIT_S = 60.0
_PAUSE_S = 0.02
_held: ContextVar[frozenset[str]] = ContextVar("_held", default=frozenset())
"""Folders that this thread has for itself."""

# os.path says no where nobody may look, and of names that no file can have: Path's questions raise then


def check_writable(*paths: Path | None) -> None:
    """Refuses files that can't be written; None stands for a file that nobody wants.

    Raises:
        OutputError: One is a folder, or would be in no folder, or in one that can't be written.
    """
    for path in filter(None, paths):
        folder = os.path.dirname(os.path.realpath(path)) if os.path.islink(path) else path.parent  # noqa: PTH114, PTH120
        if os.path.isdir(path):  # noqa: PTH112
            raise OutputError(f"{path}: is a folder; expected a file to write")
        if not os.path.isdir(folder):  # noqa: PTH112
            raise OutputError(f"{path}: there is no folder {folder}")
        if not os.access(path if os.path.exists(path) else folder, os.W_OK):  # noqa: PTH110
            raise OutputError(f"{path}: can't be written: Permission denied")


def check_folder(*folders: Path | None) -> None:
    """Refuses folders into which files can't be written; they need not be there yet, and None stands for none.

    Raises:
        OutputError: One is below a file, can't be there, or can't be written.
    """
    for folder in filter(None, folders):
        whole = folder.absolute()
        try:
            whole.stat()
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:  # nobody may look there, or no folder can have this name
            raise OutputError(f"{folder}: can't be written: {error.strerror}") from error
        existing = next(path for path in (whole, *whole.parents) if os.path.exists(path))  # noqa: PTH110
        if not os.path.isdir(existing):  # noqa: PTH112
            raise OutputError(f"{folder}: can't be written: {existing} is a file; expected a folder")
        if not os.access(existing, os.W_OK):
            raise OutputError(f"{folder}: can't be written: Permission denied")


@contextmanager
def only_writer(folder: Path, *, wait_s: float = _WAIT_S) -> Iterator[None]:
    """Keeps whoever asks for the same, processes or threads, out of a folder, which is made where it is missing.

    The lock is the system's, on the folder itself, and ends with its process. Where there are none, as on Windows and
    some network file systems, nobody is kept out. Who has the folder already may ask again. One that was made here goes
    again where what was to be written fails before anything is.

    Args:
        folder: To be written to.
        wait_s: Seconds to wait for another writer; default as long as a model takes to be written.

    Raises:
        OutputError: The folder can't be made, or another one still writes to it.
    """
    name, is_new = os.path.realpath(folder), not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = None if fcntl is None or name in _held.get() else os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise OutputError(f"{folder}: can't be written: {error.strerror or error}") from error
    if handle is None:
        yield
        return
    try:
        if not _locked(handle, time.monotonic() + wait_s):
            raise OutputError(
                f"{folder}: can't be written: another run of ncc is writing to this folder; let it end, or name "
                "another folder"
            )
        token = _held.set(_held.get() | {name})
        try:
            yield
        except BaseException:
            if is_new:
                with suppress(OSError):  # something was written there
                    folder.rmdir()
            raise
        finally:
            _held.reset(token)
            with suppress(OSError):  # a process that is just being started has the handle, too, until it is on its way
                fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)


def _locked(handle: int, deadline: float) -> bool:
    """Whether a lock could be had in time; so it is said, too, of a file system that has none."""
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_S)
        else:
            return True
