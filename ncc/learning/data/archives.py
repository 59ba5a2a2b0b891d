"""Reads untrusted tar archives: into memory, or onto disk all or nothing."""

import bz2
import gzip
import logging
import lzma
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, NamedTuple, cast

from ncc.errors import DataError, OutputError
from ncc.system.files.writing import folder_lock

logger = logging.getLogger(__name__)

# tarfile also raises Python's own errors on odd headers
_DAMAGED = (
    *(tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError),
    *(ValueError, LookupError, OverflowError, RecursionError),
)
_MAX_PAX_BYTES, _MAX_PAX_RECORDS, _MANY_DIGITS = 1 << 16, 1000, re.compile(rb"\d{256}")
_PAX = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)


class Budget(NamedTuple):
    """Limits on the content of an archive, since a small download can expand to more than the disk holds."""

    member_bytes: int = 1 << 28
    total_bytes: int = 1 << 34
    members: int = 1_000_000


_BUDGET = Budget()
_WAIT_S = 600.0
"""Wait for another process that extracts; an archive of 50,000 programs takes a minute."""


def iter_members(
    archive: str | os.PathLike[str], suffix: str = "", *, budget: Budget = _BUDGET
) -> Iterator[tuple[str, bytes]]:
    """Read the files of a tar archive in order, in memory only."""
    path = Path(archive)
    try:
        with path.open("rb") as file, closing(_Limited(_decompressed(file), path, budget)) as limited:
            with tarfile.open(fileobj=cast(IO[bytes], limited), mode="r:", tarinfo=_Member) as tar:
                for count, member in enumerate(tar, 1):
                    if count > budget.members:
                        raise DataError(f"{path}: more than {budget.members:,} members; refused")
                    _check_member(path, member, budget)
                    if not member.isfile() or not member.name.endswith(suffix):
                        continue
                    stream = tar.extractfile(member)
                    assert stream is not None  # regular files have content
                    content = stream.read()
                    if len(content) != member.size:
                        raise EOFError(f"{member.name} ends after {len(content)} of {member.size} bytes")
                    yield member.name, content
            # tarfile stops at the last member, before the checksums of gzip and xz at the end of the stream
            while limited.read(tarfile.RECORDSIZE):
                pass
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except _DAMAGED as error:
        raise DataError(f"{path}: damaged or truncated archive ({error}); get the file again") from error


def _decompressed(file: BinaryIO) -> BinaryIO:
    start = file.read(6)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if start.startswith(b"BZh"):
        return cast(BinaryIO, bz2.BZ2File(file))
    return cast(BinaryIO, lzma.LZMAFile(file)) if start == b"\xfd7zXZ\0" else file


class _Member(tarfile.TarInfo):
    """A member whose extended header is checked before tarfile searches it, which takes quadratic time."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _PAX:
            assert tar.fileobj is not None
            if self.size > _MAX_PAX_BYTES:
                raise tarfile.TarError(f"an extended header of {self.size:,} bytes; refused above {_MAX_PAX_BYTES:,}")
            start = tar.fileobj.tell()
            if _MANY_DIGITS.search(tar.fileobj.read(self.size)):
                raise tarfile.TarError("an extended header of many digits; refused")
            if len(tar.pax_headers) > _MAX_PAX_RECORDS:  # each member gets a copy of the global headers
                raise tarfile.TarError(f"more than {_MAX_PAX_RECORDS:,} records for all members; refused")
            tar.fileobj.seek(start)
        return super()._proc_member(tar)  # type: ignore[misc]


class _Limited:
    """A stream that raises an error beyond a limit, against bombs; it has the methods that tarfile needs."""

    def __init__(self, stream: BinaryIO, archive: Path, budget: Budget) -> None:
        self._stream, self._archive, self._budget = stream, archive, budget

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def read(self, size: int = -1) -> bytes:
        """Read as from a file, within the limits of one member and of all members together."""
        if not 0 <= size <= self._budget.member_bytes:
            raise DataError(f"{self._archive}: a member of {size:,} bytes; refused above {self._budget.member_bytes:,}")
        if self._stream.tell() > self._budget.total_bytes:
            raise DataError(f"{self._archive}: extracts to more than {self._budget.total_bytes:,} bytes; refused")
        return self._stream.read(size)

    def seek(self, position: int, whence: int = 0) -> int:
        """Seek as in a file, within the limit of the stream."""
        if whence == 0 and not 0 <= position <= self._budget.total_bytes + self._budget.member_bytes:
            raise DataError(f"{self._archive}: a member begins or ends at byte {position:,}; refused")
        return self._stream.seek(position, whence)

    def tell(self) -> int:
        """Return the position, as of a file."""
        return self._stream.tell()


def _check_member(archive: Path, member: tarfile.TarInfo, budget: Budget) -> None:
    """Refuse what tarfile's data filter refuses, and also rewritten names, backslashes and any link."""
    name = f"{archive}: member {member.name!r:.200}"
    parts = PurePosixPath(member.name)
    if "\0" in member.name or (member.isfile() and not parts.name):
        raise DataError(f"{name} is not a valid file name; refused")
    if member.issparse() or member.size > budget.member_bytes:
        raise DataError(f"{name} is sparse or has {member.size:,} bytes; refused above {budget.member_bytes:,}")
    if not (member.isfile() or member.isdir()):
        raise DataError(f"{name} is a link or device; expected regular files")
    try:
        is_safe = tarfile.data_filter(member, "/nowhere").name == member.name
    except tarfile.FilterError:
        is_safe = False
    if not is_safe or ".." in parts.parts or "\\" in member.name or ":" in "".join(parts.parts[:1]):
        raise DataError(f"{name} leads out of the archive; refused")


def extract_archive(archive: str | os.PathLike[str], target: str | os.PathLike[str]) -> Path:
    """Extract a tar archive into a new folder, all or nothing.

    The files are written beside ``target``, in a folder that is renamed once it is complete; what a killed extraction
    left there is removed by the next. An existing ``target`` is kept.
    """
    target = Path(target)
    staging = target.with_name(f".{target.name}.part")
    try:
        if target.is_dir():
            return target
        with folder_lock(target.parent, wait_s=_WAIT_S):
            if target.is_dir():  # another process has created it
                return target
            logger.info("extracting %s to %s", archive, target)
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            try:
                for name, content in iter_members(archive):
                    path = staging.joinpath(*PurePosixPath(name).parts)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                staging.rename(target)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise OutputError(f"{target}: can't extract {archive} there ({error})") from error
    return target
