"""The dataset registry: finds a dataset's files and checks them against their checksums.

Nothing is downloaded: the files may not be redistributed, or have no stable address. They are searched in a folder
(an argument, or NCC_DATA), and the error of `fetch` names the origin of a missing file and where to put it.
"""

import functools
import hashlib
import logging
import os
import sys
import tomllib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath

from msgspec import convert

from ncc.errors import DataError, InputError
from ncc.learning.data.archives import extract_archive

logger = logging.getLogger(__name__)

Folder = str | os.PathLike[str] | None
"""Folder with one sub-folder per dataset; None means NCC_DATA, or the cache folder if that is not set."""


class FileState(Enum):
    """State of a file in its place."""

    OK = "ok"
    OTHER_CONTENT = "other content, accepted"
    DIFFERENT = "checksum mismatch"
    MISSING = "missing"

    @property
    def is_usable(self) -> bool:
        """Whether the file is there with content that the registry accepts."""
        return self in (FileState.OK, FileState.OTHER_CONTENT)


@dataclass(frozen=True, kw_only=True)
class DatasetFile:
    """One file of a dataset, and the content that the project's figures were measured on."""

    path: str  # below the data folder, with forward slashes
    sha256: str
    size_bytes: int
    exact: bool = True  # False for an archive that users pack themselves: another checksum is accepted

    def find(self, folder: Folder = None) -> tuple[Path, FileState]:
        """Look for the file and compare its checksum."""
        path = data_folder(folder) / self.path
        if not path.is_file():
            return path, FileState.MISSING
        if path.stat().st_size == self.size_bytes and _sha256(path) == self.sha256:
            return path, FileState.OK
        return path, FileState.DIFFERENT if self.exact else FileState.OTHER_CONTENT


@dataclass(frozen=True, kw_only=True)
class DatasetCard:
    """Content, origin and terms of a dataset."""

    name: str
    title: str  # its content in one line
    papers: tuple[str, ...]  # oldest first
    licence: str  # its terms and their consequences
    source: str  # the project that publishes it, and the folder inside
    num_samples: int
    sample: str  # meaning of one sample
    files: tuple[DatasetFile, ...]


@functools.cache
def load_cards() -> dict[str, DatasetCard]:
    """Load the cards of ``cards.toml`` by name, once."""
    text = Path(__file__).with_name("cards.toml").read_text(encoding="utf-8")
    return {card.name: card for card in convert(tomllib.loads(text)["card"], list[DatasetCard])}


def describe(name: str) -> DatasetCard:
    """Return the card of a dataset."""
    cards = load_cards()
    if name not in cards:
        raise InputError(f"no dataset {name!r}; expected one of {', '.join(cards)}")
    return cards[name]


def locate(name: str, filename: str, folder: Folder = None) -> Path:
    """Return the path of a dataset's file, its checksum verified (once a process)."""
    card = describe(name)
    files = {PurePosixPath(file.path).name: file for file in card.files}
    if filename not in files:
        raise InputError(f"dataset {name!r} has no file {filename!r}; expected one of {', '.join(files)}")
    file = files[filename]
    path, state = file.find(folder)
    if state is FileState.MISSING:
        raise DataError(
            f"{path}: missing. ncc can't download it: get it from {card.source} (licence: {card.licence}) and put "
            f"it there, or set NCC_DATA to the folder that holds {file.path}"
        )
    if state is FileState.DIFFERENT:
        raise DataError(
            f"{path}: checksum mismatch: found sha256 {_sha256(path)} ({path.stat().st_size} bytes), expected "
            f"{file.sha256} ({file.size_bytes} bytes). The file is damaged or of another version: "
            f"get it again from {card.source}"
        )
    if state is FileState.OTHER_CONTENT:
        logger.info("%s: not the content that the project's figures were measured on", path)
    return path


def verify(name: str, folder: Folder = None) -> dict[Path, FileState]:
    """Return the state of every file of a dataset, in the card's order, without raising errors."""
    return dict(file.find(folder) for file in describe(name).files)


def fetch(name: str, folder: Folder = None) -> tuple[Path, ...]:
    """Return the path of every file of a dataset; the error for a missing file says where to get it."""
    return tuple(locate(name, PurePosixPath(file.path).name, folder) for file in describe(name).files)


def extracted(name: str, filename: str, folder: Folder = None) -> Path:
    """Return a folder with the content of a dataset's archive, extracted once per checksum into the cache."""
    archive = locate(name, filename, folder)
    return extract_archive(archive, cache_folder() / "extracted" / name / _sha256(archive)[:32])


def cache_folder() -> Path:
    """Return the folder that ncc may write to; it need not exist yet."""
    usual = "~/Library/Caches" if sys.platform == "darwin" else os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("NCC_CACHE") or f"{usual}/ncc").expanduser()


def data_folder(folder: Folder = None) -> Path:
    """Return the folder with one sub-folder per dataset; it need not exist."""
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
