"""Many files to one table, in shards on disk that survive a kill: a Parquet file of rows and a report on each file.

Files are cut into shards in a fixed order, and come back in that order, so that the result does not depend on workers.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.arrays import Floats32
from ncc.errors import AssetError
from ncc.system.files.reading import InputFile
from ncc.system.files.tables import vector_table
from ncc.system.files.writing import open_atomically, write_atomically
from ncc.system.workers.failures import Warnings, failure_reason
from ncc.system.workers.pool import Pool, Task, run_on_executor

if TYPE_CHECKING:
    import pyarrow

SHARD_FILES = 32


@dataclass(frozen=True, eq=False)
class FileVectors:
    """Columns of a file, name → a value for each vector; its (n, dim) float32 vectors; and its report, for JSON."""

    columns: dict[str, list[Any]]
    vectors: Floats32
    report: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Shard:
    """A folder that holds what ``work`` made of some files."""

    files: tuple[InputFile, ...]
    work: Callable[[InputFile], FileVectors]
    folder: Path
    seconds: float

    def task(self) -> Task:
        """Return the shard as a pool's task."""
        return Task(str(self.folder), [str(file) for file in self.files], self.run, [self.seconds] * len(self.files))

    def run(self, failed: Mapping[int, str]) -> Generator[None]:
        """Read the files, yielding after each, and write the shard; its reports come last and mark it as whole."""
        import pyarrow
        import pyarrow.parquet

        tables, reports = [], []
        for index, file in enumerate(self.files):
            if index in failed:
                reports.append({"error": failed[index], "num_rows": 0})
                continue
            with Warnings() as warnings:
                try:
                    rows = self.work(file)
                except MemoryError:  # may not be the fault of the file
                    raise
                except Exception as error:
                    reports.append({"error": failure_reason(str(file), error), "num_rows": 0})
                else:
                    told = {"warning": "\n  ".join(warnings)} if warnings else {}
                    reports.append({"error": None, "num_rows": len(rows.vectors), **rows.report, **told})
                    if len(rows.vectors):
                        tables.append(vector_table(rows.columns, rows.vectors))
            yield
        if tables:
            with open_atomically(self.folder / "rows.parquet") as out:
                pyarrow.parquet.write_table(pyarrow.concat_tables(tables), out)
        write_atomically(self.folder / "files.json", json.dumps(reports).encode())

    def is_done(self) -> bool:
        """Return True if the shard is whole."""
        return (self.folder / "files.json").is_file()

    def by_file(self) -> "Iterator[tuple[InputFile, dict[str, Any], pyarrow.Table | None]]":
        """Yield each file with its report (``error``, a message or None, and more) and its rows, None without any."""
        import pyarrow
        import pyarrow.parquet

        try:
            reports = json.loads((self.folder / "files.json").read_bytes())
            num_rows = sum(report["num_rows"] for report in reports)
            table = pyarrow.parquet.read_table(self.folder / "rows.parquet") if num_rows else None
            if len(reports) != len(self.files) or (table is not None and len(table) != num_rows):
                raise ValueError("rows are missing")
        except (OSError, ValueError, LookupError, TypeError, pyarrow.ArrowException) as error:
            raise AssetError(f"{self.folder}: is damaged ({error}); remove it to have it read again") from error
        start = 0
        for file, report in zip(self.files, reports, strict=True):
            count = report["num_rows"]
            yield file, report, table.slice(start, count) if table is not None and count else None
            start += count


def in_shards(
    files: Sequence[InputFile],
    work: Callable[[InputFile], FileVectors],
    folder: Path,
    *,
    jobs: int,
    executor: Executor | None = None,
    plan: object = None,
    seconds: float = 0.0,
    progress: Callable[[str], None] | None = None,
) -> Generator[Shard]:
    """Work on files and yield whole shards in order."""
    digest = hashlib.sha256(repr((plan, [file.path for file in files], SHARD_FILES)).encode()).hexdigest()[:16]
    for other in folder.iterdir() if folder.is_dir() else ():
        if other.name != digest:  # of another plan
            shutil.rmtree(other, ignore_errors=True)
    shards = [
        Shard(tuple(files[start : start + SHARD_FILES]), work, folder / digest / f"{index:06d}", seconds)
        for index, start in enumerate(range(0, len(files), SHARD_FILES))
    ]
    tasks = [shard.task() for shard in shards if not shard.is_done()]
    done = len(shards) - len(tasks)
    with closing(run_on_executor(executor, tasks) if executor else Pool(jobs).run(tasks)) as run:
        for shard in shards:
            while not shard.is_done():
                next(run)
                done += 1
                if progress:
                    progress(f"{done} of {len(shards)} batches")
            yield shard
