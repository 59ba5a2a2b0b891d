"""Runs a sweep, one run at a time, and keeps all of them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from ncc.errors import InputError
from ncc_lab.scaling.plan import Setting, SweepConfig
from ncc_lab.scaling.prediction import LINKS, predict_scaling
from ncc_lab.scaling.programs import ProgramSource
from ncc_lab.scaling.runs import RunResult, start_run
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
        frame = pd.DataFrame([{"setting": run.run.setting, **run.phases} for run in self.results if run.measured])
        return (
            {}
            if frame.empty
            else {
                key: dict(rows.drop(columns="setting").median()) for key, rows in frame.groupby("setting", sort=False)
            }
        )

    @property
    def num_failed(self) -> int:
        """Runs that failed."""
        return sum(result.error is not None for result in self.results)

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


def bench_scaling(
    config: SweepConfig,
    folder: str | Path | None = None,
    *,
    levels: Sequence[str] = ("1",),
    embedding: str | Path | None = None,
    programs: str | Path | None = None,
    data: str | None = None,
    predict: Sequence[int] = (),
    link: str = "infiniband",
    progress: Callable[[str], None] | None = None,
) -> ScalingSweep:
    """Measures how training a program classifier scales over ranks, and how large a model must be for that to pay.

    Every run has its own processes; the result includes all runs, even failed ones.

    Args:
        config: What is run.
        folder: Has a folder of programs for each class; default POJ-104.
        levels: Optimization levels to compile programs at.
        embedding: Folder of the embedding, which each run reads; default the one that ships with ncc.
        programs: Folder where programs are kept once read; default the user's cache.
        data: Folder of datasets; default NCC_DATA, then the cache.
        predict: Numbers of ranks whose speedup is predicted from the runs, which must be of 1, 2 and more ranks.
        link: What they are joined by: "nvlink", "infiniband" or "ethernet".
        progress: Called with a line of text after each run.

    Returns:
        Every run and the scores of every setting: seconds, programs a second, speedups.

    Raises:
        InputError: A value is out of its range, unknown, or does not go with another.
        DataError: POJ-104 is asked for and is missing or damaged.
    """
    is_plain = "mirrored" in config.strategy and "none" in config.compression
    if predict and (min(predict) < 2 or len(set(config.world)) < 3 or not is_plain):
        raise InputError("a prediction needs runs of 1, 2 and more mirrored ranks, and asks for 2 ranks or more")
    if link not in LINKS:
        raise InputError(f"link is {link!r}; expected one of {', '.join(LINKS)}")
    paths = [None if path is None else Path(path) for path in (folder, programs, embedding)]
    source = ProgramSource.find(paths[0], ",".join(levels), cache=paths[1], embedding=paths[2], data=data)
    sweep = run_sweep(config, source, progress=progress)
    if not predict:
        return sweep
    return replace(sweep, prediction=predict_scaling(sweep.results, predict, link, seed=config.seed))


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
