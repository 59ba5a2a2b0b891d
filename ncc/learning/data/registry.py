"""The dataset registry: finds a dataset's files and checks them against their checksums.

Nothing is downloaded: the files may not be passed on, or have no stable address. They are looked for in a folder (an
argument, or NCC_DATA), and `fetch` says where one that is missing comes from and where to put it.
"""

import functools
import hashlib
import logging
import os
import re
import tomllib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath

import platformdirs
from msgspec import convert

from ncc.errors import DataError, InputError
from ncc.learning.data.archives import extract_archive

logger = logging.getLogger(__name__)

Folder = str | os.PathLike[str] | None
"""Folder that holds one sub-folder per dataset; None stands for NCC_DATA, and without it for the cache folder."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class DatasetFile:
    """One file of a dataset.

    Attributes:
        path: Path below the data folder, with forward slashes.
        sha256: Checksum of the content that the project's figures were measured on, 64 hex digits.
        size_bytes: Size in bytes.
        exact: Whether only that content will do. False for an archive that users may have packed themselves: other
            content is then accepted, and reported as such by `verify`.
    """

    path: str
    sha256: str
    size_bytes: int
    exact: bool = True

    def __post_init__(self) -> None:
        parts = PurePosixPath(self.path)
        if parts.is_absolute() or ".." in parts.parts or "\\" in self.path or not parts.name:
            raise DataError(f"dataset file {self.path!r}: expected a relative path without '..'")
        if not _SHA256.fullmatch(self.sha256):
            raise DataError(f"dataset file {self.path!r}: {self.sha256!r} is not a lower-case SHA-256")

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return PurePosixPath(self.path).name

    def inspect(self, folder: Folder = None) -> "FileStatus":
        """Look for the file and compare its checksum."""
        path = data_folder(folder) / self.path
        if not path.is_file():
            return FileStatus(path=path, state=FileState.MISSING)
        if path.stat().st_size == self.size_bytes and _sha256(path) == self.sha256:
            return FileStatus(path=path, state=FileState.OK)
        return FileStatus(path=path, state=FileState.DIFFERENT if self.exact else FileState.OTHER_CONTENT)


class FileState(Enum):
    """State of a file in its place."""

    OK = "ok"
    OTHER_CONTENT = "other content, accepted"
    DIFFERENT = "checksum mismatch"
    MISSING = "missing"


@dataclass(frozen=True, kw_only=True)
class FileStatus:
    """Path of a file, and its state."""

    path: Path
    state: FileState


@dataclass(frozen=True, kw_only=True)
class DatasetStatus:
    """The state of each file of a dataset, in the card's order."""

    name: str
    files: tuple[FileStatus, ...]

    @property
    def usable(self) -> bool:
        """Whether every file is there with content that the registry accepts."""
        return all(file.state in (FileState.OK, FileState.OTHER_CONTENT) for file in self.files)


@dataclass(frozen=True, kw_only=True)
class DatasetCard:
    """Content, origin and terms of a dataset.

    Attributes:
        name: Name in the registry.
        title: One line that says what it holds.
        papers: Publications, oldest first.
        licence: Its terms, and what follows from them.
        source: The project that publishes it, and the folder inside.
        num_samples: Number of samples.
        sample: Meaning of one sample.
        files: Its files.
    """

    name: str
    title: str
    papers: tuple[str, ...]
    licence: str
    source: str
    num_samples: int
    sample: str
    files: tuple[DatasetFile, ...]

    def locate(self, filename: str, folder: Folder = None) -> Path:
        """Return the path of a file, its checksum verified (once a process)."""
        file = next((file for file in self.files if file.name == filename), None)
        if file is None:
            names = ", ".join(file.name for file in self.files)
            raise InputError(f"dataset {self.name!r} has no file {filename!r}; expected one of {names}")
        status = file.inspect(folder)
        path = status.path
        if status.state is FileState.MISSING:
            raise DataError(
                f"{path}: missing. ncc can't download it: get it from {self.source} (licence: {self.licence}) and put "
                f"it there, or set NCC_DATA to the folder that holds {file.path}"
            )
        if status.state is FileState.DIFFERENT:
            raise DataError(
                f"{path}: checksum mismatch: found sha256 {_sha256(path)} ({path.stat().st_size} bytes), expected "
                f"{file.sha256} ({file.size_bytes} bytes). The file is damaged or of another version: "
                f"get it again from {self.source}"
            )
        if status.state is FileState.OTHER_CONTENT:
            logger.info("%s: not the content that the project's figures were measured on", path)
        return path

    def verify(self, folder: Folder = None) -> DatasetStatus:
        """Inspect every file, without raising for what is amiss."""
        return DatasetStatus(name=self.name, files=tuple(file.inspect(folder) for file in self.files))

    def fetch(self, folder: Folder = None) -> tuple[Path, ...]:
        """Return the path of every file; for one that is missing, the error says where to get it."""
        return tuple(self.locate(file.name, folder) for file in self.files)


@functools.cache
def load_cards() -> tuple[DatasetCard, ...]:
    """Load the cards of ``cards.toml``, once."""
    text = Path(__file__).with_name("cards.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text)["card"], tuple[DatasetCard, ...])


def dataset_names() -> tuple[str, ...]:
    """Return the names of all datasets, in the registry's order."""
    return tuple(card.name for card in load_cards())


def describe(name: str) -> DatasetCard:
    """Return the card of a dataset."""
    for card in load_cards():
        if card.name == name:
            return card
    raise InputError(f"no dataset {name!r}; expected one of {', '.join(dataset_names())}")


def locate(name: str, filename: str, folder: Folder = None) -> Path:
    """Return the path of a dataset's file, its checksum verified (once a process)."""
    return describe(name).locate(filename, folder)


def verify(name: str, folder: Folder = None) -> DatasetStatus:
    """Inspect every file of a dataset, without raising for what is amiss."""
    return describe(name).verify(folder)


def fetch(name: str, folder: Folder = None) -> tuple[Path, ...]:
    """Return the path of every file of a dataset; for one that is missing, the error says where to get it."""
    return describe(name).fetch(folder)


def extracted(name: str, filename: str, folder: Folder = None) -> Path:
    """Return a folder with the content of a dataset's archive, extracted once into the cache.

    The folder is named by the archive's checksum, so another archive gets another folder.
    """
    archive = locate(name, filename, folder)
    return extract_archive(archive, cache_folder() / "extracted" / name / _sha256(archive)[:32])


def cache_folder() -> Path:
    """Return the folder that ncc may write to; it need not exist yet."""
    chosen = os.environ.get("NCC_CACHE")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("ncc")


def data_folder(folder: Folder = None) -> Path:
    """Return the folder that holds the datasets, one sub-folder each; it need not exist."""
    chosen = folder if folder is not None else os.environ.get("NCC_DATA")
    return Path(chosen).expanduser() if chosen else cache_folder()


def _sha256(path: Path) -> str:
    status = path.stat()
    return _sha256_of(path.resolve(), (status.st_size, status.st_mtime_ns))


# size and time are part of the key, so that a file replaced while the process runs is read again
@functools.cache
def _sha256_of(path: Path, _version: tuple[int, int]) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: can't be read ({error.strerror})") from error
