"""Runs a method of thread coarsening through a protocol: pools what it chooses for unseen rows, and scores that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ncc.coarsening.samples import FACTORS, CoarseningSamples
from ncc.errors import InputError
from ncc.study.bootstrap import Bootstrap
from ncc.study.coarsening.metrics import Metrics, measure
from ncc.study.coarsening.protocols import Protocol, independent_unit, splits
from ncc.study.runs import Method, Plan, Run, run_plans

__all__ = ["CoarseningMethod", "CoarseningScore", "evaluate", "plan_runs", "score_runs"]

CoarseningMethod = Method[CoarseningSamples]
"""What can be measured: it predicts (m, 6) float64, a number for each of `FACTORS`; the highest is its choice."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseningScore:
    """The result of one method under one protocol, out of fold.

    Args:
        method: The method's name.
        protocol: The protocol.
        seeds: Seeds of the runs; nothing that was run is left out.
        num_samples: Number of rows, each tested once per seed.
        num_groups: Number of what the intervals' bootstrap draws, kernels or texts.
        metrics: The scores, means over the seeds.
        by_device: Device → the scores of its rows.
        oracle: The scores of a perfect choice, for comparison.
        chosen: Indices of the chosen factors, (seeds, n) int64.
        predicted: What the method returned, (seeds, n, 6) float64.
        seconds: Fitting and predicting, all seeds and folds together, as measured when they ran.
    """

    method: str
    protocol: Protocol
    seeds: tuple[int, ...]
    num_samples: int
    num_groups: int
    metrics: Metrics
    by_device: dict[str, Metrics]
    oracle: Metrics
    chosen: NDArray[np.int64]
    predicted: NDArray[np.float64]
    seconds: float


def plan_runs(
    samples: CoarseningSamples, method: CoarseningMethod, protocol: Protocol, seeds: Sequence[int]
) -> list[Plan]:
    """Return a plan for each seed. The protocols leave nothing to chance, so the folds are the same in all.

    Raises:
        InputError: No seeds, an unknown protocol, or too few samples for it.
    """
    if not seeds:
        raise InputError("expected at least one seed, found none")
    folds = splits(samples, protocol)
    return [Plan(method, protocol, seed, folds) for seed in seeds]


def score_runs(
    samples: CoarseningSamples, protocol: Protocol, runs: Sequence[Run], bootstrap: Bootstrap | None = None
) -> CoarseningScore:
    """Score what a method predicted under a protocol.

    Args:
        samples: The n samples.
        protocol: The protocol.
        runs: One for each seed.
        bootstrap: How intervals are drawn; None for the defaults.

    Raises:
        InputError: A method returned something else than `CoarseningMethod` says.
    """
    widths = {run.predicted.shape[1] for run in runs}
    if widths != {len(FACTORS)}:
        raise InputError(f"method {runs[0].method!r}: expected {len(FACTORS)} numbers a row, found {sorted(widths)}")
    predicted = np.stack([run.predicted for run in runs])
    chosen = np.argmax(predicted, axis=2)
    groups = samples.groups(independent_unit(protocol))
    on = {str(device): np.flatnonzero(samples.device == device) for device in dict.fromkeys(samples.device.tolist())}
    return CoarseningScore(
        method=runs[0].method,
        protocol=protocol,
        seeds=tuple(run.seed for run in runs),
        num_samples=len(samples),
        num_groups=len(np.unique(groups)),
        metrics=measure(samples.runtime, chosen, groups, bootstrap),
        by_device={
            name: measure(samples.runtime[rows], chosen[:, rows], groups[rows], bootstrap) for name, rows in on.items()
        },
        oracle=measure(samples.runtime, samples.best[None, :], groups, bootstrap),
        chosen=chosen,
        predicted=predicted,
        seconds=sum(run.seconds for run in runs),
    )


def evaluate(
    samples: CoarseningSamples,
    method: CoarseningMethod,
    protocol: Protocol = "kernel",
    seeds: Sequence[int] = (204,),
    *,
    bootstrap: Bootstrap | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> CoarseningScore:
    """Measure a method under a protocol.

    The method gets samples in which the fold's test rows have their runtimes hidden, so that it can't learn from them
    even by mistake.

    Args:
        samples: The n samples.
        method: What to measure.
        protocol: One of `PROTOCOLS`.
        seeds: Seeds of the runs.
        bootstrap: How intervals are drawn; None for the defaults.
        jobs: Folds run at a time, as for `run_plans`.
        cache: Folder of earlier results; None keeps none.
        progress: Called with a line of text after each fold.

    Returns:
        Scores of the pooled out-of-fold choices.

    Raises:
        InputError: No seeds, an unknown protocol, too few samples for it, or a method that returns something else than
            `CoarseningMethod` says.
    """
    runs = run_plans(samples, plan_runs(samples, method, protocol, seeds), jobs=jobs, cache=cache, progress=progress)
    return score_runs(samples, protocol, runs, bootstrap)
