"""The frame of every comparison: tasks, protocols, methods, and cells, which run a method on a fold and are kept.

A method never sees the answers of the rows that it is tested on: they are hidden in the table that it is given.
"""

import functools
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

import numpy as np
from joblib import Parallel, delayed, parallel_config
from joblib import hash as content_hash
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ncc.arrays import Floats, Ints, Split
from ncc.errors import InputError, NccError, check_positive
from ncc.system.files.writing import write_atomically
from ncc_lab.figures import DRAWS, Columns, Figure

Kind = Literal["control", "published", "ours"]
"""Whose a method is: a control, a published method run again, or ours."""


class Samples(Protocol):
    """A table of a task's samples."""

    def __len__(self) -> int: ...

    def without_answers(self, rows: Ints) -> Self:
        """Return a copy in which the measurements of some rows are hidden."""


S = TypeVar("S", bound=Samples)
Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, eq=False)
class Subset(Generic[S]):
    """Some rows of a table.

    Attributes:
        table: The whole table, in which the answers of all test rows are hidden.
        rows: (m,) int64 places of the rows in it.
    """

    table: S
    rows: Ints

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class Method(Generic[S]):
    """A method that can be measured.

    Attributes:
        name: Name for tables, unique in a comparison.
        kind: Origin of the method: "ours", "published" or "control".
        predict: Maps training rows, test rows and a random generator to predictions, (m,) or (m, k).
        key: Everything else that predictions depend on, such as options and arrays, beside code, samples and folds.
        version: Raised when a change of its code changes predictions, so that cached results are not used.
        is_slow: Whether a fold takes minutes, so that fewer seeds are run.
    """

    name: str
    kind: Kind
    predict: Callable[[Subset[S], Subset[S], np.random.Generator], NDArray[Any]]
    key: Any = ()
    version: str = "1"
    is_slow: bool = False


@dataclass(frozen=True, eq=False)
class HoldOut:
    """A protocol: rule that defines the rows that are held out for a test.

    Attributes:
        title: Short description.
        folds: Maps a seed to the training and test rows of each fold; no row is tested twice.
        unit: Name of a group: rows so similar that no interval may count them as independent.
        groups: (n,) group of each row, which the bootstrap draws.
        columns: Additional columns for the task's figures, (n,) each.
    """

    title: str
    folds: Callable[[int], Sequence[Split]]
    unit: str
    groups: NDArray[Any]
    columns: Columns = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Task(Generic[S]):
    """Samples, and how predictions for them are tested and measured.

    Attributes:
        samples: The n samples.
        protocols: Name → protocol.
        terms: Maps the table, rows and their predictions, (m, k), to the columns that figures read; raises if
            predictions contradict themselves.
        widths: How many numbers a method may predict for a row.
        figures: Name → figure; the first ranks methods.
        perfect: (n, k) predictions of a perfect method.
        leaks: Property that test rows may share with training rows → its value in each row, or None if unknown.
        platform: Name of the samples if a comparison has several tables; else empty.
        part: Column whose values split the samples into parts with separate figures; else empty.
        draws: Draws of the bootstrap.
        notes: Additional JSON fields, such as the number of samples.
    """

    samples: S
    protocols: Mapping[str, HoldOut]
    terms: Callable[[S, Ints, Floats], dict[str, NDArray[Any]]]
    widths: tuple[int, ...]
    figures: Mapping[str, Figure]
    perfect: Floats
    leaks: Mapping[str, Iterable[Hashable] | None] = field(default_factory=dict)
    platform: str = ""
    part: str = ""
    draws: int = DRAWS
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Cell:
    """A fold of a method's run, and the file that keeps its predictions."""

    method: Method[Any]
    protocol: str
    seed: int
    fold: int
    split: Split
    file: Path | None

    def run(self, samples: Samples) -> tuple[Floats, float]:
        """Return what the method predicts, (m, k), and the seconds that it took."""
        train, test = self.split
        start = time.perf_counter()
        with threadpool_limits(1):  # more would get in each other's way, and add up in another order
            table = samples.without_answers(test)
            rng = np.random.default_rng((self.seed, self.fold))
            answer = np.asarray(self.method.predict(Subset(table, train), Subset(table, test), rng), np.float64)
        seconds = time.perf_counter() - start
        if answer.ndim not in (1, 2) or len(answer) != len(test) or not np.isfinite(answer).all():
            raise InputError(
                f"method {self.method.name!r}, fold {self.fold}: expected finite numbers for {len(test)} rows, "
                f"found shape {answer.shape} with {np.count_nonzero(~np.isfinite(answer))} not finite"
            )
        answer = answer.reshape(len(test), -1)
        if self.file:
            buffer = BytesIO()
            np.savez(buffer, predicted=answer, seconds=seconds)
            write_atomically(self.file, buffer.getvalue())
        return answer, seconds

    def read(self) -> tuple[Floats, float] | None:
        """Return an earlier result; None if there is no whole one."""
        try:
            with np.load(BytesIO(self.file.read_bytes() if self.file else b""), allow_pickle=False) as arrays:
                predicted, seconds = arrays["predicted"], float(arrays["seconds"])
        except Exception:  # a damaged archive raises anything: it is computed again
            return None
        is_whole = predicted.dtype == np.float64 and predicted.ndim == 2 and len(predicted) == len(self.split[1])
        return (predicted, seconds) if is_whole and np.isfinite(predicted).all() else None


def run_cells(
    cells: Sequence[Cell], samples: Samples, jobs: int, progress: Callable[[str], None] | None
) -> list[tuple[Floats, float]]:
    """Return each cell's result, from its file if it is there; each is kept as soon as it is known."""
    check_positive(jobs=jobs)
    results: dict[int, tuple[Floats, float]] = {}

    def keep(number: int, result: tuple[Floats, float]) -> None:
        results[number] = result
        if progress:
            cell = cells[number]
            name = f"{cell.protocol}, {cell.method.name}, seed {cell.seed}, fold {cell.fold + 1}"
            progress(f"{len(results)} of {len(cells)}: {name}")

    for number, cell in enumerate(cells):
        if cached := cell.read():
            keep(number, cached)
    missing = [number for number in range(len(cells)) if number not in results]
    if jobs == 1 or len(missing) < 2:
        for number in missing:
            keep(number, cells[number].run(samples))
        return [results[number] for number in range(len(cells))]
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        # Not memory-mapped, or methods would get arrays that they can't write to, as they don't with one job.
        parallel = Parallel(return_as="generator_unordered", max_nbytes=None)
    try:
        for number, result in parallel(delayed(_run_cell)(number, cells[number], samples) for number in missing):
            keep(number, result)
    except BrokenProcessPool as error:
        raise NccError("a process that ran folds died, probably out of memory; try fewer jobs") from error
    return [results[number] for number in range(len(cells))]


def _run_cell(number: int, cell: Cell, samples: Samples) -> tuple[int, tuple[Floats, float]]:
    return number, cell.run(samples)


def name_cells(cache: Path | None, samples: Samples) -> Callable[[Method[Any], int, int, Split], Path | None]:
    """Return what names the file of a cell by all that its result depends on; no file where nothing is kept."""
    if not cache:
        return lambda _method, _seed, _fold, _split: None
    of_samples = content_hash(vars(samples))
    libraries = [version(name) for name in ("numpy", "scikit-learn", "torch")]
    of_method = functools.cache(
        lambda method: content_hash(
            (method.name, method.version, method.key, libraries)
        )  # methods are told by identity
    )
    return lambda method, *place: cache / f"{content_hash((of_samples, of_method(method), *place))}.npz"


def choose(what: str, name: str, known: Iterable[Name]) -> tuple[Name, ...]:
    """Return the one of a name, or those of "all"."""
    names = tuple(known)
    if name not in (*names, "all"):
        raise InputError(f"{what} is {name!r}; expected one of {', '.join(names)}, all")
    return names if name == "all" else tuple(one for one in names if one == name)


def choose_methods(patterns: Sequence[str] | None, known: Iterable[str]) -> list[str]:
    """Return the names that match a pattern, as a shell matches files, in their own order; all if there is none."""
    names, patterns = list(known), patterns or ("*",)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InputError(f"no method {pattern!r}; expected a pattern that matches one of {', '.join(names)}")
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]
