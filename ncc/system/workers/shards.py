"""Answers about many files, in shards on disk that survive a kill, and why files failed.

Files are cut into shards in a fixed order, and come back in that order, so that the result does not depend on workers.
"""

import hashlib
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from msgspec import msgpack

from ncc.errors import AssetError
from ncc.system.files.reading import InputFile
from ncc.system.files.writing import write_atomically
from ncc.system.workers.failures import failure_reason
from ncc.system.workers.pool import Pool, Task

SHARD_FILES = 32


@dataclass(frozen=True)
class _Shard:
    """Files that are worked on together, and the file that holds the answers."""

    files: Sequence[InputFile]
    work: Callable[[InputFile], bytes]
    path: Path

    def task(self, seconds: float) -> Task:
        return Task(str(self.path), [str(file) for file in self.files], self.run, [seconds] * len(self.files))

    def run(self, failed: Mapping[int, str]) -> Generator[None]:
        """Work on the files, yielding after each, and write the shard."""
        outcomes = []
        for index, file in enumerate(self.files):
            answer, reason = b"", failed.get(index)
            if index not in failed:
                try:
                    answer = self.work(file)
                except MemoryError:  # the pool tries the file alone
                    raise
                except Exception as error:
                    reason = failure_reason(str(file), error)
                yield
            outcomes.append((answer, reason))
        write_atomically(self.path, msgpack.encode(outcomes))

    def outcomes(self) -> list[tuple[bytes, str | None]]:
        try:
            outcomes = msgpack.decode(self.path.read_bytes(), type=list[tuple[bytes, str | None]])
            if len(outcomes) != len(self.files):
                raise ValueError("answers are missing")
        except (OSError, ValueError) as error:
            raise AssetError(f"{self.path}: is damaged ({error}); remove it to read it again") from error
        return outcomes


def in_shards(
    files: Sequence[InputFile],
    work: Callable[[InputFile], bytes],
    folder: Path,
    *,
    jobs: int,
    plan: object,
    seconds: float,
    progress: Callable[[str], None] | None = None,
) -> Generator[tuple[InputFile, bytes, str | None]]:
    """Work on files, and yield each in order with the answer, empty if it failed, and the reason if it did."""
    digest = hashlib.sha256(repr((plan, [file.path for file in files], SHARD_FILES)).encode()).hexdigest()[:16]
    for other in folder.iterdir() if folder.is_dir() else ():
        if other.name != digest:  # of another plan
            shutil.rmtree(other, ignore_errors=True)
    starts = range(0, len(files), SHARD_FILES)
    shards = [_Shard(files[start : start + SHARD_FILES], work, folder / digest / f"{start:08d}") for start in starts]
    missing = [shard.task(seconds) for shard in shards if not shard.path.exists()]
    with closing(Pool(jobs).run(missing)) as run:
        for done, _ in enumerate(run, len(shards) - len(missing) + 1):
            if progress:
                progress(f"{done} of {len(shards)} batches")
    for shard in shards:
        for file, outcome in zip(shard.files, shard.outcomes(), strict=True):
            yield file, *outcome
