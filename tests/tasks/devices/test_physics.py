"""Times by machines' constants: which terms they are of, and how they are fitted to tables."""

import numpy as np
import pytest

from tests.rooms import LAUNCH_TERMS, NUM_TERMS, PRIORS, PUBLISHED_TERMS, LaunchTimes, MachineModel, fit_machine


@pytest.fixture
def terms():
    return np.exp(np.random.default_rng(0).uniform(-5, 15, (300, NUM_TERMS)))


@pytest.mark.parametrize("known", [PUBLISHED_TERMS, LAUNCH_TERMS])
def test_times_are_sums_of_the_terms_that_constants_are_of(terms, known):
    logs = MachineModel(np.zeros((2, len(known)))).log_times(terms)
    assert np.exp(logs) == pytest.approx(np.repeat(terms[:, known].sum(axis=1)[:, None], 2, axis=1))


def table_of(devices: tuple[str, ...], times: np.ndarray) -> LaunchTimes:
    number = len(times)
    names, sizes = np.full(number, "k"), np.ones(number)
    return LaunchTimes(
        devices=devices,
        **dict.fromkeys(("file", "kernel", "family", "suite"), names),
        **dict.fromkeys(("global_size", "local_size", "transfer_bytes"), sizes),
        times_ms=times,
    )


@pytest.mark.parametrize("known", [PUBLISHED_TERMS, LAUNCH_TERMS])
def test_constants_follow_from_times_whatever_devices_are_called(terms, known):
    true = MachineModel(np.log([PRIORS["GPU"], PRIORS["CPU"]])[:, known])
    found = fit_machine(table_of(("this", "that"), np.exp(true.log_times(terms))), terms, known)
    assert found.constants == pytest.approx(true.constants, abs=0.01)  # near the prior of each one's own kind
