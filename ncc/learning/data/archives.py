"""Reads untrusted tar archives: into memory, or onto disk all or nothing."""

import bz2
import gzip
import logging
import lzma
import os
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Self, cast

from ncc.errors import DataError, OutputError

_LOG = logging.getLogger(__name__)
# beside its own errors, tarfile stumbles over odd headers with those of Python
_DAMAGED = (
    tarfile.TarError,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    LookupError,
    OverflowError,
    RecursionError,
)
MOST_MEMBER_BYTES, MOST_BYTES, MOST_MEMBERS = 1 << 28, 1 << 34, 1_000_000
"""Limits of what an archive may hold: a small download can unfold to more than there is room for."""
_MOST_PAX_BYTES, _MOST_PAX_RECORDS, _MANY_DIGITS = 1 << 16, 1000, re.compile(rb"\d{256}")
_PAX = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)


def iter_members(archive: str | os.PathLike[str], suffix: str = "") -> Iterator[tuple[str, bytes]]:
    """Read the files of a tar archive one after the other, in memory only."""
    path = Path(archive)
    count = 0
    try:
        with path.open("rb") as file, _Limited(_decompressed(file), path) as limited:
            with tarfile.open(fileobj=cast(IO[bytes], limited), mode="r:", tarinfo=_Member) as tar:
                for member in tar:
                    count += 1
                    if count > MOST_MEMBERS:
                        raise DataError(f"{path}: more than {MOST_MEMBERS:,} members; refused")
                    _check_member(path, member)
                    if not member.isfile() or not member.name.endswith(suffix):
                        continue
                    stream = tar.extractfile(member)
                    assert stream is not None  # regular files have content
                    content = stream.read()
                    if len(content) != member.size:
                        raise EOFError(f"{member.name} ends after {len(content)} of {member.size} bytes")
                    yield member.name, content
            # tarfile stops at the last member; what gzip and xz check comes at the stream's end.
            while limited.read(tarfile.RECORDSIZE):
                pass
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such archive") from error
    except _DAMAGED as error:
        raise DataError(f"{path}: damaged or truncated archive ({error}); get the file again") from error


def _decompressed(file: BinaryIO) -> BinaryIO:
    """What an archive holds, whatever it is compressed with."""
    start = file.read(6)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if start.startswith(b"BZh"):
        return cast(BinaryIO, bz2.BZ2File(file))
    return cast(BinaryIO, lzma.LZMAFile(file)) if start == b"\xfd7zXZ\0" else file


class _Member(tarfile.TarInfo):
    """A member whose extended header is looked at before tarfile searches it, in time that grows with the square."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _PAX:
            assert tar.fileobj is not None
            if self.size > _MOST_PAX_BYTES:
                raise tarfile.TarError(f"an extended header of {self.size:,} bytes; refused above {_MOST_PAX_BYTES:,}")
            begin = tar.fileobj.tell()
            if _MANY_DIGITS.search(tar.fileobj.read(self.size)):
                raise tarfile.TarError("an extended header of many digits; refused")
            if len(tar.pax_headers) > _MOST_PAX_RECORDS:  # each member gets a copy of what holds for all
                raise tarfile.TarError(f"more than {_MOST_PAX_RECORDS:,} records for all members; refused")
            tar.fileobj.seek(begin)
        return super()._proc_member(tar)  # type: ignore[misc]


class _Limited:
    """A stream that ends with an error where a bomb would go on; of what tarfile needs, no more."""

    def __init__(self, stream: BinaryIO, archive: Path) -> None:
        self._stream = stream
        self._archive = archive

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self, size: int = -1) -> bytes:
        """As that of a file, but refuses more than one member, or all of them together, may hold."""
        if not 0 <= size <= MOST_MEMBER_BYTES:
            raise DataError(f"{self._archive}: a member of {size:,} bytes; refused above {MOST_MEMBER_BYTES:,}")
        if self._stream.tell() > MOST_BYTES:
            raise DataError(f"{self._archive}: more than {MOST_BYTES:,} bytes come out; refused")
        return self._stream.read(size)

    def seek(self, position: int, whence: int = 0) -> int:
        """As that of a file; no further than the stream may go."""
        if whence == 0 and not 0 <= position <= MOST_BYTES + MOST_MEMBER_BYTES:
            raise DataError(f"{self._archive}: a member begins or ends at byte {position:,}; refused")
        return self._stream.seek(position, whence)

    def tell(self) -> int:
        """As that of a file."""
        return self._stream.tell()


def extract_archive(archive: str | os.PathLike[str], target: str | os.PathLike[str]) -> Path:
    """Extract a tar archive into a new folder, all or nothing.

    The files are written beside `target` and renamed once complete, so an interrupted or concurrent
    extraction never leaves half a folder under the final name; what one that was killed left beside it, the next one
    removes. An existing `target` is kept as it is.
    """
    target = Path(target)
    if target.is_dir():
        return target
    staging: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            with _locked(target.parent, wait=True):  # nobody sweeps between a folder's making and its locking
                _sweep(target)
                staging = Path(tempfile.mkdtemp(prefix=f".{target.name}.part-", dir=target.parent))
                held.enter_context(_locked(staging))
            _LOG.info("extracting %s to %s", archive, target)
            _write_members(archive, staging)
            _publish(staging, target)
    except OSError as error:
        raise OutputError(f"{target}: can't extract {archive} there ({error})") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
    return target


def _sweep(target: Path) -> None:
    """Remove folders that killed extractions left: those beside the target that no process has locked."""
    for abandoned in target.parent.glob(f".{target.name}.part-*"):
        with suppress(OSError), _locked(abandoned) as locked:
            if locked:
                shutil.rmtree(abandoned)


@contextmanager
def _locked(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Locks a folder for as long as this process lives, at most; says whether it could."""
    try:
        import fcntl
    except ImportError:  # Windows: nothing is swept
        yield False
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            locked = True
        except OSError:  # another has it, or the file system knows no locks
            locked = False
        yield locked
    finally:
        os.close(number)


def _write_members(archive: str | os.PathLike[str], folder: Path) -> None:
    for name, content in iter_members(archive):
        path = folder.joinpath(*PurePosixPath(name).parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _publish(staging: Path, target: Path) -> None:
    # mkdtemp's folders are private; a cache may be shared, so the usual mode is restored.
    staging.chmod(0o755)
    try:
        staging.rename(target)
    except OSError:
        if not target.is_dir():  # else another process finished first, with the same content
            raise


def _check_member(archive: Path, member: tarfile.TarInfo) -> None:
    parts = PurePosixPath(member.name)
    drive = ":" in parts.parts[0] if parts.parts else False
    if parts.is_absolute() or ".." in parts.parts or "\\" in member.name or drive:
        raise DataError(f"{archive}: member {member.name!r:.200} leads out of the archive; refused")
    if "\0" in member.name or (member.isfile() and not parts.name):
        raise DataError(f"{archive}: member {member.name!r:.200} has a name that no file can have; refused")
    if member.issparse() or member.size > MOST_MEMBER_BYTES:
        raise DataError(
            f"{archive}: member {member.name!r:.80} is sparse or of {member.size:,} bytes; refused above "
            f"{MOST_MEMBER_BYTES:,}"
        )
    if not (member.isfile() or member.isdir()):
        raise DataError(f"{archive}: member {member.name!r} is a link or device; expected regular files")
