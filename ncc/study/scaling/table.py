"""The tables of a sweep, as text."""

from collections.abc import Sequence

from ncc.study.scaling.plan import Setting
from ncc.study.scaling.results import RunResult
from ncc.study.scaling.scores import SettingScore, Spread
from ncc.study.scaling.sweep import ScalingSweep

__all__ = ["PHASES", "definitions", "phase_seconds", "sweep_text", "warnings_of"]

PHASES = {
    "imports_s": "imports",
    "group_s": "group",
    "reading_s": "reading",
    "building_s": "building",
    "steps_s": "steps",
    "input_s": "input",
    "checkpoints_s": "checkpoints",
    "rest_s": "rest",
    "ending_s": "ending",
    "validation_s": "validation",
    "test_s": "test",
}
"""Phases of a run → what tables call them; the last two are evaluations, which end-to-end times leave out."""

_NONE = "–"
_SETTING = ("ranks", "threads", "strategy", "sent as", "batch", "hidden")
_SCORES = (
    *(*_SETTING, "runs", "seconds", "programs/s", "s to target", "accuracy %", "MB sent"),
    *("speedup", "of training", "to target", "efficiency"),
)
_RUNS = (*_SETTING, "seed", "wall s", "load", "outcome")


def sweep_text(sweep: ScalingSweep, report_s: float = 0.0) -> str:
    """Settings with their scores, where the time went, break-even, every run, and what measuring cost.

    Args:
        sweep: What was measured.
        report_s: Seconds that a report has taken.
    """
    config = sweep.config
    target = "" if config.target is None else f", target {config.target:.1%} on the validation programs"
    phases = [*_SETTING, *PHASES.values(), "lost"]
    lines = [
        f"{config.scaling} scaling on {config.device}, {config.epochs} epochs, {sweep.num_programs} programs of "
        f"{sweep.num_classes} classes{target}",
        "medians, lowest–highest in brackets; seconds are end to end, evaluations left out",
        "",
        *_aligned([_SCORES, *(_score_cells(score) for score in sweep.scores)]),
        "",
        "median seconds of phases, on the first rank",
        *_aligned([phases, *(_phase_cells(sweep, score) for score in sweep.scores)]),
        "",
        *(one.to_text() for one in sweep.break_even),
        *warnings_of(sweep),
        "",
        *_aligned([_RUNS, *(_run_cells(result) for result in sweep.results)]),
        "",
        f"compiling and reading before the runs: {sweep.preparing_s:.1f} s",
        sweep.overhead(report_s).to_text(),
    ]
    return "\n".join(lines)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells, as lines with columns to the right, words at the end to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells if rows[0][-1] != _RUNS[-1] else [*cells[:-1], row[-1]]))
    return lines


def definitions(sweep: ScalingSweep) -> list[str]:
    """What the figures mean, a sentence or two each."""
    kept = "programs and batch size in all stay the same" if sweep.config.scaling == "strong" else "both grow with them"
    return [
        f"With {sweep.config.scaling} scaling, as ranks are added, {kept}.",
        "Seconds are end to end: from the start of the first process to the end of the last, imports, process group, "
        "reading, building the network, training, checkpoints and ending included; only validation and test, which "
        "measure the quality, are left out, and given apart.",
        "A speedup is the ratio of programs a second to that of the best single process (★) with a model of the same "
        "size on the same programs, whichever batch size and number of threads that had; its range goes from this "
        "setting's worst run against the other's best to the opposite. The speedup of training alone, and that to the "
        "target, are each against the single process that is best there. Efficiency is the speedup by core.",
        "Lost seconds are those in steps beyond the share of what one process takes at the same batch size: exchange "
        "that backward does not hide, ranks that wait for each other, and a machine that they share.",
        "Of the phases, imports hold the interpreter's start and torchrun's, group is joining the process group, rest "
        "is what training does beside steps (the optimizer's imports and state, ends of epochs), ending lasts until "
        "the last process is gone. Exchange runs while backward does, and is in steps.",
        "Bytes are the payload that the rank with most handed to collectives, start and losses left out.",
        "The time to the target is taken at ends of epochs.",
    ]


def warnings_of(sweep: ScalingSweep) -> list[str]:
    """What a reader should know before trusting the figures."""
    found = []
    if sweep.num_failed:
        found.append(f"{sweep.num_failed} of {len(sweep.results)} runs failed; they are listed, and count for nothing")
    hardware = next((result.measured.hardware for result in sweep.results if result.measured), {})
    needed = max(score.setting.world * score.setting.threads for score in sweep.scores)
    if sweep.config.device == "cpu" and hardware and needed > hardware["cores"]:
        found.append(f"{needed} ranks or threads share {hardware['cores']} cores")
    loads = [result.load for result in sweep.results if result.load is not None]
    # the average of a minute still holds the run before
    if loads and loads[0] > 0.5:
        found.append(f"the machine was not idle before the first run: load {loads[0]:.1f}")
    if sweep.config.repeats < 3:
        found.append(f"{sweep.config.repeats} repeats say little about the spread")
    return [f"note: {text}" for text in found]


def phase_seconds(sweep: ScalingSweep, score: SettingScore, phase: str) -> float | None:
    """Median seconds of a phase over the runs of a setting that went well."""
    found = [result.phase(phase) for result in sweep.results if result.run.setting == score.setting and result.measured]
    return Spread.of(found).median if found else None


def _setting_cells(setting: Setting) -> list[str]:
    strategy, compression = (setting.strategy, setting.compression) if setting.world > 1 else (_NONE, _NONE)
    numbers = (setting.batch_size, setting.hidden)
    return [str(setting.world), str(setting.threads), strategy, compression, *map(str, numbers)]


def _score_cells(score: SettingScore) -> list[str]:
    reached = f" {score.num_reached}/{score.num_runs}" if 0 < score.num_reached < score.num_runs else ""
    return [
        *_setting_cells(score.setting),
        f"{score.num_runs - score.num_failed}/{score.num_runs}",
        _spread(score.seconds, 1),
        _spread(score.end_to_end_rate, 1),
        _spread(score.seconds_to_target, 1) + reached,
        _spread(score.accuracy, 2, 100),
        _NONE if score.bytes_sent is None else f"{score.bytes_sent.median / 1e6:.2f}",
        _spread(score.speedup, 2) + (" ★" if score.is_baseline else ""),
        _spread(score.training_speedup, 2),
        _spread(score.target_speedup, 2),
        _NONE if score.efficiency is None else f"{score.efficiency:.2f}",
    ]


def _spread(spread: Spread | None, places: int, factor: float = 1.0) -> str:
    return spread.to_text(places, factor) if spread else _NONE


def _phase_cells(sweep: ScalingSweep, score: SettingScore) -> list[str]:
    seconds = [*(phase_seconds(sweep, score, phase) for phase in PHASES), score.lost_s]
    return [*_setting_cells(score.setting), *(_NONE if value is None else f"{value:.2f}" for value in seconds)]


def _run_cells(result: RunResult) -> list[str]:
    load = _NONE if result.load is None else f"{result.load:.1f}"
    outcome = f"failed: {result.error}"
    if result.measured:
        outcome = f"test accuracy {result.measured.test_accuracy:.2%}, {result.measured.num_weights:,} weights"
    run = result.run
    return [*_setting_cells(run.setting), str(run.seed), f"{result.wall_s:.1f}", load, outcome]
