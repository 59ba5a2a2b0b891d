"""Scores of a sweep: speedups over the best single-process runs, time to accuracy, break-even.

Reference: Hoefler and Belli 2015, rules 1 (the base case of a speedup), 5 and 6 (spread of what is not deterministic).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

import pandas as pd

from ncc_lab.scaling.plan import Setting, SweepConfig
from ncc_lab.scaling.runs import Measured, RunResult


class Spread(NamedTuple):
    """A figure of several runs: their median, the lowest and the highest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread | None":
        """Return the spread of one value or more; None of none."""
        return cls(median(values), min(values), max(values)) if values else None

    def over(self, base: "Spread") -> "Spread":
        """Return the ratio to another: of the medians, and the worst and the best that the runs allow."""
        return Spread(self.median / base.median, self.low / base.high, self.high / base.low)

    def to_text(self) -> str:
        """Return the median, and lowest to highest where they differ."""
        low, high = f"{self.low:.2f}", f"{self.high:.2f}"
        return f"{self.median:.2f}" + (f" ({low}–{high})" if low != high else "")


FIGURES: dict[str, Callable[[RunResult, Measured], float]] = {
    "wall_s": lambda result, _: result.wall_s,
    "seconds": lambda result, _: result.seconds,
    "training_s": lambda _, run: run.training_s,
    "end_to_end_rate": lambda result, run: run.samples / result.seconds,
    "training_rate": lambda _, run: run.samples / run.training_s,
    "accuracy": lambda _, run: run.test_accuracy,
    "bytes_sent": lambda _, run: float(max(run.bytes_sent)),
}
"""Figures of a run that a setting's spread is given of; rates are programs a second, bytes those of the rank that sends
most."""
_RATIOS = {"speedup": "end_to_end_rate", "training_speedup": "training_rate", "target_speedup": "target_rate"}


def score_settings(config: SweepConfig, results: Sequence[RunResult]) -> pd.DataFrame:
    """Return a row for each setting that was run, in order of appearance; what no run measured is None."""
    runs: dict[Setting, list[RunResult]] = {}
    for result in results:
        runs.setdefault(result.run.setting, []).append(result)
    rows = [_summarize(config, setting, some) for setting, some in runs.items()]
    for row in rows:
        setting = row["setting"]
        single = [other for other in rows if other["setting"].world == 1 and other["setting"].hidden == setting.hidden]
        for ratio, rate in _RATIOS.items():
            best = max((other for other in single if other[rate]), key=lambda other: other[rate].median, default=None)
            row[ratio] = row[rate].over(best[rate]) if best and row[rate] else None
            if ratio == "speedup":
                row["is_baseline"] = best is row
        row["lost_s"] = _lost_s(setting, runs)
    return pd.DataFrame(rows, dtype=object).drop(columns="target_rate")


def _summarize(config: SweepConfig, setting: Setting, results: Sequence[RunResult]) -> dict[str, Any]:
    """Return what the runs of a setting say without the others."""
    good = [(result, result.measured) for result in results if result.measured]
    times = [seconds for _, run in good if (seconds := run.seconds_to(config.target)) is not None]
    reaches_target = times and len(times) == len(results)
    return {
        "setting": setting,
        "num_runs": len(results),
        "num_failed": len(results) - len(good),
        "num_reached": len(times),
        "num_weights": good[0][1].num_weights if good else None,
        **{name: Spread.of([figure(*pair) for pair in good]) for name, figure in FIGURES.items()},
        "seconds_to_target": Spread.of(times),
        "target_rate": Spread(1 / median(times), 1 / max(times), 1 / min(times)) if reaches_target else None,
    }


def _lost_s(setting: Setting, runs: dict[Setting, list[RunResult]]) -> float | None:
    if setting.world == 1:
        return None
    reference = replace(setting, world=1, strategy="mirrored", compression="none")
    shared, alone = (
        [run.phases["steps_s"] + run.phases["input_s"] for run in runs.get(one, []) if run.measured]
        for one in (setting, reference)
    )
    return median(shared) - median(alone) / setting.world if shared and alone else None


def break_even(scores: pd.DataFrame) -> list[dict[str, Any]]:
    """Return from which size of the model on ranks pay: for each number of ranks, end to end and for training alone."""
    found = []
    for world in sorted({setting.world for setting in scores.setting} - {1}):
        rows = [row for row in scores.itertuples() if row.setting.world == world]
        for what, figure in (("end to end", "speedup"), ("training alone", "training_speedup")):
            best: dict[int, dict[str, Any]] = {}
            for row in rows:
                hidden, speedup = row.setting.hidden, getattr(row, figure)
                if speedup and (hidden not in best or speedup.median > best[hidden]["speedup"].median):
                    point = {"hidden": hidden, "num_weights": row.num_weights, "setting": row.setting}
                    best[hidden] = point | {"speedup": speedup}
            points = [best[hidden] for hidden in sorted(best)]
            if points:
                last_loss = max((i for i, point in enumerate(points) if point["speedup"].median <= 1), default=-1)
                text = f"{world} ranks, {what}: {_break_even_text(points, last_loss + 1)}"
                size = points[last_loss + 1]["hidden"] if last_loss + 1 < len(points) else None
                found.append({"world": world, "what": what, "points": points, "hidden": size, "text": text})
    return found


def _break_even_text(points: list[dict[str, Any]], first: int) -> str:
    if first == len(points):
        best = max(points, key=lambda point: point["speedup"].median)
        sizes = ", ".join(str(point["hidden"]) for point in points)
        return f"no break-even among hidden {sizes}; at most {best['speedup'].to_text()}× at hidden {best['hidden']}"
    point = points[first]
    before = ", the smallest measured: break-even lies there or below"
    if first:
        before = f"; {points[first - 1]['speedup'].to_text()}× at hidden {points[first - 1]['hidden']}"
    doubt = "" if point["speedup"].low > 1 else ", though not in all repeats"
    size = f"hidden {point['hidden']} ({point['num_weights']:,} weights)"
    return f"pay from {size} on, {point['speedup'].to_text()}×{doubt}{before}"
