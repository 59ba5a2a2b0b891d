"""The report of a sweep: one HTML page with all settings, all runs, pictures, and what measuring cost."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

from ncc.errors import InputError
from ncc.study.report.markup import Cell, Html, Row, element, figure, table
from ncc.study.report.page import Section, provenance, render_page
from ncc.study.scaling.pictures import draw_accuracy, draw_phases, draw_sizes, draw_speedups
from ncc.study.scaling.results import RunResult
from ncc.study.scaling.scores import SettingScore, Spread
from ncc.study.scaling.sweep import ScalingSweep
from ncc.study.scaling.table import PHASES, definitions, phase_seconds, warnings_of

__all__ = ["check_drawing", "scaling_report"]

_INTRODUCTION = (
    "How much sooner is a classifier of programs trained by several ranks than by one process at its best, is it as "
    "good, and how large must the model be before a second device pays?",
    "Every run that was started is listed, with all that was chosen for it; figures of several runs are medians, with "
    "the lowest and the highest below.",
)
_NONE = "–"


def check_drawing() -> None:
    """Says before a sweep, not after it, that there can be no pictures.

    Raises:
        InputError: Matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise InputError("a report needs matplotlib, which is not installed: 'pip install matplotlib'")


def scaling_report(sweep: ScalingSweep, about: Mapping[str, Any]) -> str:
    """Return a report as one HTML document that needs no other file and no net.

    Args:
        sweep: What was measured.
        about: What is known of the run: command, versions, hardware; see `ncc.runtime.provenance`.

    Raises:
        InputError: Matplotlib is not installed.
    """
    began = time.perf_counter()
    sections = [
        Section("What was run", [_scope(sweep), provenance({**about, **_devices(sweep)}), *_notes(sweep)]),
        Section(
            f"{sweep.config.scaling.capitalize()} scaling",
            [_list(definitions(sweep)), _scores(sweep), *(_speedup_pictures(sweep) if _any_good(sweep) else [])],
        ),
        Section(
            "How large the model must be", [_list([one.to_text() for one in sweep.break_even] or ["Not measured."])]
        ),
        Section("Where the time went", [_phases(sweep), *(_time_pictures(sweep) if _any_good(sweep) else [])]),
        Section("Every run", [_runs(sweep), _options(sweep)]),
    ]
    # what is left, putting the page together, takes milliseconds
    overhead = sweep.overhead(time.perf_counter() - began)
    sections.append(Section("What measuring cost", [_preparing(sweep), element("p", f"{overhead.to_text()}.")]))
    title = f"Training over ranks: {sweep.config.scaling} scaling"
    return render_page(title, _INTRODUCTION, sections)


def _any_good(sweep: ScalingSweep) -> bool:
    return any(result.measured for result in sweep.results)


def _scope(sweep: ScalingSweep) -> Html:
    config = sweep.config
    return element(
        "p",
        f"{sweep.num_programs} programs of {sweep.num_classes} classes at {', '.join(sweep.source.levels)}; "
        f"{sweep.failures} more were left out, since they do not compile or hold no function. "
        f"{len(sweep.results)} runs of {config.epochs} epochs on {config.device}, {config.repeats} of each setting; "
        f"{sweep.num_failed} failed.",
    )


def _devices(sweep: ScalingSweep) -> dict[str, Any]:
    """The device and its cores, as the runs saw them."""
    found = next((result.measured.hardware for result in sweep.results if result.measured), {})
    return {f"{name} of the runs": value for name, value in found.items()}


def _list(sentences: list[str]) -> Html:
    return element("ul", *(element("li", sentence) for sentence in sentences))


def _notes(sweep: ScalingSweep) -> list[Html]:
    return [element("p", note) for note in warnings_of(sweep)]


def _preparing(sweep: ScalingSweep) -> Html:
    return element(
        "p",
        f"Compiling and reading the programs before the first run took {sweep.preparing_s:.1f} s; every run then found "
        "them in the cache. Validation and test, which measure quality, are given with the phases of each setting.",
    )


def _setting_columns() -> list[str]:
    return ["ranks", "threads each", "batch size", "hidden"]


def _title(score: SettingScore | RunResult) -> str:
    setting = score.setting if isinstance(score, SettingScore) else score.run.setting
    if setting.world == 1:
        return "one process"
    return setting.strategy if setting.compression == "none" else f"{setting.strategy}, {setting.compression}"


def _setting_cells(score: SettingScore | RunResult) -> list[Cell | str]:
    setting = score.setting if isinstance(score, SettingScore) else score.run.setting
    return [str(setting.world), str(setting.threads), str(setting.batch_size), str(setting.hidden)]


def _scores(sweep: ScalingSweep) -> Html:
    rows = []
    for score in sweep.scores:
        reached = f"{score.num_reached} of {score.num_runs} runs" if sweep.config.target is not None else ""
        cells = [
            *_setting_cells(score),
            _NONE if score.num_weights is None else f"{score.num_weights:,}",
            f"{score.num_runs - score.num_failed} of {score.num_runs}",
            _spread(score.wall_s, 1),
            _spread(score.seconds, 1),
            _spread(score.end_to_end_rate, 1),
            _spread(score.training_rate, 1),
            Cell(_spread(score.seconds_to_target, 1).text, reached),
            _spread(score.accuracy, 2, 100),
            _NONE if score.bytes_sent is None else f"{score.bytes_sent.median / 1e6:,.2f}",
            _spread(score.speedup, 2, is_best=score.is_baseline),
            _spread(score.training_speedup, 2),
            _spread(score.target_speedup, 2),
            _NONE if score.efficiency is None else f"{score.efficiency:.2f}",
        ]
        rows.append(Row(_title(score), cells, style="control" if score.setting.world == 1 else "ours"))
    target = "no target" if sweep.config.target is None else f"{sweep.config.target:.1%}"
    columns = [
        *("strategy", *_setting_columns(), "weights", "runs that went well", "wall s", "seconds"),
        *("programs/s", "in training alone", f"seconds to {target}", "test accuracy, %", "MB sent by a rank"),
        *("speedup", "of training alone", "to the target", "efficiency"),
    ]
    return table(
        "Settings: medians, lowest–highest below; ★ marks the single process that is compared with", columns, rows
    )


def _spread(spread: Spread | None, places: int, factor: float = 1.0, *, is_best: bool = False) -> Cell:
    if spread is None:
        return Cell(_NONE)
    low, high = (f"{factor * value:,.{places}f}" for value in (spread.low, spread.high))
    return Cell(f"{factor * spread.median:,.{places}f}", f"{low}–{high}" if low != high else "", is_best)


def _phases(sweep: ScalingSweep) -> Html:
    rows = []
    for score in sweep.scores:
        seconds = [phase_seconds(sweep, score, phase) for phase in PHASES]
        cells: list[Cell | str] = [*_setting_cells(score)]
        cells += [_NONE if value is None else f"{value:.2f}" for value in seconds]
        cells.append(_NONE if score.lost_s is None else f"{score.lost_s:.1f}")
        rows.append(Row(_title(score), cells))
    columns = ["strategy", *_setting_columns(), *PHASES.values(), "lost in steps"]
    return table("Median seconds of each phase, on the first rank", columns, rows)


def _runs(sweep: ScalingSweep) -> Html:
    rows = []
    for result in sweep.results:
        measured = result.measured
        load = _NONE if result.load is None else f"{result.load:.1f}"
        cells: list[Cell | str] = [*_setting_cells(result), str(result.run.seed), f"{result.wall_s:.1f}", load]
        if measured:
            sent = ", ".join(f"{count / 1e6:,.2f}" for count in measured.bytes_sent)
            cells += [f"{result.seconds:.1f}", f"{measured.samples:,}", f"{measured.steps:,}", sent]
            cells += [f"{measured.test_accuracy:.2%}", f"{measured.measuring_s:.4f}", ""]
        else:
            cells += [*[_NONE] * 6, Cell(f"failed: {result.error}", is_name=True)]
        rows.append(Row(_title(result), cells))
    columns = [
        *("strategy", *_setting_columns(), "seed", "wall s", "load before", "seconds", "programs × epochs", "steps"),
        *("MB sent, by rank", "test accuracy", "s in timers", "failure"),
    ]
    return table("Every run, in the order in which they ran", columns, rows)


def _options(sweep: ScalingSweep) -> Html:
    """All options of network and training, once where runs share them."""
    shown = [asdict(sweep.config)]
    for setting in dict.fromkeys(result.run.setting for result in sweep.results):
        shown.append({"setting": setting.to_text(), **asdict(setting.training(sweep.config.seed))})
    parts = [provenance(options) for options in shown]
    return element("details", element("summary", "All options of all settings"), *parts)


def _speedup_pictures(sweep: ScalingSweep) -> list[Html]:
    found = [
        figure(
            draw_speedups(sweep),
            "Speedup over ranks",
            "Curves of speedup over the number of ranks.",
            "End to end, against the best single process with a model of the same size; the broken line is one core's "
            "worth of speedup for each rank.",
        )
    ]
    if sweep.break_even:
        found.append(
            figure(
                draw_sizes(sweep),
                "Speedup over the size of the model",
                "Curves of speedup over the number of weights.",
                "Above the line several ranks are sooner done than the best single process.",
            )
        )
    return found


def _time_pictures(sweep: ScalingSweep) -> list[Html]:
    return [
        figure(draw_phases(sweep), "Seconds by phase", "A bar for each setting, made of phases."),
        figure(
            draw_accuracy(sweep),
            "Accuracy over time",
            "Curves of accuracy over seconds.",
            "On the validation programs after each epoch, evaluations not counted in the time; a line for each run.",
        ),
    ]
