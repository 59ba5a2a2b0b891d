"""Many files to one table, in parts that survive a kill: by a corpus build's workers, or by an executor.

Files are cut into batches in a fixed order. Each finished batch is a part on disk: a Parquet file of rows, and what is
to be said of each file. Parts are given back in order, so that whatever is made of them does not depend on the workers.
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
from ncc.system.files.models import open_atomically, write_atomically
from ncc.system.files.reading import FoundFile
from ncc.system.files.tables import vector_table
from ncc.system.workers.failures import Warnings, reason_of
from ncc.system.workers.pool import Pool, Task, run_on_executor

if TYPE_CHECKING:
    import pyarrow

BATCH_FILES = 32


@dataclass(frozen=True, eq=False)
class FileVectors:
    """What came of a file.

    Attributes:
        columns: Name → a value for each vector.
        vectors: (n, dim) float32.
        about: Whatever is to be said of the file, for JSON.
    """

    columns: dict[str, list[Any]]
    vectors: Floats32
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Part:
    """A finished batch.

    Attributes:
        files: Of the batch.
        abouts: What is to be said of each file: ``error``, a message or None, ``num_rows``, and what
            `FileVectors.about` had.
        table: The rows of all files, in order; None where there are none.
    """

    files: tuple[FoundFile, ...]
    abouts: list[dict[str, Any]]
    table: "pyarrow.Table | None"

    def by_file(self) -> "Iterator[tuple[FoundFile, dict[str, Any], pyarrow.Table | None]]":
        """Each file with what is to be said of it and its rows, None where it has none."""
        start = 0
        for file, about in zip(self.files, self.abouts, strict=True):
            count = about["num_rows"]
            yield file, about, self.table.slice(start, count) if self.table is not None and count else None
            start += count


@dataclass(frozen=True)
class _Batch:
    files: tuple[FoundFile, ...]
    work: Callable[[FoundFile], FileVectors]
    folder: Path
    seconds: float

    def task(self) -> Task:
        """For a pool."""
        return Task(str(self.folder), [str(file) for file in self.files], self.run, [self.seconds] * len(self.files))

    def run(self, failed: Mapping[int, str]) -> Generator[None]:
        """Read the files, yielding after each, and write the part; its last file marks it as whole."""
        tables, abouts = [], []
        for index, file in enumerate(self.files):
            error, rows = (failed[index], None) if index in failed else self._read(file)
            about = {"error": error, "num_rows": 0}
            if rows is not None:
                about |= {"num_rows": len(rows.vectors), **rows.about}
                if len(rows.vectors):
                    tables.append(vector_table(rows.columns, rows.vectors))
            abouts.append(about)
            if index not in failed:
                yield
        if tables:
            import pyarrow
            import pyarrow.parquet

            with open_atomically(self.folder / "rows.parquet") as out:
                pyarrow.parquet.write_table(pyarrow.concat_tables(tables), out)
        write_atomically(self.folder / "files.json", json.dumps(abouts).encode())

    def _read(self, file: FoundFile) -> tuple[str | None, FileVectors | None]:
        with Warnings() as told:
            try:
                rows = self.work(file)
            except MemoryError:  # may not be the fault of the file
                raise
            except Exception as error:
                return reason_of(str(file), error), None
        if told:
            rows.about["warning"] = "\n  ".join(told)
        return None, rows

    def is_done(self) -> bool:
        return (self.folder / "files.json").is_file()

    def load(self) -> Part:
        """Reads the part.

        Raises:
            AssetError: It is damaged.
        """
        import pyarrow
        import pyarrow.parquet

        rows = self.folder / "rows.parquet"
        try:
            abouts = json.loads((self.folder / "files.json").read_bytes())
            num_rows = sum(about["num_rows"] for about in abouts)
            table = pyarrow.parquet.read_table(rows) if num_rows else None
            if len(abouts) != len(self.files) or (table is not None and len(table) != num_rows):
                raise ValueError("rows are missing")
        except (OSError, ValueError, LookupError, TypeError, pyarrow.ArrowException) as error:
            raise AssetError(f"{self.folder}: is damaged ({error}); remove it to have it read again") from error
        return Part(self.files, abouts, table)


def in_parts(
    files: Sequence[FoundFile],
    work: Callable[[FoundFile], FileVectors],
    folder: Path,
    *,
    jobs: int,
    executor: Executor | None = None,
    plan: object = None,
    seconds: float = 0.0,
    progress: Callable[[str], None] | None = None,
) -> Generator[Part]:
    """Has work done on files, and gives the parts in the order of the files.

    Args:
        files: To be read; workers must find them by these paths.
        work: A function of a module, or a partial of one; an `NccError` of it costs its file alone.
        folder: Keeps the parts, until whoever asked removes it; parts of the same plan are used again.
        jobs: Worker processes. Ignored if ``executor`` is given.
        executor: That can see the files and the folder. It is not watched.
        plan: What the parts depend on besides the files' paths, by its ``repr``.
        seconds: Time that a file may take on top of reading it.
        progress: Called with a line of text after each batch.

    Raises:
        OutputError: The folder can't be written.
        NccError: Workers can't be started, or one of an executor was killed.
    """
    digest = hashlib.sha256(repr((plan, [file.path for file in files], BATCH_FILES)).encode()).hexdigest()[:16]
    for other in folder.iterdir() if folder.is_dir() else ():
        if other.name != digest:  # of another plan, which goes to be forgotten
            shutil.rmtree(other, ignore_errors=True)
    batches = [
        _Batch(tuple(files[start : start + BATCH_FILES]), work, folder / digest / f"{number:06d}", seconds)
        for number, start in enumerate(range(0, len(files), BATCH_FILES))
    ]
    missing = [batch for batch in batches if not batch.is_done()]
    done = len(batches) - len(missing)
    tasks = [batch.task() for batch in missing]
    with closing(run_on_executor(executor, tasks) if executor else Pool(jobs).run(tasks)) as run:
        for batch in batches:
            while not batch.is_done():
                next(run)
                done += 1
                if progress:
                    progress(f"{done} of {len(batches)} batches")
            yield batch.load()
