"""The report of a sweep: its tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ncc_lab.figures import show, table
from ncc_lab.scaling.plan import Setting
from ncc_lab.scaling.runs import PHASES, Measured, RunResult
from ncc_lab.scaling.scores import Spread
from ncc_lab.scaling.sweep import ScalingSweep


def sweep_text(sweep: ScalingSweep) -> str:
    """Return settings with their scores, how large the model must be, and every run."""
    config = sweep.config
    target = "" if config.target is None else f", target {config.target:.1%} on the validation programs"
    scope = f"{sweep.num_programs} programs of {sweep.num_classes} classes{target}"
    sizes = [one["text"] for one in sweep.break_even]
    parts = [
        f"Strong scaling on {config.device}, {config.epochs} epochs, {scope}",
        _score_table(sweep),
        _phase_table(sweep),
        "\n".join(["How large the model must be", *sizes]) if sizes else "",
        "\n".join(f"note: {note}" for note in _notes(sweep)),
        _prediction_text(sweep.prediction) if sweep.prediction else "",
        _run_table(sweep),
    ]
    return "\n\n".join(filter(None, parts))


def _notes(sweep: ScalingSweep) -> list[str]:
    """Return what a reader should know before trusting the figures."""
    notes = []
    if sweep.num_failed:
        notes.append(f"{sweep.num_failed} of {len(sweep.results)} runs failed; they are listed, and count for nothing")
    cores = sweep.hardware.get("cores")
    needed = max(setting.world * setting.threads for setting in sweep.scores.setting)
    if sweep.config.device == "cpu" and cores and needed > cores:
        notes.append(f"{needed} ranks or threads share {cores} cores")
    loads = [result.load for result in sweep.results if result.load is not None]
    # the average of a minute still holds the run before
    if loads and loads[0] > 0.5:
        notes.append(f"the machine was not idle before the first run: load {loads[0]:.1f}")
    if sweep.config.repeats < 3:
        notes.append(f"{sweep.config.repeats} repeats say little about the spread")
    return notes


def _setting_table(caption: str, rows: Sequence[tuple[Setting, Mapping[str, str]]]) -> str:
    """Return a table that says the setting of each row first."""
    cells = {
        f"{number}. {setting.way}": [
            *(str(one) for one in (setting.world, setting.threads, setting.batch_size, setting.hidden)),
            *texts.values(),
        ]
        for number, (setting, texts) in enumerate(rows, 1)
    }
    return table(caption, cells, ["ranks", "threads", "batch", "hidden", *(rows[0][1] if rows else ())])


def _spread(spread: Spread | None, places: int = 1, unit: str = "") -> str:
    if spread is None or spread.low == spread.high:
        return show(spread.median if spread else None, unit=unit, places=places)
    return show(*spread, unit=unit, places=places)


def _score_table(sweep: ScalingSweep) -> str:
    def cells(score: Any) -> dict[str, str]:
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
        }

    return _setting_table("Settings", [(score.setting, cells(score)) for score in sweep.scores.itertuples()])


def _phase_table(sweep: ScalingSweep) -> str:
    rows = []
    for score in sweep.scores.itertuples():
        seconds = sweep.phases.get(score.setting, {})
        cells = {name.removesuffix("_s"): show(seconds.get(name), places=2) for name in PHASES}
        rows.append((score.setting, cells | {"lost in steps": show(score.lost_s, places=2)}))
    return _setting_table("Median seconds of phases, on the first rank", rows)


def _prediction_text(prediction: Mapping[str, Any]) -> str:
    """Return speedups of ranks that were not run, and how good predictions are."""
    rows = {
        f"{point['world']} ranks, hidden {point['hidden']}": [
            show(point["weights"], places=0),
            _spread(point["speedup"], 2),
            show(point["speedup"].median / point["world"], places=2),
        ]
        for point in prediction["points"]
    }
    points = table(f"Predicted over {prediction['link']}", rows, ["weights", "speedup", "efficiency"])
    return "\n\n".join([points, "\n".join(prediction["text"])])


def _run_table(sweep: ScalingSweep) -> str:
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
            "failure": f"failed: {result.error}" if result.error else "",
        }

    caption = "Every run, in the order in which they ran"
    return _setting_table(caption, [(result.run.setting, cells(result)) for result in sweep.results])
