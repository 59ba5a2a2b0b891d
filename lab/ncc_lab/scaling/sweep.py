"""Runs a sweep, one run at a time, and keeps all of them; its tables."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from ncc_lab.figures import show, table
from ncc_lab.scaling.plan import Setting, SweepConfig
from ncc_lab.scaling.programs import ProgramSource
from ncc_lab.scaling.runs import PHASES, Measured, RunResult, start_run
from ncc_lab.scaling.scores import Spread, break_even, score_settings


@dataclass(frozen=True, eq=False)
class ScalingSweep:
    """A sweep that was run."""

    config: SweepConfig
    source: ProgramSource
    results: tuple[RunResult, ...]
    num_classes: int
    num_programs: int
    failures: int
    preparing_s: float
    prediction: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"ScalingSweep({len(self.results)} runs, {self.num_failed} failed)"

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A row for each setting, see `score_settings`."""
        return score_settings(self.config, self.results)

    @cached_property
    def break_even(self) -> list[dict[str, Any]]:
        """How large the model must be before several ranks pay, see `scores.break_even`."""
        return break_even(self.scores)

    @property
    def hardware(self) -> dict[str, Any]:
        """Name of the device and cores that a process may use, as the runs saw them; empty if all failed."""
        return next((result.measured.hardware for result in self.results if result.measured), {})

    @cached_property
    def phases(self) -> dict[Setting, dict[str, float]]:
        """Setting → median seconds of each phase over the runs that went well."""
        runs = [{"setting": result.run.setting, **result.phases} for result in self.results if result.measured]
        groups = pd.DataFrame(runs, columns=["setting", *PHASES]).groupby("setting", sort=False)
        return {setting: dict(seconds[[*PHASES]].median()) for setting, seconds in groups}

    @property
    def num_failed(self) -> int:
        """Runs that failed."""
        return sum(result.error is not None for result in self.results)

    def to_text(self) -> str:
        """Return settings with their scores, how large the model must be, and every run."""
        config = self.config
        target = "" if config.target is None else f", target {config.target:.1%} on the validation programs"
        scope = f"{self.num_programs} programs of {self.num_classes} classes{target}"
        sizes = [one["text"] for one in self.break_even]
        parts = [
            f"Strong scaling on {config.device}, {config.epochs} epochs, {scope}",
            _score_table(self),
            _phase_table(self),
            "\n".join(["How large the model must be", *sizes]) if sizes else "",
            "\n".join(f"note: {note}" for note in _notes(self)),
            _prediction_text(self.prediction) if self.prediction else "",
            _run_table(self),
        ]
        return "\n\n".join(filter(None, parts))

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name, as ``--json`` prints them."""
        content = {
            "sweep": asdict(self.config),
            "levels": list(self.source.levels),
            "num_programs": self.num_programs,
            "num_classes": self.num_classes,
            "failures": self.failures,
            "preparing_s": self.preparing_s,
            "settings": self.scores.to_dict("records"),
            "break_even": self.break_even,
            "prediction": self.prediction,
            "runs": [result.to_dict() for result in self.results],
        }
        plain: dict[str, Any] = _plain(content)
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Spread):
        return value._asdict()
    if isinstance(value, Setting):
        return asdict(value)
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def run_sweep(
    config: SweepConfig,
    source: ProgramSource,
    *,
    progress: Callable[[str], None] | None = None,
    start: Callable[..., RunResult] = start_run,
) -> ScalingSweep:
    """Run a sweep; programs are compiled and read once before, so that no run pays for what later ones find done."""
    tell = progress or (lambda _: None)
    started = time.time()
    programs = source.load(progress=tell)
    samples = programs.samples
    num_classes, num_programs, failures = len(samples.classes), len(samples), len(samples.failures)
    del programs, samples  # memory that the runs may need
    preparing_s = time.time() - started
    tell(f"{num_programs} programs of {num_classes} classes; {failures} left out")
    results: list[RunResult] = []
    runs = config.runs()
    for number, run in enumerate(runs, 1):
        result = start(run, source, device=config.device, timeout_s=config.timeout)
        results.append(result)
        outcome = f"failed: {result.error}"
        if result.measured:
            outcome = f"{result.seconds:.1f} s, test accuracy {result.measured.test_accuracy:.2%}"
        tell(f"run {number} of {len(runs)}: {run.setting.to_text()}, seed {run.seed}: {outcome}")
    return ScalingSweep(
        config=config,
        source=source,
        results=tuple(results),
        num_classes=num_classes,
        num_programs=num_programs,
        failures=failures,
        preparing_s=preparing_s,
    )


# --- tables -----------------------------------------------------------------------------------------------------------


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
