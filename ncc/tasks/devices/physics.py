"""Times from a machine's constants (launch, bus, operations, memory), for kernels unlike all measured ones.

Each term of a time is an amount that follows from the kernel and its sizes, times a constant of the device.

Reference: Williams, Waterman and Patterson 2009 (roofline); smooth sums, the bus and work one after the other are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Floats
from ncc.kernels.cpu_cost import CYCLE_KINDS
from ncc.tasks.devices.work import cycles_at, work_at

NUM_TERMS = 7 + len(CYCLE_KINDS)
PUBLISHED_TERMS = np.arange(7)
"""Those of published times, whose tables do not say how kernels were launched."""
LAUNCH_TERMS = np.r_[0, 1, 4:NUM_TERMS]
"""Those of launches: what a core does in place of operations."""
PRIORS: Mapping[str, tuple[float, ...]] = {
    "CPU": (0.02, 1e-8, 1e-7, 1e-6, 5e-8, 1e-6, 3e-7, 3e-8, 3e-7, 1e-6, 1e-5, 3e-5, 1e-6, 2e-6, 1e-6),
    "GPU": (0.02, 2e-7, 1e-9, 1e-8, 5e-9, 5e-8, 1e-5, 1e-9, 1e-9, 1e-8, 1e-8, 3e-8, 1e-8, 2e-8, 1e-8),
}
"""Milliseconds for each unit of the terms, by the data sheets of a desktop of 2013."""
_COSTLY, _BYTES = 4.0, 0.25


def launch_terms(work: Floats, data: Floats, transfer: Floats, items: Floats) -> Floats:
    """Amounts that take time.

    Args:
        work: (n, WORK_WIDTH) float64, see `ncc.tasks.devices.work.launch_work`.
        data: (n,) float64 data items, which decide how long loops run.
        transfer: (n,) float64 bytes moved.
        items: (n,) float64 work-items.

    Returns:
        (n, NUM_TERMS) float64: the launch, bytes moved, operations, costly operations, bytes of memory, accesses that
        neighbours do not share; what one work-item does, one thing after the other; and what all of them cost a
        processor's core, by `ncc.kernels.cpu_cost.CYCLE_KINDS`.
    """
    done = work_at(work, data)
    alone = done[:, 0] + _COSTLY * done[:, 1] + _BYTES * done[:, 2]
    cycles = items[:, None] * cycles_at(work, data)
    return np.column_stack([np.ones(len(data)), transfer, items[:, None] * done, alone, cycles])


@dataclass(frozen=True, eq=False)
class Physics:
    """Devices by their constants.

    Attributes:
        constants: (devices, k) float64 logarithms of milliseconds for each unit of `PUBLISHED_TERMS` or `LAUNCH_TERMS`,
            whichever are as many.
        slope: Log ratio measured for each unit predicted, 0 to 1: how much of a peak kernels of others reach.
    """

    constants: Floats
    slope: float = 1.0

    def log_times(self, terms: Floats) -> Floats:
        """(n, devices) float64 of the sums of the terms."""
        of_launches = self.constants.shape[1] == len(LAUNCH_TERMS)
        known = terms[:, LAUNCH_TERMS if of_launches else PUBLISHED_TERMS]
        each = np.log(np.maximum(known, 1e-30))[:, None, :] + self.constants
        return np.logaddexp.reduce(each, axis=2)

    def targets(self, terms: Floats) -> Floats:
        """(n, devices) float64: mean log time, and by how much each device but the first is faster."""
        logs = self.log_times(terms)
        return np.hstack([logs.mean(axis=1, keepdims=True), self.slope * (logs[:, :1] - logs[:, 1:])])
