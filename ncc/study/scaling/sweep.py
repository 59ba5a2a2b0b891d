"""Runs a sweep, one run after the other, and keeps every one of them with what it cost to measure."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import median
from typing import Any

from ncc.errors import InputError
from ncc.study.scaling.launch import start_run
from ncc.study.scaling.plan import SweepConfig
from ncc.study.scaling.programs import Programs, ProgramSource
from ncc.study.scaling.results import RunResult
from ncc.study.scaling.scores import BreakEven, SettingScore, break_even, score_settings

__all__ = ["Overhead", "ScalingSweep", "run_sweep"]


@dataclass(frozen=True)
class Overhead:
    """What measuring cost.

    Attributes:
        inside_s: In the first ranks of all runs: timers, and collecting figures.
        around_s: Between the runs and after them: what starts and reads them, scores, report.
        runs_s: All runs, from the start of the first process to the end of the last.
    """

    inside_s: float
    around_s: float
    runs_s: float

    @property
    def share(self) -> float:
        """Of all of it in the time of runs and measuring."""
        return (self.inside_s + self.around_s) / (self.runs_s + self.around_s)

    def to_text(self) -> str:
        """In a sentence."""
        return (
            f"measuring: {self.inside_s:.3f} s in timers inside runs of {self.runs_s:.1f} s, {self.around_s:.2f} s "
            f"around them: {self.share:.2%}" + ("" if self.share < 0.01 else ", more than 1 %: the runs are too short")
        )


@dataclass(frozen=True, eq=False)
class ScalingSweep:
    """A sweep that was run.

    Attributes:
        config: What was asked for.
        source: The programs.
        results: Every run, failed ones among them, in the order in which they ran.
        num_classes: Of the programs.
        num_programs: All that were read.
        failures: Programs that were left out, since they do not compile.
        preparing_s: Compiling and reading programs before the first run, which then all find them in the cache.
        around_s: Time between and after the runs so far, see `Overhead`.
    """

    config: SweepConfig
    source: ProgramSource
    results: tuple[RunResult, ...]
    num_classes: int
    num_programs: int
    failures: int
    preparing_s: float
    around_s: float

    def __repr__(self) -> str:
        return f"ScalingSweep({len(self.results)} runs, {self.num_failed} failed)"

    @cached_property
    def scores(self) -> list[SettingScore]:
        """One for each setting."""
        return score_settings(self.config, self.results)

    @cached_property
    def break_even(self) -> list[BreakEven]:
        """How large the model must be before several ranks pay."""
        return break_even(self.scores)

    @property
    def hardware(self) -> dict[str, Any]:
        """Name of the device and cores that a process may use, as the runs saw them; empty if all failed."""
        return next((result.measured.hardware for result in self.results if result.measured), {})

    @property
    def precision(self) -> str:
        """What the runs multiplied matrices in."""
        return ", ".join(dict.fromkeys(result.measured.precision for result in self.results if result.measured))

    def phase_seconds(self, phase: str, score: SettingScore) -> float | None:
        """Median seconds of a phase over the runs of a setting that went well; None if none did."""
        found = [
            result.phase(phase) for result in self.results if result.run.setting == score.setting and result.measured
        ]
        return median(found) if found else None

    @property
    def num_failed(self) -> int:
        """Runs that failed."""
        return sum(result.error is not None for result in self.results)

    def overhead(self, report_s: float = 0.0) -> Overhead:
        """What measuring cost, with the seconds that a report has taken."""
        return Overhead(
            inside_s=sum(result.measured.measuring_s for result in self.results if result.measured),
            around_s=self.around_s + report_s,
            runs_s=sum(result.wall_s for result in self.results),
        )

    def to_dict(self, report_s: float = 0.0) -> dict[str, Any]:
        """Plain Python values by name, as ``--json`` prints them, with the seconds that a report has taken."""
        overhead = self.overhead(report_s)
        return {
            "sweep": asdict(self.config),
            "levels": list(self.source.levels),
            "num_programs": self.num_programs,
            "num_classes": self.num_classes,
            "failures": self.failures,
            "preparing_s": self.preparing_s,
            "settings": [asdict(score) for score in self.scores],
            "break_even": [asdict(one) | {"text": one.to_text()} for one in self.break_even],
            "measuring": asdict(overhead) | {"share": overhead.share},
            "runs": [result.to_dict() for result in self.results],
        }


def run_sweep(
    config: SweepConfig, source: ProgramSource, *, progress: Callable[[str], None] | None = None
) -> ScalingSweep:
    """Runs a sweep.

    Programs are compiled and read once before, so that no run pays for what later ones find done.

    Args:
        config: What to run.
        source: The programs.
        progress: Called with a line of text after reading and after each run.

    Raises:
        InputError: There are too few programs for weak scaling.
        NccError: The programs can't be read.
    """
    tell = progress or (lambda _: None)
    began = time.time()
    programs = source.load(progress=lambda done, total: tell(f"{done} of {total} batches of programs read"))
    _check_enough(config, programs)
    samples = programs.samples
    num_classes, num_programs, failures = len(samples.classes), len(samples), len(samples.failures)
    del programs, samples  # memory that the runs may need
    preparing_s = time.time() - began
    tell(f"{num_programs} programs of {num_classes} classes; {failures} left out")
    results: list[RunResult] = []
    runs = config.runs()
    began = time.time()
    for number, run in enumerate(runs, 1):
        result = start_run(run, source, device=config.device, timeout_s=config.timeout_s)
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
        around_s=max(0.0, time.time() - began - sum(result.wall_s for result in results)),
    )


def _check_enough(config: SweepConfig, programs: Programs) -> None:
    needed = (config.per_class or 0) * max(config.worlds)
    if config.scaling == "weak" and programs.fewest < needed:
        raise InputError(
            f"weak scaling to {max(config.worlds)} ranks with {config.per_class} programs per class each needs "
            f"{needed} training programs of every class; one has {programs.fewest}"
        )
