"""The dataset registry: finds a dataset's files and checks them against their checksums.

Nothing is downloaded: the files may not be passed on, or have no stable address. They are looked for in a folder (an
argument, or NCC_DATA), and `fetch` says where one that is missing comes from and where to put it.
"""

import functools
import hashlib
import logging
import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import platformdirs

from ncc.errors import DataError, InputError
from ncc.learning.data.archives import extract_archive
from ncc.learning.data.cards import DatasetCard, DatasetFile, load_cards

_LOG = logging.getLogger(__name__)

Folder = str | os.PathLike[str] | None


def cache_folder() -> Path:
    """Return the folder that ncc may write to; it need not exist yet.

    Returns:
        The folder named by the environment variable NCC_CACHE, else the platform's cache folder.
    """
    if chosen := os.environ.get("NCC_CACHE"):
        return Path(chosen).expanduser()
    return platformdirs.user_cache_path("ncc")


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that holds the datasets, one sub-folder each; it need not exist.

    Args:
        folder: The caller's choice, which wins over the environment.

    Returns:
        `folder`, else the folder named by the environment variable NCC_DATA, else `cache_folder()`.
    """
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
        """Return the card of a dataset.

        Raises:
            InputError: No dataset has that name.
        """
        for card in self.cards or load_cards():
            if card.name == name:
                return card
        raise InputError(f"no dataset {name!r}; expected one of {', '.join(self.dataset_names())}")

    def locate(self, name: str, filename: str, folder: Folder = None) -> Path:
        """Return the path of a dataset's file, its checksum verified (once a process).

        Raises:
            InputError: The dataset or the file is not in the registry.
            DataError: The file is missing, or is not the one that the registry knows.
        """
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
        """Look for every file of a dataset and compare checksums, without raising for what is amiss.

        Raises:
            InputError: No dataset has that name.
        """
        card, root = self.describe(name), data_folder(folder)
        return DatasetStatus(name=name, files=tuple(_inspect(file, root) for file in card.files))

    def fetch(self, name: str, folder: Folder = None) -> tuple[Path, ...]:
        """Return every file of a dataset; for one that is missing, the error says where to get it.

        Raises:
            InputError: No dataset has that name.
            DataError: A file is missing, or is not the one that the registry knows.
        """
        return tuple(self.locate(name, file.name, folder) for file in self.describe(name).files)

    def extracted(self, name: str, filename: str, folder: Folder = None) -> Path:
        """Return a folder with the content of a dataset's archive, extracted once into the cache.

        The folder is named by the archive's checksum, so another archive gets another folder.

        Raises:
            InputError: The dataset or the file is not in the registry.
            DataError: As for `locate`, or the archive is damaged or unsafe.
            OutputError: The cache can't be written.
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
