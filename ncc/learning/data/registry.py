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

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class DatasetFile:
    """One file of a dataset.

    Args:
        path: Where the file lies below the data folder, with forward slashes.
        sha256: Checksum of the content that the project's figures were measured on, 64 hex digits.
        size_bytes: Its size in bytes.
        exact: Whether only that content will do. False for an archive that users may have packed
            themselves: other content is then accepted, and reported as such by `verify`.

    Raises:
        DataError: The path leaves the data folder or the checksum is not a SHA-256.
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


@dataclass(frozen=True, kw_only=True)
class DatasetCard:
    """What a dataset is, where it comes from and what may be done with it.

    Args:
        name: The registry's name for it.
        title: One line that says what it holds.
        papers: Where it was published, oldest first.
        licence: Its terms, and what follows from them.
        source: The project that publishes it, and the folder inside.
        num_samples: How many samples it holds.
        sample: What one sample is.
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


@functools.cache
def load_cards() -> tuple[DatasetCard, ...]:
    """The cards of ``cards.toml``, read once."""
    text = Path(__file__).with_name("cards.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text)["card"], tuple[DatasetCard, ...])


_LOG = logging.getLogger(__name__)

Folder = str | os.PathLike[str] | None


def cache_folder() -> Path:
    """Return the folder that ncc may write to; it need not exist yet."""
    if chosen := os.environ.get("NCC_CACHE"):
        return Path(chosen).expanduser()
    return platformdirs.user_cache_path("ncc")


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that holds the datasets, one sub-folder each; it need not exist."""
    if folder is not None:
        return Path(folder).expanduser()
    if chosen := os.environ.get("NCC_DATA"):
        return Path(chosen).expanduser()
    return cache_folder()


class FileState(Enum):
    """What was found in a file's place."""

    OK = "ok"
    OTHER_CONTENT = "other content, accepted"
    DIFFERENT = "checksum mismatch"
    MISSING = "missing"


@dataclass(frozen=True, kw_only=True)
class FileStatus:
    """Where one file was looked for, and what was found there."""

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
class Registry:
    """A set of datasets that can be found and verified by name.

    In every method, `folder` is the local folder that holds one sub-folder per dataset; None stands
    for the environment variable NCC_DATA, and without it for the cache folder.

    Args:
        cards: The datasets, with distinct names; None for those that ncc knows.
    """

    cards: tuple[DatasetCard, ...] | None = None

    def dataset_names(self) -> tuple[str, ...]:
        """Return the names of all datasets, in the registry's order."""
        return tuple(card.name for card in self.cards or load_cards())

    def describe(self, name: str) -> DatasetCard:
        """Return the card of a dataset."""
        for card in self.cards or load_cards():
            if card.name == name:
                return card
        raise InputError(f"no dataset {name!r}; expected one of {', '.join(self.dataset_names())}")

    def locate(self, name: str, filename: str, folder: Folder = None) -> Path:
        """Return the path of a dataset's file, its checksum verified (once a process)."""
        card = self.describe(name)
        file = _find(card, filename)
        status = _inspect(file, data_folder(folder))
        if status.state is FileState.MISSING:
            raise DataError(_missing_message(card, file, status.path))
        if status.state is FileState.DIFFERENT:
            raise DataError(_mismatch_message(card, file, status.path))
        if status.state is FileState.OTHER_CONTENT:
            _LOG.info("%s: not the content that the project's figures were measured on", status.path)
        return status.path

    def verify(self, name: str, folder: Folder = None) -> DatasetStatus:
        """Look for every file of a dataset and compare checksums, without raising for what is amiss."""
        card, root = self.describe(name), data_folder(folder)
        return DatasetStatus(name=name, files=tuple(_inspect(file, root) for file in card.files))

    def fetch(self, name: str, folder: Folder = None) -> tuple[Path, ...]:
        """Return every file of a dataset; for one that is missing, the error says where to get it."""
        return tuple(self.locate(name, file.name, folder) for file in self.describe(name).files)

    def extracted(self, name: str, filename: str, folder: Folder = None) -> Path:
        """Return a folder with the content of a dataset's archive, extracted once into the cache.

        The folder is named by the archive's checksum, so another archive gets another folder.
        """
        archive = self.locate(name, filename, folder)
        return extract_archive(archive, cache_folder() / "extracted" / name / _sha256(archive)[:32])


def _find(card: DatasetCard, filename: str) -> DatasetFile:
    for file in card.files:
        if file.name == filename:
            return file
    known = ", ".join(file.name for file in card.files)
    raise InputError(f"dataset {card.name!r} has no file {filename!r}; expected one of {known}")


def _inspect(file: DatasetFile, root: Path) -> FileStatus:
    path = root / file.path
    if not path.is_file():
        return FileStatus(path=path, state=FileState.MISSING)
    if path.stat().st_size == file.size_bytes and _sha256(path) == file.sha256:
        return FileStatus(path=path, state=FileState.OK)
    return FileStatus(path=path, state=FileState.DIFFERENT if file.exact else FileState.OTHER_CONTENT)


def _sha256(path: Path) -> str:
    status = path.stat()
    return _sha256_of(path.resolve(), (status.st_size, status.st_mtime_ns))


# Size and time are part of the key, so that a file replaced while the process runs is read again.
@functools.cache
def _sha256_of(path: Path, _version: tuple[int, int]) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: can't be read ({error.strerror})") from error


def _missing_message(card: DatasetCard, file: DatasetFile, path: Path) -> str:
    return (
        f"{path}: missing. ncc can't download it: get it from {card.source} (licence: {card.licence}) and put it "
        f"there, or set NCC_DATA to the folder that holds {file.path}"
    )


def _mismatch_message(card: DatasetCard, file: DatasetFile, path: Path) -> str:
    return (
        f"{path}: checksum mismatch: found sha256 {_sha256(path)} ({path.stat().st_size} bytes), expected "
        f"{file.sha256} ({file.size_bytes} bytes). The file is damaged or of another version: "
        f"get it again from {card.source}"
    )


_REGISTRY = Registry()

dataset_names = _REGISTRY.dataset_names
describe = _REGISTRY.describe
extracted = _REGISTRY.extracted
fetch = _REGISTRY.fetch
locate = _REGISTRY.locate
verify = _REGISTRY.verify
