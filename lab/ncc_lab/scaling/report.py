"""The report of a sweep: tables for a terminal, and a page of the same tables with pictures."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from ncc.system.files.pages import render_page
from ncc_lab.report.table import Cell, Column, Row, Table, show, table_of
from ncc_lab.scaling.pictures import draw_sweep
from ncc_lab.scaling.plan import Setting
from ncc_lab.scaling.prediction import SpeedupPoint
from ncc_lab.scaling.results import PHASES, Measured, RunResult
from ncc_lab.scaling.scores import SettingScore, Spread
from ncc_lab.scaling.sweep import ScalingSweep

S = TypeVar("S")


def scaling_report(sweep: ScalingSweep, about: Mapping[str, Any]) -> str:
    """Return a report as one HTML document that needs no other file and no net.

    Args:
        sweep: What was measured.
        about: What is known of the run: command, versions, hardware; see `ncc.system.files.provenance`.
    """
    began = time.perf_counter()
    settings = dict.fromkeys(result.run.setting for result in sweep.results)
    options = [{"setting": one.to_text(), **asdict(one.training(sweep.config.seed))} for one in settings]
    seen = sweep.hardware | {"precision": sweep.precision}
    values = {
        "sweep": sweep,
        "about": {**about, **{f"{name} of the runs": value for name, value in seen.items()}},
        "notes": _notes(sweep),
        "scores": _scores(sweep),
        "phases": _phases(sweep),
        "prediction": _prediction(sweep)[:1],
        "runs": _runs(sweep),
        "options": [asdict(sweep.config), *options],
        "pictures": draw_sweep(sweep),
    }
    # what is left, putting the page together, takes milliseconds
    overhead = sweep.overhead(time.perf_counter() - began)
    title = f"Training over ranks: {sweep.config.scaling} scaling"
    return render_page("scaling.html.j2", package="ncc_lab", title=title, overhead=overhead, **values)


def sweep_parts(sweep: ScalingSweep, report_s: float = 0.0) -> list[Table | str]:
    """Settings with their scores, where the time went, break-even, every run, and what measuring cost."""
    config = sweep.config
    target = "" if config.target is None else f", target {config.target:.1%} on the validation programs"
    scope = f"{sweep.num_programs} programs of {sweep.num_classes} classes{target}"
    return [
        f"{config.scaling} scaling on {config.device}, {config.epochs} epochs, {scope}",
        _scores(sweep, is_brief=True),
        _phases(sweep),
        "\n".join([*(one.to_text() for one in sweep.break_even), *(f"note: {note}" for note in _notes(sweep))]),
        *_prediction(sweep),
        _runs(sweep),
        f"compiling and reading before the runs: {sweep.preparing_s:.1f} s\n{sweep.overhead(report_s).to_text()}",
    ]


def _notes(sweep: ScalingSweep) -> list[str]:
    """What a reader should know before trusting the figures."""
    found = []
    if sweep.num_failed:
        found.append(f"{sweep.num_failed} of {len(sweep.results)} runs failed; they are listed, and count for nothing")
    cores = sweep.hardware.get("cores")
    needed = max(score.setting.world * score.setting.threads for score in sweep.scores)
    if sweep.config.device == "cpu" and cores and needed > cores:
        found.append(f"{needed} ranks or threads share {cores} cores")
    loads = [result.load for result in sweep.results if result.load is not None]
    # the average of a minute still holds the run before
    if loads and loads[0] > 0.5:
        found.append(f"the machine was not idle before the first run: load {loads[0]:.1f}")
    if sweep.config.repeats < 3:
        found.append(f"{sweep.config.repeats} repeats say little about the spread")
    return found


def _table(caption: str, columns: Sequence[Column[S]], rows: Sequence[S], setting: Callable[[S], Setting]) -> Table:
    """A table that says the setting of each row first."""
    before: list[Column[S]] = [
        Column("ranks", lambda one: str(setting(one).world)),
        Column("threads", lambda one: str(setting(one).threads)),
        Column("batch", lambda one: str(setting(one).batch_size)),
        Column("hidden", lambda one: str(setting(one).hidden)),
    ]

    def row(one: S, cells: Sequence[Cell]) -> Row:
        return Row(setting(one).way, cells, style="control" if setting(one).world == 1 else "ours")

    return table_of(caption, [*before, *columns], rows, heading="strategy", row=row)


def _scores(sweep: ScalingSweep, *, is_brief: bool = False) -> Table:
    target = "no target" if sweep.config.target is None else f"{sweep.config.target:.1%}"
    columns: list[Column[SettingScore]] = [
        Column("weights", lambda score: score.num_weights, places=0),
        Column("runs that went well", lambda score: f"{score.num_runs - score.num_failed} of {score.num_runs}"),
        Column("wall s", lambda score: _spread(score.wall_s)),
        Column("seconds", lambda score: _spread(score.seconds)),
        Column("programs/s", lambda score: _spread(score.end_to_end_rate)),
        Column("in training alone", lambda score: _spread(score.training_rate)),
        Column(f"seconds to {target}", lambda score: _spread(score.seconds_to_target)),
        Column("runs that reach it", lambda score: f"{score.num_reached} of {score.num_runs}"),
        Column("test accuracy", lambda score: _spread(score.accuracy), "%", 2),
        Column("MB sent by a rank", lambda score: score.bytes_sent and score.bytes_sent.median / 1e6, places=2),
        Column("speedup", lambda score: show(_spread(score.speedup), places=2, is_best=score.is_baseline)),
        Column("of training alone", lambda score: _spread(score.training_speedup), places=2),
        Column("to the target", lambda score: _spread(score.target_speedup), places=2),
        Column("efficiency", lambda score: score.efficiency, places=2),
    ]
    if is_brief:
        columns = [column for column in columns if column.title not in ("weights", "wall s", "in training alone")]
    caption = "Settings: medians, lowest–highest beside; ★ marks the single process that is compared with"
    return _table(caption, columns, sweep.scores, lambda score: score.setting)


def _spread(spread: Spread | None) -> Spread | float | None:
    """One figure where there is no range."""
    return spread.median if spread and spread.low == spread.high else spread


def _phases(sweep: ScalingSweep) -> Table:
    columns = [
        Column[SettingScore](name.removesuffix("_s"), partial(sweep.phase_seconds, name), places=2) for name in PHASES
    ]
    columns.append(Column("lost in steps", lambda score: score.lost_s, places=2))
    return _table("Median seconds of phases, on the first rank", columns, sweep.scores, lambda score: score.setting)


def _prediction(sweep: ScalingSweep) -> list[Table | str]:
    """Speedups of ranks that were not run, and how good predictions are; nothing where none was asked for."""
    if not sweep.prediction:
        return []
    columns: list[Column[SpeedupPoint]] = [
        Column("hidden", lambda point: str(point.hidden)),
        Column("weights", lambda point: point.weights, places=0),
        Column("speedup", lambda point: point.speedup, places=2),
        Column("efficiency", lambda point: point.speedup.median / point.world, places=2),
    ]

    def row(point: SpeedupPoint, cells: Sequence[Cell]) -> Row:
        return Row(f"{point.world} ranks", cells, style="control")

    caption = f"Predicted over {sweep.prediction.link}"
    points = table_of(caption, columns, sweep.prediction.points, heading="ranks", row=row)
    return [points, "\n".join(sweep.prediction.to_text())]


def _runs(sweep: ScalingSweep) -> Table:
    def measured(pick: Callable[[Measured], float | str]) -> Callable[[RunResult], float | str | None]:
        return lambda result: pick(result.measured) if result.measured else None

    columns: list[Column[RunResult]] = [
        Column("seed", lambda result: str(result.run.seed)),
        Column("wall s", lambda result: result.wall_s),
        Column("load before", lambda result: result.load),
        Column("seconds", lambda result: result.seconds if result.measured else None),
        Column("programs × epochs", measured(lambda run: run.samples), places=0),
        Column("steps", measured(lambda run: run.steps), places=0),
        Column("MB sent, by rank", measured(lambda run: ", ".join(f"{sent / 1e6:,.2f}" for sent in run.bytes_sent))),
        Column("test accuracy", measured(lambda run: run.test_accuracy), "%", 2),
        Column("s in timers", measured(lambda run: run.measuring_s), places=4),
        Column("failure", lambda result: Cell(f"failed: {result.error}" if result.error else "", is_name=True)),
    ]
    caption = "Every run, in the order in which they ran"
    return _table(caption, columns, sweep.results, lambda result: result.run.setting)
