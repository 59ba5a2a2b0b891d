"""Reading tar archives without trusting them: in memory, or onto disk all or nothing."""

import logging
import lzma
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ncc.errors import DataError, OutputError

__all__ = ["extract_archive", "iter_members"]

_LOG = logging.getLogger(__name__)
_DAMAGED = (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError)


def iter_members(archive: str | os.PathLike[str], suffix: str = "") -> Iterator[tuple[str, bytes]]:
    """Read the files of a tar archive one after the other, in memory only.

    Args:
        archive: A .tar, .tar.bz2, .tar.xz or .tar.gz file.
        suffix: Only members whose name ends so are read; all are checked.

    Yields:
        Member name as stored (forward slashes) and content, in archive order.

    Raises:
        DataError: The archive is missing, damaged or truncated, or holds a link, a device or a name
            that leads out of the archive. Members before the damage have been yielded by then.
    """
    path = Path(archive)
    try:
        with tarfile.open(path, "r:*") as tar:
            for member in tar:
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
            assert tar.fileobj is not None  # only after closing
            while tar.fileobj.read(1 << 20):
                pass
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such archive") from error
    except _DAMAGED as error:
        raise DataError(f"{path}: damaged or truncated archive ({error}); get the file again") from error


def extract_archive(archive: str | os.PathLike[str], target: str | os.PathLike[str]) -> Path:
    """Extract a tar archive into a new folder, all or nothing.

    The files are written beside `target` and renamed once complete, so an interrupted or concurrent
    extraction never leaves half a folder under the final name. An existing `target` is kept as it is.

    Args:
        archive: As for `iter_members`.
        target: The folder to make; its parents are made as needed.

    Returns:
        `target`.

    Raises:
        DataError: As for `iter_members`.
        OutputError: The folder can't be written.
    """
    target = Path(target)
    if target.is_dir():
        return target
    staging: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=target.parent))
        _LOG.info("extracting %s to %s", archive, target)
        _write_members(archive, staging)
        _publish(staging, target)
    except OSError as error:
        raise OutputError(f"{target}: can't extract {archive} there ({error})") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
    return target


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
        raise DataError(f"{archive}: member {member.name!r} leads out of the archive; refused")
    if not (member.isfile() or member.isdir()):
        raise DataError(f"{archive}: member {member.name!r} is a link or device; expected regular files")
