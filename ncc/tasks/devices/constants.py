"""Fits a machine's constants, `Physics`, to measured times."""

from collections.abc import Mapping

import numpy as np
from scipy.optimize import minimize

from ncc.arrays import Floats, Ints
from ncc.kernels.measure.devices_table import LaunchTimes
from ncc.tasks.devices.columns import launch_physics
from ncc.tasks.devices.features import KernelInputs
from ncc.tasks.devices.physics import LAUNCH_TERMS, PRIORS, Physics

_PRIOR_SD = 2.0
_WEIGHT = 500.0


def knows_launches(table: LaunchTimes, sources: Mapping[str, str] | None) -> bool:
    """Whether models are told what a thread does at a launch: in tables of one's own with work-items."""
    return sources is None and bool(np.isfinite(table.global_size).any())


def own_constants(table: LaunchTimes, inputs: KernelInputs, sources: Mapping[str, str] | None) -> Physics | None:
    """The devices' constants where models learn what these leave: in tables of one's own with work-items."""
    if not knows_launches(table, sources):
        return None
    return fit_constants(table, launch_physics(inputs, table.sizes), LAUNCH_TERMS)


def fit_constants(table: LaunchTimes, terms: Floats, known: Ints) -> Physics:
    """Constants with the least error (pseudo-Huber) in log times, held near those of the data sheets.

    Of a device whose kind is not known, near those of the kind that explains its times better.

    Args:
        table: The n launches.
        terms: (n, NUM_TERMS) float64, see `ncc.tasks.devices.physics.launch_terms`.
        known: Which of them count, `PUBLISHED_TERMS` or `LAUNCH_TERMS`.
    """
    constants = []
    logs = np.log(np.maximum(terms[:, known], 1e-30))
    for device, measured in zip(table.devices, table.log_times.T, strict=True):

        def loss(own: Floats, prior: Floats, measured: Floats = measured) -> tuple[float, Floats]:
            total = np.logaddexp.reduce(logs + own, axis=1)
            wrong = total - measured
            bent_error = np.sqrt(1 + wrong**2)
            away = (own - prior) / _PRIOR_SD**2
            slope = np.exp(logs + own - total[:, None]) * (wrong / bent_error)[:, None]
            share = _WEIGHT / max(len(wrong), 1)
            return share * float((bent_error - 1).sum()) + float(away @ (own - prior)) / 2, share * slope.sum(
                axis=0
            ) + away

        priors = np.log([PRIORS[device]] if device in PRIORS else list(PRIORS.values()))[:, known]
        found = [minimize(loss, prior, (prior,), jac=True, method="L-BFGS-B") for prior in priors]
        constants.append(min(found, key=lambda one: one.fun).x)
    return Physics(np.array(constants))
