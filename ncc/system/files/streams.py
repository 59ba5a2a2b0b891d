"""Reads standard input and pipes: once, as a whole, and up to a limit."""

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from ncc.errors import InputError, InputFileError

STDIN = "-"
MOST_BYTES = 2**31
"""What is read of a stream at most."""

_PIECE = 2**20
_OWN_FILES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""Names that mean another file to every process, so that a compiler can't be given them."""


def is_own_stream(source: str | os.PathLike[str]) -> bool:
    """Whether it means another file to every process."""
    return source == STDIN or str(source).startswith(_OWN_FILES)


def read_stream(source: str | os.PathLike[str]) -> bytes | None:
    """What standard input ("-") or a pipe holds; None where the source is neither.

    Raises:
        InputError: It is empty, does not end within 2 GiB, or can't be read; or it is a device.
    """
    refuse_device(source)
    if source == STDIN:
        return _read(sys.stdin.buffer, "standard input")
    path = Path(source)
    if not _has_kind(path, stat.S_IFIFO) and not str(path).startswith(_OWN_FILES):
        return None
    try:
        with path.open("rb") as pipe:
            return _read(pipe, str(path))
    except OSError as error:
        raise InputFileError(f"{path}: can't be read: {error.strerror}") from error


def refuse_device(source: str | os.PathLike[str]) -> None:
    """Refuses what may never end or is nothing to read.

    Raises:
        InputError: The path leads to a device or a socket.
    """
    path = Path(source)
    if source != STDIN and _has_kind(path, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK):
        raise InputError(f"{path}: is a device or a socket; expected a file, a pipe, or - for standard input")


def _read(stream: BinaryIO, name: str) -> bytes:
    pieces, size = [], 0
    while size <= MOST_BYTES and (piece := stream.read(_PIECE)):  # `read` takes all of the memory that it is asked for
        pieces.append(piece)
        size += len(piece)
    content = b"".join(pieces)
    if size > MOST_BYTES:
        raise InputError(f"{name} has more than {MOST_BYTES >> 30} GiB; give it as a file")
    if not content.strip():
        raise InputError(f"{name} is empty")
    return content


def _has_kind(path: Path, *kinds: int) -> bool:
    try:
        return stat.S_IFMT(path.stat().st_mode) in kinds
    except (OSError, ValueError):
        return False
