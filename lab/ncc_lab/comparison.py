"""Results of a comparison: predictions per row, figures with intervals, and leakage of the protocols."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ncc.arrays import Floats, Ints, Split
from ncc.errors import InputError
from ncc_lab.figures import SEED, Estimate, estimate, show, table
from ncc_lab.frame import Cell, Kind, Method, S, Task, name_cells, run_cells


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """Predictions of a method under a protocol, for rows that it was not trained on.

    Attributes:
        task: The task.
        protocol: Name of the protocol.
        method: The method's name.
        kind: Origin of the method: "ours", "published" or "control".
        seeds: Seeds of all runs.
        predicted: (seeds, n, k) float64; NaN in rows that no fold tests.
        seconds: Time to fit and predict, in all seeds and folds, as measured when they ran.
    """

    task: Task[Any]
    protocol: str
    method: str
    kind: Kind
    seeds: tuple[int, ...]
    predicted: Floats
    seconds: float = 0.0

    @property
    def rows(self) -> Ints:
        """The tested rows, (m,) int64."""
        return np.flatnonzero(np.isfinite(self.predicted[0, :, 0]))

    @cached_property
    def terms(self) -> list[dict[str, NDArray[Any]]]:
        """The columns that figures read, for each seed: the task's and the protocol's, (m,) each."""
        hold_out, rows = self.task.protocols[self.protocol], self.rows
        extra = {name: column[rows] for name, column in hold_out.columns.items()}
        return [self.task.terms(self.task.samples, rows, one[rows]) | extra for one in self.predicted]

    @cached_property
    def scores(self) -> dict[str, dict[str, Any]]:
        """Part of the samples ("" for all) → figure → estimate."""
        groups = self.task.protocols[self.protocol].groups[self.rows]
        parts = {"": np.ones(len(groups), bool)}
        if self.task.part:
            column = self.terms[0][self.task.part]
            parts |= {str(name): column == name for name in dict.fromkeys(column.tolist())}
        return {
            part: estimate(
                [{name: column[chosen] for name, column in terms.items()} for terms in self.terms],
                self.task.figures,
                groups[chosen],
                draws=self.task.draws,
            )
            for part, chosen in parts.items()
        }

    @property
    def oracle(self) -> "Result":
        """A perfect choice for the same rows."""
        predicted = np.full((1, *self.task.perfect.shape), np.nan)
        predicted[0, self.rows] = self.task.perfect[self.rows]
        return replace(self, method="perfect choice", seeds=(), predicted=predicted, seconds=0.0)


def compare(
    task: Task[S],
    methods: Sequence[Method[S]],
    protocols: Sequence[str],
    seeds: Sequence[int] = (SEED,),
    *,
    num_slow_seeds: int | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> "Comparison":
    """Run methods under protocols; after an interruption, the same call resumes from the finished folds.

    Args:
        task: The task to measure them on.
        methods: Methods to measure.
        protocols: Some of the task's protocols.
        seeds: Seeds of the runs.
        num_slow_seeds: How many of these slow methods are run from; None for all.
        jobs: Folds to run in parallel, each in a separate process with one thread.
        cache: Folder of earlier results; None keeps none.
        progress: Called with a line of text after each fold.

    Raises:
        InputError: No seed, too few samples for a protocol, or a method's predictions have the wrong shape.
        OutputError: The cache can't be written.
    """
    if not seeds:
        raise InputError("expected at least one seed, found none")
    folds = {name: {seed: task.protocols[name].folds(seed) for seed in seeds} for name in protocols}
    file_of = name_cells(cache, task.samples)
    runs = [
        [
            Cell(method, name, seed, fold, split, file_of(method, seed, fold, split))
            for seed in seeds[: num_slow_seeds if method.is_slow else None]
            for fold, split in enumerate(folds[name][seed])
        ]
        for name in protocols
        for method in methods
    ]
    answers = iter(run_cells([cell for run in runs for cell in run], task.samples, jobs, progress))
    results = [_collect(task, run, [next(answers) for _ in run]) for run in runs]
    leakage = pd.concat([audit(task, name, folds[name][seeds[0]], seeds[0]) for name in protocols], ignore_index=True)
    return Comparison(tuple(results), leakage)


def join(comparisons: Sequence["Comparison"]) -> "Comparison":
    """Return several comparisons as one."""
    results = tuple(result for one in comparisons for result in one.results)
    return Comparison(results, pd.concat([one.leakage for one in comparisons], ignore_index=True))


def _collect(task: Task[Any], cells: Sequence[Cell], answers: Sequence[tuple[Floats, float]]) -> Result:
    method, name = cells[0].method, cells[0].protocol
    widths = {answer.shape[1] for answer, _ in answers}
    if len(widths) != 1 or not widths <= set(task.widths):
        wanted = " or ".join(map(str, task.widths))
        raise InputError(f"method {method.name!r}, {name}: expected {wanted} numbers a row, found {sorted(widths)}")
    seeds = tuple(dict.fromkeys(cell.seed for cell in cells))
    predicted = np.full((len(seeds), len(task.samples), *widths), np.nan)
    for cell, (answer, _) in zip(cells, answers, strict=True):
        predicted[seeds.index(cell.seed), cell.split[1]] = answer
    seconds = sum(spent for _, spent in answers)
    result = Result(
        task=task,
        protocol=name,
        method=method.name,
        kind=method.kind,
        seeds=seeds,
        predicted=predicted,
        seconds=seconds,
    )
    try:
        _ = result.terms
    except InputError as error:
        raise InputError(f"method {method.name!r}: {error}") from None
    return result


def audit(task: Task[Any], protocol: str, folds: Sequence[Split], seed: int = SEED) -> pd.DataFrame:
    """Count the test rows that share something informative with a training row of their fold: a row of a table."""
    counts: dict[str, Any] = {"protocol": protocol, "platform": task.platform, "seed": seed, "num_folds": len(folds)}
    counts["num_test_rows"] = sum(len(test) for _, test in folds)
    for name, column in task.leaks.items():
        codes = None if column is None else pd.factorize(pd.Series(list(column), dtype=object))[0]
        counts[f"shared_{name}"] = (
            None if codes is None else sum(int(np.isin(codes[test], codes[train]).sum()) for train, test in folds)
        )
    return pd.DataFrame([counts])


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of all methods, for programs and for people.

    Attributes:
        results: In order of platforms, protocols and methods.
        leakage: A row for each platform and protocol: test rows that share something with a training row.
    """

    results: tuple[Result, ...]
    leakage: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __repr__(self) -> str:
        methods, protocols = ({getattr(one, name) for one in self.results} for name in ("method", "protocol"))
        return f"Comparison({len(methods)} methods under {len(protocols)} protocols)"

    @cached_property
    def rows(self) -> pd.DataFrame:
        """A row for each platform, protocol, method, seed and tested sample, with the columns that figures read."""
        frames = []
        for result in self.results:
            names = {"platform": result.task.platform, "protocol": result.protocol}
            names |= {"method": result.method, "kind": result.kind}
            for seed, terms in zip(result.seeds, result.terms, strict=True):
                frames.append(pd.DataFrame({**names, "seed": seed, "row": result.rows, **terms}))
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A row for each platform, protocol, method, part of the samples and figure: value and 95% interval."""
        return pd.DataFrame(
            [
                {
                    "platform": result.task.platform,
                    "protocol": result.protocol,
                    "method": result.method,
                    "kind": result.kind,
                    "part": part,
                    "figure": name,
                    "value": figure.value,
                    "low": figure.low,
                    "high": figure.high,
                }
                for result in self.results
                for part, figures in result.scores.items()
                for name, figure in figures.items()
            ]
        )

    def value(self, method: str, figure: str, protocol: str | None = None) -> float:
        """Return a figure of all samples, under the first protocol if none is named."""
        return next(
            one.scores[""][figure].value
            for one in self.results
            if one.method == method and protocol in (None, one.protocol)
        )

    def to_dict(self) -> dict[str, Any]:
        """``protocols`` → protocol (``protocol/platform`` if there are several) → ``methods`` → figures."""
        protocols = {}
        for place, results in self._by_protocol().items():
            first = results[0]
            hold_out = first.task.protocols[first.protocol]
            protocols[place] = {
                **first.task.notes,
                **({"leakage": leakage} if (leakage := self._leakage_of(first)) else {}),
                "interval_unit": hold_out.unit,
                "num_groups": len(np.unique(hold_out.groups[first.rows])),
                "oracle": {name: one.value for name, one in first.oracle.scores[""].items() if not np.isnan(one.value)},
                "methods": {one.method: _described(one) for one in results},
            }
        return {"protocols": protocols}

    def to_card(self) -> dict[str, Any]:
        """Return the figures of our methods alone, or of all if none is ours: protocol → method → figures."""
        is_ours = any(one.kind == "ours" for one in self.results)
        return {
            place: {one.method: _plain(one.scores[""]) for one in results if one.kind == "ours" or not is_ours}
            for place, results in self._by_protocol().items()
        }

    def to_text(self) -> str:
        """Return a table for each protocol, and the leakage of the protocols."""
        tables = [_score_table(place, some) for place, some in self._by_protocol().items()]
        shared = [name for name in self.leakage.columns if name.startswith("shared_")]
        if shared:
            frame = self.leakage
            places = [" on ".join(filter(None, pair)) for pair in zip(frame.protocol, frame.platform, strict=True)]
            fractions = frame[shared].astype(float).div(frame.num_test_rows, axis=0).to_numpy().tolist()
            rows = {place: [show(one, unit="%") for one in row] for place, row in zip(places, fractions, strict=True)}
            names = [name.removeprefix("shared_") for name in shared]
            tables.append(table("Test rows that share with a training row their …", rows, names))
        return "\n\n".join(tables)

    def _by_protocol(self) -> dict[str, list[Result]]:
        places: dict[str, list[Result]] = {}
        for result in self.results:
            place = "/".join(filter(None, (result.protocol, result.task.platform)))
            places.setdefault(place, []).append(result)
        return places

    def _leakage_of(self, result: Result) -> dict[str, Any]:
        if self.leakage.empty:
            return {}
        chosen = (self.leakage.protocol == result.protocol) & (self.leakage.platform == result.task.platform)
        (row,) = self.leakage[chosen].astype(object).to_dict("records")
        return {str(name): None if pd.isna(value) else value for name, value in row.items()}


def _described(result: Result) -> dict[str, Any]:
    """Return a method's figures for JSON: values, intervals, what each seed gave, and the same for each part."""
    parts = {name: _plain(estimates) for name, estimates in result.scores.items()}
    known = {name: one for name, one in result.scores[""].items() if not np.isnan(one.value)}
    described = {
        **parts.pop(""),
        "per_seed": {name: one.per_seed.tolist() for name, one in known.items()},
        "num_samples": len(result.rows),
        "seeds": list(result.seeds),
        "seconds": round(result.seconds, 2),
    }
    return described | ({f"by_{result.task.part}": parts} if parts else {})


def _plain(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    values = {name: None if np.isnan(one.value) else one.value for name, one in estimates.items()}
    intervals = {name: [one.low, one.high] for name, one in estimates.items() if not np.isnan(one.value)}
    return {**values, "intervals": intervals}


def _score_table(place: str, results: Sequence[Result]) -> str:
    task, rows = results[0].task, [*results, results[0].oracle]
    columns: dict[str, list[str]] = {"kind": [str(one.kind) if one.seeds else "" for one in rows]}
    for name, figure in task.figures.items():
        estimates = [one.scores[""][name] for one in rows]
        if all(np.isnan(one.value) for one in estimates):
            continue
        best = max((one.value for one in estimates[:-1] if not np.isnan(one.value)), default=np.nan)
        columns[name.replace("_", " ")] = [
            ("★ " if figure.is_better_high and one.value == best and row.seeds else "")
            + figure.show(one.value, one.low, one.high)
            for row, one in zip(rows, estimates, strict=True)
        ]
    for part in list(rows[0].scores)[1:]:
        first, figure = next(iter(task.figures.items()))
        columns[f"{first.replace('_', ' ')}, {part}"] = [figure.show(one.scores[part][first].value) for one in rows]
    columns["seeds"] = [str(len(one.seeds) or "") for one in rows]
    columns["seconds"] = [f"{one.seconds:.0f}" if one.seeds else "" for one in rows]
    hold_out = task.protocols[results[0].protocol]
    caption = f"{place}: {hold_out.title}; {len(results[0].rows)} rows, intervals over {hold_out.unit}s"
    cells = zip(*columns.values(), strict=True)
    return table(caption, dict(zip([one.method for one in rows], cells, strict=True)), list(columns))
