"""Runs classifiers through splits of labelled programs, and scores what they say of programs not seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.classification.samples import ProgramSamples
from ncc.errors import InputError
from ncc.study.bootstrap import Bootstrap
from ncc.study.classification.metrics import ClassificationMetrics, measure
from ncc.study.classification.protocols import ProgramSplit, near_duplicates, split_programs
from ncc.study.runs import Method, Plan, run_plans

__all__ = ["ClassificationMethod", "ClassificationScore", "evaluate", "first_of_each", "load_split"]

ClassificationMethod = Method[ProgramSamples]
"""What can be measured: it predicts (m, num_classes) float64, a probability for each class."""

SPLIT_SEED = 204
_DRAWS = 500


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassificationScore:
    """The result of one method under one protocol.

    Attributes:
        method: The method's name.
        protocol: The protocol's; with "/10" and the like where so many programs of a class were trained on.
        seeds: Seeds of the runs; nothing that was run is left out.
        num_training: Programs that were trained on.
        num_samples: Programs that were tested, for each seed.
        metrics: The scores.
        seconds: Fitting and predicting, all seeds together, as measured when they ran.
    """

    method: str
    protocol: str
    seeds: tuple[int, ...]
    num_training: int
    num_samples: int
    metrics: ClassificationMetrics
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name, as ``--json`` prints them."""
        metrics = self.metrics
        return {
            "accuracy": metrics.accuracy.value,
            "interval": [metrics.accuracy.low, metrics.accuracy.high],
            "per_seed": metrics.accuracy.per_seed.tolist(),
            "accuracy_without_twins": metrics.accuracy_without_twins.value,
            "num_twins": metrics.num_twins,
            "top5": metrics.top5.value,
            "macro_f1": metrics.macro_f1,
            "calibration_error": metrics.calibration_error,
            "num_training": self.num_training,
            "num_samples": self.num_samples,
            "seeds": list(self.seeds),
            "seconds": round(self.seconds, 1),
        }


def load_split(samples: ProgramSamples, protocol: str = "grouped") -> tuple[ProgramSplit, NDArray[np.int64]]:
    """The split of a protocol, and each program's group of near-duplicates, by the first level.

    Raises:
        InputError: A part of the split is empty.
    """
    groups = near_duplicates(next(iter(samples.views.values())))
    split = split_programs(samples.label, groups, protocol, SPLIT_SEED)
    if not min(len(split.train), len(split.valid), len(split.test)):
        raise InputError(f"{len(samples)} programs of {len(samples.classes)} classes are too few to be split 3:1:1")
    return split, groups


def evaluate(
    samples: ProgramSamples,
    methods: Sequence[ClassificationMethod],
    protocol: str = "grouped",
    seeds: Sequence[int] = (204,),
    *,
    per_class: int | None = None,
    jobs: int = 1,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[ClassificationScore]:
    """Measures methods under a protocol.

    Args:
        samples: The programs.
        methods: What to measure.
        protocol: One of `PROTOCOLS`.
        seeds: Of the methods; the split is always the same.
        per_class: Train on at most so many programs of each class; None for all.
        jobs: Runs at a time, as for `run_plans`.
        cache: Folder of earlier results; None keeps none.
        progress: Called with a line of text after each run.

    Raises:
        InputError: No seeds, or too few programs.
    """
    if not seeds:
        raise InputError("expected at least one seed, found none")
    split, groups = load_split(samples, protocol)
    training = split.train if per_class is None else first_of_each(samples.label, split.train, per_class)
    name = protocol if per_class is None else f"{protocol}/{per_class}"
    plans = [Plan(method, name, seed, [(training, split.test)]) for method in methods for seed in seeds]
    runs = run_plans(samples, plans, jobs=jobs, cache=cache, progress=progress)
    by_method = [runs[start : start + len(seeds)] for start in range(0, len(runs), len(seeds))]
    return [
        ClassificationScore(
            method=method.name,
            protocol=name,
            seeds=tuple(seeds),
            num_training=len(training),
            num_samples=len(split.test),
            metrics=measure(
                np.stack([run.predicted[split.test] for run in some]),
                samples.label[split.test],
                groups[split.test],
                split.twins,
                Bootstrap(num_resamples=_DRAWS),
            ),
            seconds=sum(run.seconds for run in some),
        )
        for method, some in zip(methods, by_method, strict=True)
    ]


def first_of_each(label: NDArray[np.int64], rows: NDArray[np.int64], per_class: int) -> NDArray[np.int64]:
    """At most so many rows of each class, drawn; a larger number takes those of a smaller one and more."""
    drawn = rows[np.random.default_rng(SPLIT_SEED).permutation(len(rows))]
    parts = [drawn[label[drawn] == number][:per_class] for number in range(int(label.max()) + 1)]
    return np.sort(np.concatenate(parts))
