"""Runs a method through a protocol: fits each fold, pools what it predicts for unseen rows, scores it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.errors import InputError
from ncc.tasks.device_mapping.controls import DeviceMethod
from ncc.tasks.device_mapping.metrics import Bootstrap, Metrics, measure, static_choice_is_gpu
from ncc.tasks.device_mapping.protocols import Protocol, independent_unit, splits
from ncc.tasks.device_mapping.samples import DeviceMappingSamples, Unit

__all__ = ["DeviceMappingScore", "evaluate"]


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
        log_ratio: Predicted log(CPU time / GPU time), or a score of the same sign; a row of the array
            per seed, (seeds, n) float64.
        seconds: Wall time of fitting and predicting, all seeds and folds together.
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
    log_ratio: NDArray[np.float64]
    seconds: float


def evaluate(
    samples: DeviceMappingSamples,
    method: DeviceMethod,
    protocol: Protocol,
    seeds: Sequence[int] = (204,),
    *,
    split_seed: int | None = 204,
    bootstrap: Bootstrap | None = None,
) -> DeviceMappingScore:
    """Measure a method under a protocol.

    The method gets samples in which the fold's test rows have their runtimes and labels hidden, so
    that it can't learn from them even by mistake.

    Args:
        samples: The n samples.
        method: What to measure.
        protocol: One of `PROTOCOLS`.
        seeds: Seeds of the method, one run each.
        split_seed: Seed of the folds, the same in all runs; None gives each run folds of its own,
            from its seed, so that the spread over seeds includes that of the folds.
        bootstrap: How intervals are drawn; None for the defaults.

    Returns:
        Scores of the pooled out-of-fold predictions.

    Raises:
        InputError: No seeds, an unknown protocol, too few samples for it, or a method that returns
            something else than one finite number per row.
    """
    if not seeds:
        raise InputError("expected at least one seed, found none")
    start = time.perf_counter()
    runs = [_predict(samples, method, protocol, seed, split_seed) for seed in seeds]
    seconds = time.perf_counter() - start
    predicted = np.stack(runs)
    unit = independent_unit(protocol)
    groups = samples.groups(unit)
    return DeviceMappingScore(
        method=method.name,
        protocol=protocol,
        platform=samples.platform,
        seeds=tuple(seeds),
        num_samples=len(samples),
        interval_unit=unit,
        num_groups=len(np.unique(groups)),
        static_choice="GPU" if static_choice_is_gpu(samples.is_gpu) else "CPU",
        metrics=measure(samples.log_ratio, predicted > 0, groups, bootstrap),
        oracle=measure(samples.log_ratio, samples.is_gpu[None, :], groups, bootstrap),
        log_ratio=predicted,
        seconds=seconds,
    )


def _predict(
    samples: DeviceMappingSamples,
    method: DeviceMethod,
    protocol: Protocol,
    seed: int,
    split_seed: int | None,
) -> NDArray[np.float64]:
    predicted = np.full(len(samples), np.nan)
    folds = splits(samples, protocol, seed if split_seed is None else split_seed)
    for fold, (train, test) in enumerate(folds):
        visible = samples.without_answers(test)
        method.fit(visible, train, np.random.default_rng((seed, fold)))
        answer = np.asarray(method.predict_log_ratio(visible, test), dtype=np.float64)
        if answer.shape != test.shape or not np.isfinite(answer).all():
            raise InputError(
                f"method {method.name!r}, fold {fold}: expected {len(test)} finite numbers, "
                f"found shape {answer.shape} with {np.count_nonzero(~np.isfinite(answer))} not finite"
            )
        predicted[test] = answer
    assert np.isfinite(predicted).all()  # every row is tested once
    return predicted
