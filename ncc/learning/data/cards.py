"""The facts of every dataset that ncc can read: paper, licence, origin, files and checksums.

They stand in ``cards.toml``; `datasets/` says the same in prose.
"""

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from msgspec import convert

from ncc.errors import DataError

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
