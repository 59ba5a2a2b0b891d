"""Times from a machine's constants (launch, bus, operations, memory), for kernels unlike all measured ones.

Each term of a time is an amount that follows from the kernel and its sizes, times a constant of the device.

Reference: Williams, Waterman and Patterson 2009 (roofline); smooth sums, the bus and sequential work are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import Meta

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc.kernels.cpu_cost import CYCLE_KINDS
from ncc.learning.heads.files import Stored
from ncc.tasks.devices.features import (
    NUM_KINDS,
    KernelFeatures,
    complete_sizes,
    counts_at_size,
    data_items,
    work_at_size,
)

if TYPE_CHECKING:
    from ncc.kernels.measure.table import LaunchTimes

NUM_TERMS = 7 + len(CYCLE_KINDS)
PUBLISHED_TERMS = np.arange(7)
"""Terms of published times, whose tables do not say how kernels were launched."""
LAUNCH_TERMS = np.r_[0, 1, 4:NUM_TERMS]
"""Terms of launches: a core's cycles in place of operations."""
PRIORS: Mapping[str, tuple[float, ...]] = {
    "CPU": (0.02, 1e-8, 1e-7, 1e-6, 5e-8, 1e-6, 3e-7, 3e-8, 3e-7, 1e-6, 1e-5, 3e-5, 1e-6, 2e-6, 1e-6),
    "GPU": (0.02, 2e-7, 1e-9, 1e-8, 5e-9, 5e-8, 1e-5, 1e-9, 1e-9, 1e-8, 1e-8, 3e-8, 1e-8, 2e-8, 1e-8),
}
"""Milliseconds for each unit of the terms, by the data sheets of a desktop of 2013."""
_COSTLY, _BYTES = 4.0, 0.25
_PRIOR_SD = 2.0
_WEIGHT = 500.0


def launch_terms(features: KernelFeatures, sizes: Floats) -> Floats:
    """(n, NUM_TERMS) float64 amounts that take time at launches of n kernels; sizes as for `launch_columns`."""
    # the launch, bytes moved, operations, costly operations, bytes of memory, accesses that neighbors do not share; one
    # work-item's work in sequence; the cycles of all on a core; a kernel that never asks for its index runs alone
    moved, _, items = complete_sizes(features, sizes).T
    by_items = data_items(features, sizes)
    data = np.where(np.isfinite(sizes[:, 0]), np.maximum(moved / features.item_bytes, 1), by_items)
    items = np.where(np.isfinite(sizes[:, 2]) | (features.feature("dimensions") > 0), items, 1)[:, None]
    work = work_at_size(features.work, data)
    alone = work[:, 0] + _COSTLY * work[:, 1] + _BYTES * work[:, 2]
    cycles = items * np.expm1(counts_at_size(features.work, data)[:, NUM_KINDS:])
    return np.column_stack([np.ones(len(data)), moved, items * work, alone, cycles])


@dataclass(frozen=True, eq=False)
class MachineModel:
    """Devices by their constants."""

    # (devices, k) float64 log ms for each unit of `PUBLISHED_TERMS` or `LAUNCH_TERMS`, told apart by k
    constants: Annotated[Floats, Stored(bound=100)]
    # log ratio measured for each unit predicted: other kernels reach that much of a peak
    ratio_shrinkage: Annotated[float, Meta(ge=0, le=1)] = 1.0

    def __post_init__(self) -> None:
        if self.constants.shape[1:] not in ((len(PUBLISHED_TERMS),), (len(LAUNCH_TERMS),)):
            raise InputError(f"constants of shape {self.constants.shape}")

    def log_times(self, terms: Floats) -> Floats:
        """(n, devices) float64 logarithms of the sums of the terms."""
        known = LAUNCH_TERMS if self.constants.shape[1] == len(LAUNCH_TERMS) else PUBLISHED_TERMS
        each = np.log(np.maximum(terms[:, known], 1e-30))[:, None, :] + self.constants
        return np.logaddexp.reduce(each, axis=2)

    def targets(self, terms: Floats) -> Floats:
        """(n, devices) float64: mean log time, and by how much each device but the first is faster."""
        targets = targets_of(self.log_times(terms))
        targets[:, 1:] *= self.ratio_shrinkage
        return targets


def targets_of(log_times: Floats) -> Floats:
    """(n, d) float64 of such log times: their mean, and by how much each device but the first is faster than that."""
    return np.hstack([log_times.mean(axis=1, keepdims=True), log_times[:, :1] - log_times[:, 1:]])


def ratios_of(targets: Floats) -> Floats:
    """(n, d - 1) float64 log ratios of targets; the log times of one device alone, which has none to compare with."""
    return targets[:, min(targets.shape[1] - 1, 1) :]


def largest_errors(predicted: Floats, targets: Floats) -> Floats:
    """(n,) float64 largest error of each launch's `ratios_of`."""
    return np.abs(ratios_of(targets - predicted)).max(axis=1)


def fit_machine(table: "LaunchTimes", terms: Floats, known: Ints) -> MachineModel:
    """Fit constants of the known terms with the least pseudo-Huber error of log times, held near the data sheets'."""
    from scipy.optimize import minimize

    constants = []
    logs = np.log(np.maximum(terms[:, known], 1e-30))
    for device, measured in zip(table.devices, table.log_times.T, strict=True):

        def loss(constant: Floats, prior: Floats, measured: Floats = measured) -> tuple[float, Floats]:
            total = np.logaddexp.reduce(logs + constant, axis=1)
            error = total - measured
            huber = np.sqrt(1 + error**2)
            away = (constant - prior) / _PRIOR_SD**2
            gradient = np.exp(logs + constant - total[:, None]) * (error / huber)[:, None]
            weight = _WEIGHT / max(len(error), 1)
            value = weight * float((huber - 1).sum()) + float(away @ (constant - prior)) / 2
            return value, weight * gradient.sum(axis=0) + away

        # a device of unknown kind gets the prior of the kind that explains its times better
        priors = np.log([PRIORS[device]] if device in PRIORS else list(PRIORS.values()))[:, known]
        fits = [minimize(loss, prior, (prior,), jac=True, method="L-BFGS-B") for prior in priors]
        constants.append(min(fits, key=lambda fit: fit.fun).x)
    return MachineModel(np.array(constants))
