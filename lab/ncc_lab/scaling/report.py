"""The report of a sweep: tables for a terminal, and a page of the same tables with pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ncc_lab.figures import show
from ncc_lab.scaling.pictures import draw_sweep
from ncc_lab.scaling.plan import Setting
from ncc_lab.scaling.results import PHASES, Measured, RunResult
from ncc_lab.scaling.scores import SettingScore, Spread
from ncc_lab.scaling.sweep import ScalingSweep
from ncc_lab.tables import Table, page, table

_HOW_TO_READ = """Figures of several runs are medians, with the lowest and the highest in brackets. Seconds are end to
end: from the start of the first process to the end of the last; only validation and test, which measure quality, are
left out. A speedup is the ratio of programs a second to that of the best single process (★) with a model of the same
size on the same programs, whichever batch size and number of threads that had. Bytes are what the rank with most
sent."""


def scaling_report(sweep: ScalingSweep, about: Mapping[str, Any]) -> str:
    """Return a report as one HTML document that needs no other file."""
    seen = sweep.hardware | {"precision": sweep.precision, **asdict(sweep.config)}
    title = f"Training over ranks: {sweep.config.scaling} scaling"
    about = {**about, **{f"{name} of the runs": value for name, value in seen.items()}}
    return page(title, [_HOW_TO_READ, *sweep_parts(sweep)], draw_sweep(sweep), about)


def sweep_parts(sweep: ScalingSweep, report_s: float = 0.0) -> list[Table | str]:
    """Return settings with their scores, where the time went, break-even, every run, and what measuring cost."""
    config = sweep.config
    target = "" if config.target is None else f", target {config.target:.1%} on the validation programs"
    scope = f"{sweep.num_programs} programs of {sweep.num_classes} classes{target}"
    notes = [*(one.to_text() for one in sweep.break_even), *(f"note: {note}" for note in _notes(sweep))]
    return [
        f"{config.scaling} scaling on {config.device}, {config.epochs} epochs, {scope}",
        _scores(sweep),
        _phases(sweep),
        *(["\n".join(notes)] if notes else []),
        *_prediction(sweep),
        _runs(sweep),
        f"compiling and reading before the runs: {sweep.preparing_s:.1f} s\n{sweep.overhead(report_s).to_text()}",
    ]


def _notes(sweep: ScalingSweep) -> list[str]:
    """Return what a reader should know before trusting the figures."""
    notes = []
    if sweep.num_failed:
        notes.append(f"{sweep.num_failed} of {len(sweep.results)} runs failed; they are listed, and count for nothing")
    cores = sweep.hardware.get("cores")
    needed = max(score.setting.world * score.setting.threads for score in sweep.scores)
    if sweep.config.device == "cpu" and cores and needed > cores:
        notes.append(f"{needed} ranks or threads share {cores} cores")
    loads = [result.load for result in sweep.results if result.load is not None]
    # the average of a minute still holds the run before
    if loads and loads[0] > 0.5:
        notes.append(f"the machine was not idle before the first run: load {loads[0]:.1f}")
    if sweep.config.repeats < 3:
        notes.append(f"{sweep.config.repeats} repeats say little about the spread")
    return notes


def _table(caption: str, rows: Sequence[tuple[Setting, Mapping[str, str]]]) -> Table:
    """Return a table that says the setting of each row first."""
    before = ("ranks", "threads", "batch", "hidden")
    made = {
        f"{number}. {setting.way}": [
            *(str(one) for one in (setting.world, setting.threads, setting.batch_size, setting.hidden)),
            *cells.values(),
        ]
        for number, (setting, cells) in enumerate(rows, 1)
    }
    return table(caption, made, [*before, *(rows[0][1] if rows else ())])


def _spread(spread: Spread | None, places: int = 1, unit: str = "") -> str:
    if spread is None or spread.low == spread.high:
        return show(spread.median if spread else None, unit=unit, places=places)
    return show(spread.median, spread.low, spread.high, unit=unit, places=places)


def _scores(sweep: ScalingSweep) -> Table:
    def cells(score: SettingScore) -> dict[str, str]:
        return {
            "weights": show(score.num_weights, places=0),
            "good runs": f"{score.num_runs - score.num_failed} of {score.num_runs}",
            "seconds": _spread(score.seconds),
            "programs/s": _spread(score.end_to_end_rate),
            "seconds to target": _spread(score.seconds_to_target),
            "test accuracy": _spread(score.accuracy, 2, "%"),
            "MB sent by a rank": show(score.bytes_sent.median / 1e6 if score.bytes_sent else None, places=2),
            "speedup": ("★ " if score.is_baseline else "") + _spread(score.speedup, 2),
            "of training alone": _spread(score.training_speedup, 2),
            "to the target": _spread(score.target_speedup, 2),
            "efficiency": show(score.efficiency, places=2),
        }

    return _table("Settings", [(score.setting, cells(score)) for score in sweep.scores])


def _phases(sweep: ScalingSweep) -> Table:
    def cells(score: SettingScore) -> dict[str, str]:
        seconds = {name.removesuffix("_s"): sweep.phase_seconds(name, score) for name in PHASES}
        return {name: show(value, places=2) for name, value in (seconds | {"lost in steps": score.lost_s}).items()}

    caption = "Median seconds of phases, on the first rank"
    return _table(caption, [(score.setting, cells(score)) for score in sweep.scores])


def _prediction(sweep: ScalingSweep) -> list[Table | str]:
    """Return speedups of ranks that were not run, and how good predictions are; nothing if none was asked for."""
    if not sweep.prediction:
        return []
    rows = {
        f"{point.world} ranks, hidden {point.hidden}": [
            show(point.weights, places=0),
            _spread(point.speedup, 2),
            show(point.speedup.median / point.world, places=2),
        ]
        for point in sweep.prediction.points
    }
    points = table(f"Predicted over {sweep.prediction.link}", rows, ["weights", "speedup", "efficiency"])
    return [points, "\n".join(sweep.prediction.to_text())]


def _runs(sweep: ScalingSweep) -> Table:
    def cells(result: RunResult) -> dict[str, str]:
        def measured(pick: Callable[[Measured], str]) -> str:
            return pick(result.measured) if result.measured else "–"

        return {
            "seed": str(result.run.seed),
            "wall s": show(result.wall_s),
            "load before": show(result.load),
            "seconds": measured(lambda _: show(result.seconds)),
            "programs × epochs": measured(lambda run: show(run.samples, places=0)),
            "steps": measured(lambda run: show(run.steps, places=0)),
            "MB sent, by rank": measured(lambda run: ", ".join(f"{sent / 1e6:,.2f}" for sent in run.bytes_sent)),
            "test accuracy": measured(lambda run: show(run.test_accuracy, unit="%", places=2)),
            "s in timers": measured(lambda run: show(run.measuring_s, places=4)),
            "failure": f"failed: {result.error}" if result.error else "",
        }

    caption = "Every run, in the order in which they ran"
    return _table(caption, [(result.run.setting, cells(result)) for result in sweep.results])
