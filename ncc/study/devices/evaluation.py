"""Runs a method through a protocol: pools what it predicts for unseen rows, and scores that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ncc.devices.samples import DeviceMappingSamples, Unit
from ncc.errors import InputError
from ncc.study.bootstrap import Bootstrap, Estimate
from ncc.study.devices.controls import DeviceMethod
from ncc.study.devices.metrics import Metrics, measure, measure_coverage, static_choice_is_gpu
from ncc.study.devices.protocols import Protocol, independent_unit, splits
from ncc.study.runs import Plan, Run, run_plans

__all__ = ["PUBLISHED_SEED", "DeviceMappingScore", "evaluate", "fold_seed", "plan_runs", "score_runs"]

PUBLISHED_SEED = 204
"""Seed of the published folds."""

_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceMappingScore:
    """The result of one method under one protocol, out of fold.

    Args:
        method: The method's name.
        protocol: The protocol.
        platform: The samples' platform.
        seeds: Seeds of the runs; nothing that was run is left out.
        num_samples: Number of rows, each tested once per seed.
        interval_unit: What the intervals' bootstrap draws.
        num_groups: How many of these there are.
        static_choice: The device that speedups are relative to, "CPU" or "GPU".
        metrics: The scores, means over the seeds.
        oracle: The scores of a perfect choice, for comparison.
        coverage: Share of the rows whose measured log ratio lies in the 80 % interval predicted for it; None for a
            method that gives no intervals.
        predicted: What the method returned (see `DeviceMethod.predict`), (seeds, n, k) float64.
        seconds: Fitting and predicting, all seeds and folds together, as measured when they ran.
    """

    method: str
    protocol: Protocol
    platform: str
    seeds: tuple[int, ...]
    num_samples: int
    interval_unit: Unit
    num_groups: int
    static_choice: str
    metrics: Metrics
    oracle: Metrics
    coverage: Estimate | None
    predicted: NDArray[np.float64]
    seconds: float

    @property
    def log_ratio(self) -> NDArray[np.float64]:
        """Predicted log(CPU time / GPU time), or a score of the same sign, (seeds, n) float64."""
        return self.predicted[:, :, 0]


def fold_seed(protocol: Protocol, seed: int) -> int:
    """Return the seed of a run's folds.

    The folds of `published` are the papers', the same in every run, and `suite` has one way of making them. Those of
    `kernel` and `application` come from the run's seed, so that the spread over seeds includes that of the folds.

    Args:
        protocol: One of `PROTOCOLS`.
        seed: The run's seed.
    """
    return PUBLISHED_SEED if protocol in ("published", "suite") else seed


def plan_runs(
    samples: DeviceMappingSamples, method: DeviceMethod, protocol: Protocol, seeds: Sequence[int]
) -> list[Plan]:
    """Return a plan for each seed, with folds as `fold_seed` says.

    Raises:
        InputError: No seeds, an unknown protocol, or too few samples for it.
    """
    if not seeds:
        raise InputError("expected at least one seed, found none")
    return [Plan(method, protocol, seed, tuple(splits(samples, protocol, fold_seed(protocol, seed)))) for seed in seeds]


def score_runs(
    samples: DeviceMappingSamples, protocol: Protocol, runs: Sequence[Run], bootstrap: Bootstrap | None = None
) -> DeviceMappingScore:
    """Score what a method predicted under a protocol.

    Args:
        samples: The n samples.
        protocol: The protocol.
        runs: One for each seed.
        bootstrap: How intervals are drawn; None for the defaults.

    Raises:
        InputError: A method returned something else than `DeviceMethod.predict` says.
    """
    predicted = _checked(runs)
    unit = independent_unit(protocol)
    groups = samples.groups(unit)
    coverage = None
    if predicted.shape[2] > 1:
        coverage = measure_coverage(samples.log_ratio, predicted[:, :, 1:3], groups, bootstrap)
    return DeviceMappingScore(
        method=runs[0].method,
        protocol=protocol,
        platform=samples.platform,
        seeds=tuple(run.seed for run in runs),
        num_samples=len(samples),
        interval_unit=unit,
        num_groups=len(np.unique(groups)),
        static_choice="GPU" if static_choice_is_gpu(samples.is_gpu) else "CPU",
        metrics=measure(samples.log_ratio, predicted[:, :, 0] > 0, groups, bootstrap),
        oracle=measure(samples.log_ratio, samples.is_gpu[None, :], groups, bootstrap),
        coverage=coverage,
        predicted=predicted,
        seconds=sum(run.seconds for run in runs),
    )


def evaluate(
    samples: DeviceMappingSamples,
    method: DeviceMethod,
    protocol: Protocol,
    seeds: Sequence[int] = (PUBLISHED_SEED,),
    *,
    bootstrap: Bootstrap | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> DeviceMappingScore:
    """Measure a method under a protocol.

    The method gets samples in which the fold's test rows have their runtimes and labels hidden, so
    that it can't learn from them even by mistake.

    Args:
        samples: The n samples.
        method: What to measure.
        protocol: One of `PROTOCOLS`.
        seeds: Seeds of the runs, of the method and, under `kernel` and `application`, of the folds (see `fold_seed`).
        bootstrap: How intervals are drawn; None for the defaults.
        jobs: Folds run at a time, as for `run_plans`.
        cache: Folder of earlier results; None keeps none.
        progress: Called with a line of text after each fold.

    Returns:
        Scores of the pooled out-of-fold predictions.

    Raises:
        InputError: No seeds, an unknown protocol, too few samples for it, or a method that returns
            something else than `DeviceMethod.predict` says.
    """
    plans = plan_runs(samples, method, protocol, seeds)
    runs = run_plans(samples, plans, jobs=jobs, cache=cache, progress=progress)
    return score_runs(samples, protocol, runs, bootstrap)


def _checked(runs: Sequence[Run]) -> NDArray[np.float64]:
    """What the runs predicted, (seeds, n, k), after a look at what can be told from the numbers."""
    name, widths = runs[0].method, {run.predicted.shape[1] for run in runs}
    if len(widths) != 1 or not widths <= {1, 3, 4}:
        raise InputError(f"method {name!r}: expected 1, 3 or 4 numbers for each row, found {sorted(widths)}")
    predicted = np.stack([run.predicted for run in runs])
    assert np.isfinite(predicted).all()  # every row is tested once
    if widths != {1}:
        median, low, high = np.moveaxis(predicted[..., :3], -1, 0)
        wrong = (low > median + _ROUNDING) | (median > high + _ROUNDING)
        if wrong.any():
            raise InputError(f"method {name!r}: the median is outside its interval in {wrong.sum()} predictions")
    if widths == {4} and ((predicted[..., 3] < 0) | (predicted[..., 3] > 1)).any():
        raise InputError(f"method {name!r}: expected probabilities between 0 and 1, found others")
    return predicted
