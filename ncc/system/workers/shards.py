"""Answers about many files, in shards on disk that survive a kill: a file of all answers, and why files failed.

Files are cut into shards in a fixed order, and come back in that order, so that the result does not depend on workers.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from msgspec.json import decode

from ncc.errors import AssetError
from ncc.system.files.reading import InputFile
from ncc.system.files.writing import write_atomically
from ncc.system.workers.failures import failure_reason
from ncc.system.workers.pool import Pool, Task

SHARD_FILES = 32


@dataclass(frozen=True)
class Shard:
    """A folder that holds the answers of ``work`` about some files."""

    files: Sequence[InputFile]
    work: Callable[[InputFile], bytes]
    folder: Path

    def run(self, failed: Mapping[int, str]) -> Generator[None]:
        """Read the files, yielding after each, and write the shard; its outcomes come last and mark it as whole."""
        answers, outcomes = [], []
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
            answers.append(answer)
            outcomes.append((len(answer), reason))
        write_atomically(self.folder / "answers", b"".join(answers))
        write_atomically(self.folder / "files.json", json.dumps(outcomes).encode())

    def is_done(self) -> bool:
        """Return True if the shard is whole."""
        return (self.folder / "files.json").is_file()

    def by_file(self) -> Iterator[tuple[InputFile, str | None, bytes]]:
        """Yield each file with the reason why it failed, if it did, and the answer, empty if it did."""
        try:
            outcomes = decode((self.folder / "files.json").read_bytes(), type=list[tuple[int, str | None]])
            answers = (self.folder / "answers").read_bytes()
            if len(outcomes) != len(self.files) or sum(size for size, _ in outcomes) != len(answers):
                raise ValueError("answers are missing")
        except (OSError, ValueError) as error:
            raise AssetError(f"{self.folder}: is damaged ({error}); remove it to read it again") from error
        start = 0
        for file, (size, reason) in zip(self.files, outcomes, strict=True):
            yield file, reason, answers[start : start + size]
            start += size


def in_shards(
    files: Sequence[InputFile],
    work: Callable[[InputFile], bytes],
    folder: Path,
    *,
    jobs: int,
    plan: object,
    seconds: float,
    progress: Callable[[str], None] | None = None,
) -> Generator[Shard]:
    """Work on files and yield whole shards in order."""
    digest = hashlib.sha256(repr((plan, [file.path for file in files], SHARD_FILES)).encode()).hexdigest()[:16]
    for other in folder.iterdir() if folder.is_dir() else ():
        if other.name != digest:  # of another plan
            shutil.rmtree(other, ignore_errors=True)
    shards = [
        Shard(files[start : start + SHARD_FILES], work, folder / digest / f"{index:06d}")
        for index, start in enumerate(range(0, len(files), SHARD_FILES))
    ]
    tasks = [
        Task(str(shard.folder), [str(file) for file in shard.files], shard.run, [seconds] * len(shard.files))
        for shard in shards
        if not shard.is_done()
    ]
    done = len(shards) - len(tasks)
    with closing(Pool(jobs).run(tasks)) as run:
        for shard in shards:
            while not shard.is_done():
                next(run)
                done += 1
                if progress:
                    progress(f"{done} of {len(shards)} batches")
            yield shard
