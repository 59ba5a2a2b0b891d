"""Files by path: what was found in a folder stays in it, and the file that was checked is the one read."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ncc.errors import InputError, InputFileError
from ncc.system.files.archives import read_member, split_member
from ncc.system.sandbox.limits import refuse_size

_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY)


@dataclass(frozen=True)
class FoundFile:
    """A file by its path, which is never taken for text; all of the folder that it was found in is for it to include.

    It is an ``os.PathLike``; whoever makes another path of it drops the right to the folder.

    Attributes:
        path: Of the file.
        folder: As the user named it; None where he named the file itself.
    """

    path: str
    folder: str | None = None

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path


def read_file(path: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> bytes:
    """Reads a file whole, or a member of an archive, named as ``lib.a(member.o)``.

    Args:
        path: Of the file.
        folder: One that the file must be in; default that of a `FoundFile`.

    Raises:
        InputError: There is no such file, it leads out of the folder, is too large, or can't be read.
    """
    name = os.fspath(path)
    archive, member = split_member(name)
    folder = path.folder if isinstance(path, FoundFile) else folder
    with open_file(archive if member else name, folder, may_be_pipe=member is None) as file:
        return file.read() if member is None else read_member(file, archive, member)


@contextmanager
def open_file(
    path: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None, *, may_be_pipe: bool = False
) -> Iterator[BinaryIO]:
    """Opens a file once, and checks what was opened, so that nobody exchanges it in between.

    Raises:
        InputError: There is no such file, it leads out of the folder, is too large, or can't be read.
    """
    name = os.fspath(path)
    try:
        with os.fdopen(os.open(name, os.O_RDONLY) if folder is None else _open_inside(name, folder), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) and not (may_be_pipe and folder is None):
                raise InputError(f"{name}: is a pipe or a device, not a file")
            refuse_size(name, status.st_size)
            yield file
    except FileNotFoundError as error:
        raise InputFileError(f"{name}: no such file") from error
    except OSError as error:
        raise InputFileError(f"{name}: can't be read: {error.strerror}") from error


def refuse_link_out(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Path:
    """Refuses what whoever filled a folder may have made to read other files.

    Args:
        path: Below the folder, as it was found.
        folder: What the user named.

    Returns:
        Where the file really is, relative to where the folder is.

    Raises:
        InputError: The path leads out of the folder.
    """
    real, real_folder = Path(path).resolve(), Path(folder).resolve()
    if not real.is_relative_to(real_folder):
        raise InputError(f"{path}: is a link out of {folder}, to {real}; name that file itself to read it")
    return real.relative_to(real_folder)


def _open_inside(path: str, folder: str | os.PathLike[str]) -> int:
    """Opens a file of a folder step by step: what became a link since it was looked at is not followed."""
    inside = refuse_link_out(path, folder)
    if os.open not in os.supports_dir_fd:  # Windows
        return os.open(path, os.O_RDONLY)
    at = os.open(Path(folder).resolve(), _PATH_ONLY | os.O_DIRECTORY)
    for flags in (*[_PATH_ONLY | os.O_DIRECTORY] * (len(inside.parts) - 1), os.O_RDONLY | os.O_NONBLOCK):
        above = at
        try:
            at = os.open(inside.parts[0], flags | os.O_NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)
        inside = Path(*inside.parts[1:])
    return at
