"""Answers about many files, in shards on disk that survive a kill, and why files failed.

Files are cut into shards in a fixed order, and come back in that order, so that the result does not depend on workers.
"""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import msgpack

from ncc.errors import AssetError
from ncc.system.files.reading import InputFile
from ncc.system.files.writing import write_atomically
from ncc.system.workers.pool import Batch, Pool

SHARD_FILES = 32


@dataclass(frozen=True)
class _Shard(Batch):
    work: Callable[[InputFile], bytes]

    def read(self, item: InputFile) -> bytes:
        return self.work(item)

    def write(self, outcomes: Sequence[tuple[bytes | None, str | None]]) -> None:
        write_atomically(self.file, msgpack.encode(outcomes))

    def load(self) -> Iterator[tuple[InputFile, bytes | None, str | None]]:
        try:
            outcomes = msgpack.decode(self.file.read_bytes(), type=list[tuple[bytes | None, str | None]])
            if len(outcomes) != len(self.items):
                raise ValueError("answers are missing")
        except (OSError, ValueError) as error:
            raise AssetError(f"{self.file}: is damaged ({error}); remove it to read it again") from error
        for item, outcome in zip(self.items, outcomes, strict=True):
            yield item, *outcome


def in_shards(
    files: Sequence[InputFile],
    work: Callable[[InputFile], bytes],
    folder: Path,
    *,
    jobs: int,
    plan: object,
    seconds: float,
    progress: Callable[[str], None] | None = None,
) -> Iterator[tuple[InputFile, bytes | None, str | None]]:
    """Work on files, and yield each in order with the answer, or None and the reason why it failed."""
    digest = hashlib.sha256(repr((plan, [file.path for file in files], SHARD_FILES)).encode()).hexdigest()[:16]
    for other in folder.iterdir() if folder.is_dir() else ():
        if other.name != digest:  # of another plan
            shutil.rmtree(other, ignore_errors=True)
    shards = [
        _Shard(files[start : start + SHARD_FILES], folder / digest / f"{start:08d}", seconds, work)
        for start in range(0, len(files), SHARD_FILES)
    ]
    Pool(jobs).run(shards, progress)
    for shard in shards:
        yield from shard.load()
