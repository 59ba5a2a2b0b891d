"""Runs methods through folds: in parallel, one thread each, with every fold cached by its content.

A method never sees the answers of the rows that it is tested on: it is given samples in which they are hidden.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeVar

import numpy as np
from joblib import Parallel, delayed, parallel_config
from joblib import hash as content_hash
from threadpoolctl import threadpool_limits

from ncc.arrays import Floats, Ints, Split
from ncc.errors import InputError, NccError
from ncc.system.files.models import write_atomically

Kind = Literal["control", "published", "ours"]
"""Whose a method is: a control, a published method run again, or ours."""


class Samples(Protocol):
    """Rows of a task, as far as running a method is concerned."""

    def __len__(self) -> int: ...

    def without_answers(self, rows: Ints) -> Self:
        """Returns a copy in which the measurements of some rows are hidden."""


S = TypeVar("S", bound=Samples)
T = TypeVar("T")
Samples_contra = TypeVar("Samples_contra", contravariant=True)


class Method(Protocol[Samples_contra]):
    """What can be measured: it says what it is, learns from some rows, and predicts for others."""

    @property
    def name(self) -> str:
        """Name for tables; one method each in a table."""

    @property
    def kind(self) -> Kind:
        """Whose it is."""

    @property
    def slow(self) -> bool:
        """Whether a fold takes minutes, so that a comparison runs it from fewer seeds."""

    @property
    def version(self) -> str:
        """Version of its code: raised by whoever changes what it predicts, so that results kept before are not used."""

    @property
    def identity(self) -> Any:
        """All that its results depend on beside its code, samples and folds: options, and arrays that it was given.

        Plain data and arrays, in a tuple where they are several; it is hashed by content to find earlier results.
        """

    def fit(self, samples: Samples_contra, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Learns from the rows `train_idx`, (m,) int64, alone, and forgets what was learnt before."""

    def predict(self, samples: Samples_contra, test_idx: Ints, /) -> Floats:
        """Returns what the task asks for, a number or a row of numbers for each row, (m,) or (m, k) float64."""


def fitted(model: T | None) -> T:
    """Return what a method has learnt.

    Raises:
        InputError: It has learnt nothing yet.
    """
    if model is None:
        raise InputError("fit the method before predicting")
    return model


@dataclass(frozen=True, eq=False)
class Plan:
    """One method under one protocol from one seed.

    Args:
        method: What to run.
        protocol: Name of the protocol, for progress and results.
        seed: Of the method; folds get their own from it.
        folds: Training and test rows, fold by fold.
    """

    method: Method[Any]
    protocol: str
    seed: int
    folds: Sequence[Split]


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """What a method predicted for rows that it had not seen.

    Args:
        method: The method's name.
        kind: Whose it is.
        protocol: The protocol's name.
        seed: The seed.
        predicted: (n, k) float64, NaN in rows that no fold tests.
        seconds: Fitting and predicting, all folds together, as measured when they ran.
    """

    method: str
    kind: Kind
    protocol: str
    seed: int
    predicted: Floats
    seconds: float


def run_plans(
    samples: S,
    plans: Sequence[Plan],
    *,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Run]:
    """Runs all folds of all plans; those whose results lie in the cache are read from there.

    A run that is stopped goes on where it was: every fold is kept as soon as it is done.

    Args:
        samples: The n rows.
        plans: What to run.
        jobs: Folds run at a time, each in a process of its own with one thread; 1 runs them here.
        cache: Folder of earlier results; None keeps none.
        progress: Called with a line of text after each fold.

    Returns:
        A run for each plan, in order.

    Raises:
        InputError: A method returned something else than one row of finite numbers for each test row, as many in each
            fold; or `jobs` is below 1.
        NccError: A process died.
        OutputError: The cache can't be written.
    """
    if jobs < 1:
        raise InputError(f"jobs: expected at least 1, found {jobs}")
    cells = _cells(samples, plans, cache)
    parts: list[dict[int, _Part]] = [{} for _ in plans]
    done = 0

    def keep(cell: _Cell, part: _Part) -> None:
        nonlocal done
        parts[cell.plan][cell.fold] = part
        done += 1
        if progress:
            plan = plans[cell.plan]
            name = f"{plan.protocol}, {plan.method.name}, seed {plan.seed}, fold {cell.fold + 1}"
            progress(f"{done} of {len(cells)}: {name}")

    missing = []
    for cell in cells:
        if known := _read(cell):
            keep(cell, known)
        else:
            missing.append(cell)
    for cell, part in _run_cells(missing, samples, plans, jobs):
        keep(cell, part)
    return [_collect(len(samples), plan, known) for plan, known in zip(plans, parts, strict=True)]


@dataclass(frozen=True, eq=False)
class _Cell:
    """A fold of a plan, and the file that keeps its result."""

    plan: int
    fold: int
    split: Split
    file: Path | None


@dataclass(frozen=True, eq=False)
class _Part:
    """What a fold gave: (m, k) float64 for its test rows."""

    test: Ints
    predicted: Floats
    seconds: float


def _cells(samples: Samples, plans: Sequence[Plan], cache: Path | None) -> list[_Cell]:
    digests: dict[int, str] = {}  # a method or the samples are hashed once, not for every fold
    rows = content_hash(vars(samples)) if cache else None
    cells = []
    for number, plan in enumerate(plans):
        if cache and id(plan.method) not in digests:
            digests[id(plan.method)] = _digest(plan.method)
        for fold, split in enumerate(plan.folds):
            file = None
            if cache:
                file = cache / f"{content_hash((rows, digests[id(plan.method)], plan.seed, fold, split))}.npz"
            cells.append(_Cell(number, fold, split, file))
    return cells


def _digest(method: Method[Any]) -> str:
    """What identifies a method's results: the version of its code, options, and the libraries that it learns with."""
    libraries = [version(name) for name in ("numpy", "scikit-learn", "torch")]
    return content_hash((type(method).__qualname__, method.name, method.version, method.identity, libraries))


def _run_cells(cells: Sequence[_Cell], samples: S, plans: Sequence[Plan], jobs: int) -> Iterator[tuple[_Cell, _Part]]:
    """Runs folds, in the order in which they come to an end."""
    work = ((cell, samples, plans[cell.plan].method, plans[cell.plan].seed) for cell in cells)
    if jobs == 1 or len(cells) < 2:
        yield from (_run_cell(*arguments) for arguments in work)
        return
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        # Not memory-mapped, or methods would get arrays that they can't write to, as they don't with one job.
        parallel = Parallel(return_as="generator_unordered", max_nbytes=None)
    try:
        yield from parallel(delayed(_run_cell)(*arguments) for arguments in work)
    except BrokenProcessPool as error:
        raise NccError("a process that ran folds died, for want of memory perhaps; fewer jobs need less") from error


def _run_cell(cell: _Cell, samples: S, method: Method[S], seed: int) -> tuple[_Cell, _Part]:
    train, test = cell.split
    start = time.perf_counter()
    with threadpool_limits(1):  # more would get in each other's way, and add up in another order
        visible = samples.without_answers(test)
        method.fit(visible, train, np.random.default_rng((seed, cell.fold)))
        answer = np.asarray(method.predict(visible, test), dtype=np.float64)
    seconds = time.perf_counter() - start
    if answer.ndim not in (1, 2) or len(answer) != len(test) or not np.isfinite(answer).all():
        raise InputError(
            f"method {method.name!r}, fold {cell.fold}: expected finite numbers for {len(test)} rows, "
            f"found shape {answer.shape} with {np.count_nonzero(~np.isfinite(answer))} not finite"
        )
    answer = answer.reshape(len(test), -1)
    if cell.file:
        buffer = BytesIO()
        np.savez(buffer, predicted=answer, seconds=seconds)
        write_atomically(cell.file, buffer.getvalue())
    return cell, _Part(test, answer, seconds)


def _read(cell: _Cell) -> _Part | None:
    """An earlier result; None where there is none, or no whole one."""
    if not cell.file:
        return None
    test = cell.split[1]
    try:
        with np.load(BytesIO(cell.file.read_bytes()), allow_pickle=False) as arrays:
            predicted, seconds = arrays["predicted"], float(arrays["seconds"])
    except Exception:  # whatever a damaged archive raises: it is computed again
        return None
    good = predicted.dtype == np.float64 and predicted.ndim == 2 and len(predicted) == len(test)
    return _Part(test, predicted, seconds) if good and np.isfinite(predicted).all() else None


def _collect(num_rows: int, plan: Plan, parts: dict[int, _Part]) -> Run:
    widths = {part.predicted.shape[1] for part in parts.values()}
    if len(widths) != 1:
        raise InputError(
            f"method {plan.method.name!r}, {plan.protocol}: expected as many numbers for a row in each fold, "
            f"found {sorted(widths)} in {len(parts)} folds"
        )
    predicted = np.full((num_rows, *widths), np.nan)
    for part in parts.values():
        predicted[part.test] = part.predicted
    return Run(
        method=plan.method.name,
        kind=plan.method.kind,
        protocol=plan.protocol,
        seed=plan.seed,
        predicted=predicted,
        seconds=sum(parts[fold].seconds for fold in sorted(parts)),
    )
