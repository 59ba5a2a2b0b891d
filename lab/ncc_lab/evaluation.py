"""The frame of every evaluation: a task's samples under its protocols, methods run on them, a table of scores.

A task brings samples, protocols and measures (`Task`), and says what of a score is printed (`Comparison`); `devices`,
`coarsening` and `classification` beside this file do so. What is run, kept and scored is decided here.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ncc.arrays import Floats, Ints, Split
from ncc.errors import InputError
from ncc.learning.data.registry import cache_folder
from ncc.learning.heads.figures import Bootstrap, Estimate
from ncc.system.files.pages import render_page
from ncc.system.files.writing import check_folder
from ncc_lab.report.table import Table, Tabular
from ncc_lab.runs import Kind, Method, Plan, Run, Samples, run_plans

SEED = 204
"""Seed of the published folds, and the first of every study's seeds."""

S = TypeVar("S", bound=Samples)
M = TypeVar("M")
N = TypeVar("N", bound=str)


class Task(ABC, Generic[S, M]):
    """Samples, and how predictions for them are tested and measured.

    Args:
        samples: The n samples.

    Attributes:
        units: Protocol → what counts as independent when an interval is put on a result: rows that are alike never do.
        widths: How many numbers a method may predict for a row.
        platform: Name of the samples where a task has several tables; else empty.
    """

    units: Mapping[str, str]
    widths: tuple[int, ...]
    platform: str = ""

    def __init__(self, samples: S) -> None:
        self.samples = samples

    @abstractmethod
    def folds(self, protocol: str, seed: int, /) -> Sequence[Split]:
        """Return training and test rows, fold by fold.

        Raises:
            InputError: The protocol is unknown, or there are too few samples for it.
        """

    @abstractmethod
    def groups(self, protocol: str) -> np.ndarray:
        """Return each row's unit, (n,): the bootstrap draws rows of equal value together."""

    @abstractmethod
    def measure(self, protocol: str, predicted: Floats, rows: Ints, bootstrap: Bootstrap | None = None) -> M:
        """Score predictions.

        Args:
            protocol: One of `units`.
            predicted: (seeds, m, k) float64.
            rows: The rows that they are for, (m,) int64.
            bootstrap: How intervals are drawn; None for the task's usual way.
        """

    @abstractmethod
    def perfect(self) -> Floats:
        """Return what a method that knew all answers would predict, (n, k) float64."""

    def parts(self) -> Mapping[str, Ints]:
        """Return name → rows of the parts of the samples that are scored by themselves as well."""
        return {}

    def check(self, predicted: Floats) -> None:
        """Refuse predictions, (seeds, m, k), that contradict themselves.

        Raises:
            InputError: They do.
        """


@dataclass(frozen=True, kw_only=True, eq=False)
class Score(Generic[M]):
    """The result of one method under one protocol, for rows that it had not seen.

    Args:
        method: The method's name.
        kind: Whose it is.
        protocol: The protocol.
        platform: Name of the samples where a task has several tables; else empty.
        seeds: Seeds of the runs; nothing that was run is left out.
        num_samples: Rows that are tested, each once per seed.
        interval_unit: What the intervals' bootstrap draws.
        num_groups: How many of these there are.
        metrics: The scores, means over the seeds.
        oracle: The scores of a perfect choice, for comparison.
        parts: Part of the samples → its scores.
        predicted: What the method returned, (seeds, n, k) float64; NaN in rows that no fold tests.
        seconds: Fitting and predicting, all seeds and folds together, as measured when they ran.
    """

    method: str
    kind: Kind
    protocol: str
    platform: str = ""
    seeds: tuple[int, ...] = ()
    num_samples: int
    interval_unit: str
    num_groups: int
    metrics: M
    oracle: M
    parts: Mapping[str, M] = field(default_factory=dict)
    predicted: Floats
    seconds: float


def evaluate(
    task: Task[S, M], method: Method[S], protocol: str, seeds: Sequence[int] = (SEED,), **options: Any
) -> Score[M]:
    """Measure one method under one protocol; options and errors are those of `evaluate_all`."""
    (score,) = evaluate_all(task, [method], [protocol], seeds, **options)
    return score


def evaluate_all(
    task: Task[S, M],
    methods: Sequence[Method[S]],
    protocols: Sequence[str],
    seeds: Sequence[int] = (SEED,),
    *,
    num_slow_seeds: int | None = None,
    bootstrap: Bootstrap | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Score[M]]:
    """Measure methods under protocols.

    A method gets samples in which the answers of the fold's test rows are hidden, so that it can't learn from them
    even by mistake.

    Args:
        task: What they are measured on.
        methods: What to measure.
        protocols: Some of the task's protocols.
        seeds: Seeds of the runs.
        num_slow_seeds: How many of these slow methods are run from; None for all.
        bootstrap: How intervals are drawn; None for the task's usual way.
        jobs: Folds run at a time, as for `run_plans`.
        cache: Folder of earlier results; None keeps none.
        progress: Called with a line of text after each fold.

    Returns:
        Scores by protocol, then by method.

    Raises:
        InputError: No seeds, an unknown protocol, too few samples for it, or a method that predicts something else
            than the task asks for.
    """
    if not seeds:
        raise InputError("expected at least one seed, found none")
    cases = [
        [
            Plan(method, protocol, seed, task.folds(protocol, seed))
            for seed in seeds[: num_slow_seeds if method.slow else None]
        ]
        for protocol in protocols
        for method in methods
    ]
    plans = [plan for case in cases for plan in case]
    runs = iter(run_plans(task.samples, plans, jobs=jobs, cache=cache, progress=progress))
    return [score_runs(task, [next(runs) for _ in case], bootstrap) for case in cases]


def score_runs(task: Task[Any, M], runs: Sequence[Run], bootstrap: Bootstrap | None = None) -> Score[M]:
    """Score what a method predicted under a protocol.

    Args:
        task: What it was run on.
        runs: One for each seed, all of one protocol.
        bootstrap: How intervals are drawn; None for the task's usual way.

    Raises:
        InputError: The method predicted something else than the task asks for.
    """
    first = runs[0]
    widths = {run.predicted.shape[1] for run in runs}
    if len(widths) != 1 or not widths <= set(task.widths):
        wanted = " or ".join(map(str, task.widths))
        raise InputError(f"method {first.method!r}: expected {wanted} numbers for each row, found {sorted(widths)}")
    predicted = np.stack([run.predicted for run in runs])
    rows = np.flatnonzero(np.isfinite(predicted[0, :, 0]))
    try:
        task.check(predicted[:, rows])
    except InputError as error:
        raise InputError(f"method {first.method!r}: {error}") from None

    def measure(rows: Ints) -> M:
        return task.measure(first.protocol, predicted[:, rows], rows, bootstrap)

    return Score(
        method=first.method,
        kind=first.kind,
        protocol=first.protocol,
        platform=task.platform,
        seeds=tuple(run.seed for run in runs),
        num_samples=len(rows),
        interval_unit=task.units[first.protocol.partition("/")[0]],
        num_groups=len(np.unique(task.groups(first.protocol)[rows])),
        metrics=measure(rows),
        oracle=task.measure(first.protocol, task.perfect()[None, rows], rows, bootstrap),
        parts={name: measure(part) for name, part in task.parts().items()},
        predicted=predicted,
        seconds=sum(run.seconds for run in runs),
    )


def estimates(metrics: Any) -> dict[str, Estimate]:
    """Return the figures of a dataclass of metrics that have an interval, by name."""
    found = {one.name: getattr(metrics, one.name) for one in fields(metrics)}
    return {name: value for name, value in found.items() if isinstance(value, Estimate)}


@dataclass(frozen=True, eq=False)
class Comparison(Tabular, Generic[M]):
    """Scores of all that was run, for machines and for people.

    Args:
        scores: In order of platforms, protocols and methods.

    Attributes:
        title: Of the report.
        introduction: First words of the report, where its template has none of its own.
        template: Of the report, in ``ncc_lab/templates``.
    """

    scores: tuple[Score[M], ...]
    title: ClassVar[str]
    introduction: ClassVar[str] = ""
    template: ClassVar[str] = "tables.html.j2"

    def __repr__(self) -> str:
        methods, protocols = ({getattr(score, name) for score in self.scores} for name in ("method", "protocol"))
        return f"{type(self).__name__}({len(methods)} methods under {len(protocols)} protocols)"

    def to_dict(self) -> dict[str, Any]:
        """``protocols`` → protocol (``protocol/platform`` where there are several) → ``methods`` → figures.

        As ``--json`` prints it; a protocol's entry has what `describe_protocol` adds.
        """
        protocols: dict[str, Any] = {}
        for some in self._by_protocol():
            methods = {
                score.method: {
                    **self.describe(score),
                    "num_samples": score.num_samples,
                    "seeds": list(score.seeds),
                    "seconds": round(score.seconds, 2),
                }
                for score in some
            }
            first = some[0]
            place = f"{first.protocol}/{first.platform}" if first.platform else first.protocol
            protocols[place] = {**self.describe_protocol(first), "methods": methods}
        return {"protocols": protocols}

    def to_page(self, about: Mapping[str, Any]) -> str:
        """A report as one HTML document that needs no other file and no net.

        Args:
            about: What is known of the run: command, versions, hardware; see `ncc.system.files.provenance`.

        Raises:
            InputError: There are no scores.
        """
        if not self.scores:
            raise InputError("expected at least one score to report, found none")
        values = {name: getattr(self, name) for name in ("title", "introduction", "scores")}
        values |= {"seeds": max((score.seeds for score in self.scores), key=len), "tables": self.tables()}
        return render_page(
            self.template, package="ncc_lab", comparison=self, about=about, **values | self.page_values()
        )

    def tables(self) -> list[Table]:
        """A table for each protocol, of every method."""
        return [self.table(some) for some in self._by_protocol()]

    def parts(self) -> list[Table | str]:
        """Tables and texts for people."""
        return [*self.tables()]

    @abstractmethod
    def table(self, scores: Sequence[Score[M]]) -> Table:
        """Return the scores of one protocol as people read them."""

    def page_values(self) -> dict[str, Any]:
        """Return what else the report's template shows, by name."""
        return {}

    @abstractmethod
    def describe(self, score: Score[M]) -> dict[str, Any]:
        """Return a method's figures, as ``--json`` prints them."""

    def describe_protocol(self, _score: Score[M], /) -> dict[str, Any]:
        """Return what ``--json`` prints of a protocol beside its methods, from one of its scores."""
        return {}

    def _by_protocol(self) -> list[list[Score[M]]]:
        found: dict[tuple[str, str], list[Score[M]]] = {}
        for score in self.scores:
            found.setdefault((score.platform, score.protocol), []).append(score)
        return list(found.values())


def choose(what: str, name: str, known: Sequence[N]) -> tuple[N, ...]:
    """Return the known names that one name stands for: itself, or all of them for "all".

    Raises:
        InputError: It is none of them.
    """
    if name != "all" and name not in known:
        raise InputError(f"{what} is {name!r}; expected one of {', '.join(known)}, all")
    return tuple(each for each in known if name in (each, "all"))


def choose_methods(patterns: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return the names that match one of some patterns, as a shell matches files, in their own order.

    Raises:
        InputError: A pattern matches none.
    """
    names = list(known)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InputError(f"no method {pattern!r}; expected a pattern that matches one of {', '.join(names)}")
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def seeds_from(first: int, number: int) -> range:
    """Return the seeds of so many runs.

    Raises:
        InputError: There would be none.
    """
    if number < 1:
        raise InputError(f"seeds is {number}; expected 1 or more")
    return range(first, first + number)


def runs_folder(cache: str | Path | None, no_cache: bool) -> Path | None:
    """Return where results of folds are kept, if anywhere.

    Raises:
        InputError: A folder is named although none is to be used.
        OutputError: It can't be written.
    """
    if cache and no_cache:
        raise InputError("--cache and --no-cache exclude each other")
    if cache:
        check_folder(Path(cache))
    return None if no_cache else Path(cache) if cache else cache_folder() / "runs"
