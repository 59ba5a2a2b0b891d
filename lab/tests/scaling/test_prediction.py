"""Predictions of speedups: what made the runs is found again, and what was not seen is near."""

from dataclasses import replace

import numpy as np
import pytest

from lab.tests.rooms import LINKS, ScalingSweep, Step, SweepConfig, predict_scaling, step_seconds
from ncc.errors import InputError
from tests.support.refuses import refuses

TRUE = np.array([2e-3, 1e-9, 2e-4, 5e-9, 2e-5, 0.0, 1e-3, 1 / 4e8])
"""A fixed part, weights, programs, products, stragglers, latency, and 400 MB a second."""


def _step(world: int, batch: int, hidden: int) -> Step:
    return Step(world=world, batch=batch / world, hidden=hidden, weights=2e6 + 3e3 * hidden, payload=3e6 + 1e4 * hidden)


@pytest.fixture
def results(plain, result):
    """Runs that took what the model says, but for some noise."""

    def make(noise: float = 0.0, worlds=(1, 2, 4)):
        rng, found = np.random.default_rng(0), []
        for world in worlds:
            for hidden in (16, 64, 256):
                for batch in (32, 64):
                    step = _step(world, batch, hidden)
                    seconds = step_seconds(TRUE, step) * float(np.exp(noise * rng.normal()))
                    setting = replace(plain, world=world, hidden=hidden, batch_size=batch)
                    changes = {"num_weights": round(step.weights), "hardware": {"device": "a processor", "cores": 8}}
                    changes["bytes_sent"] = (round(step.bytes_sent * 4),) * world
                    found.append(result(setting, 4 * seconds - 1, **changes))  # 4 steps, 1 s of which is input
        return found

    return make


def test_runs_without_noise_are_explained_and_predicted(results):
    found = predict_scaling(results(), (8, 64), "ethernet")
    assert max(map(abs, found["errors"].values())) < 0.01
    for point in found["points"]:
        alone, shared = _step(1, 64, point["hidden"]), _step(point["world"], 64, point["hidden"])
        expected = step_seconds(TRUE, alone) / step_seconds(TRUE, shared, LINKS["ethernet"])
        assert point["speedup"].median == pytest.approx(expected, rel=0.02)
    fast = predict_scaling(results(), (8, 64), "nvlink")
    for near, far in zip(fast["points"], found["points"], strict=True):
        assert near["speedup"].median > far["speedup"].median
    assert "prediction over nvlink" in fast["text"][0]


def test_noise_is_seen_in_errors_and_intervals_and_slowed_runs_are_not(results):
    quiet, loud = (predict_scaling(results(noise), (8,), "infiniband") for noise in (0.01, 0.1))
    assert 0.01 < np.median(np.abs([*loud["errors"].values()])) < 0.3
    widths = [[point["speedup"].high - point["speedup"].low for point in one["points"]] for one in (quiet, loud)]
    assert np.mean(widths[1]) > 3 * np.mean(widths[0]) > 0
    runs = results(0.01)
    slowed = [replace(one, measured=replace(one.measured, quick_step_s=9.0)) for one in runs[::2]]
    beside = predict_scaling([*slowed, *runs], (8,), "infiniband")
    assert beside["errors"] == pytest.approx(quiet["errors"])


def test_processes_that_share_a_core_take_twice_as_long():
    alone = _step(2, 64, 16)
    model = np.where(np.arange(8) < 6, TRUE, 0)
    assert step_seconds(model, replace(alone, sharing=2.0)) == pytest.approx(2 * step_seconds(model, alone))


def test_too_few_kinds_of_runs_predict_nothing(results):
    with refuses(InputError, "mirrored", "ranks"):
        predict_scaling(results(worlds=(1, 2)), (8,), "nvlink")


def test_a_prediction_is_in_the_report_and_among_the_figures(results, source):
    runs = results()
    sweep = ScalingSweep(
        SweepConfig(world=(1, 2, 4), hidden=(16, 64, 256)), source, tuple(runs), 2, 24, 0, 1.0,
        prediction=predict_scaling(runs, (8,), "nvlink"),
    )  # fmt: skip
    assert [point["world"] for point in sweep.to_dict()["prediction"]["points"]] == [8, 8, 8]
    page = sweep.to_text()
    parts = (
        "Strong scaling",
        "How large the model must be",
        "Every run",
        "Predicted over nvlink",
    )
    assert all(part in page for part in parts)
