"""Speedups, times to an accuracy and break-even of results made by hand; predictions find again what made the runs."""

from dataclasses import replace

import numpy as np
import pytest

from lab.tests.rooms import (
    LINKS,
    EpochEnd,
    ScalingSweep,
    Spread,
    Step,
    SweepConfig,
    break_even,
    predict_scaling,
    score_settings,
    step_seconds,
)
from ncc.errors import InputError
from tests.support.refuses import refuses

STRONG = SweepConfig(world=(1, 2), batch_size=(32, 64), repeats=2, target=0.9)


def scores(runs, config=STRONG):
    """Setting → its row."""
    return {row.setting: row for row in score_settings(config, runs).itertuples()}


def test_ratios_take_the_worst_and_the_best_that_runs_allow():
    assert Spread(20.0, 10.0, 30.0).over(Spread(4.0, 2.0, 5.0)) == (5.0, 2.0, 15.0)
    assert (Spread(0.5, 0.5, 0.5).to_text(), Spread(0.5, 0.25, 1).to_text()) == ("0.50", "0.50 (0.25–1.00)")


def test_speedups_are_against_the_best_single_process(plain, result):
    slow, fast = replace(plain, batch_size=32), plain
    two, small = replace(slow, world=2), replace(plain, hidden=8)
    runs = [result(slow, 40, 0), result(fast, 30, 0), result(two, 20, 0), result(fast, 34, 1), result(two, 24, 1)]
    found = scores([*runs, result(small, 4)])
    # end to end: steps and 10 s beside them, of which 2 s are evaluations
    assert found[fast].seconds == Spread(40.0, 38.0, 42.0)
    assert [found[one].is_baseline for one in (fast, slow, small)] == [True, False, True]
    assert found[slow].speedup.median == pytest.approx(40 / 48, rel=0.01)
    assert found[two].speedup.median == pytest.approx((1 / 28 + 1 / 32) / (1 / 38 + 1 / 42))
    assert found[two].speedup[1:] == pytest.approx((38 / 32, 42 / 28))
    # training alone: steps and input, checkpoints, rest
    assert found[two].training_s == Spread(25.0, 23.0, 27.0)
    # at batch 32, one process takes 41 s in steps and their input
    assert found[two].lost_s == pytest.approx(23 - 41 / 2)
    assert found[fast].lost_s is None


def test_a_process_of_several_threads_may_be_the_best(plain, result):
    threads, two = replace(plain, threads=2), replace(plain, world=2)
    found = scores([result(plain, 40), result(threads, 30), result(two, 30)])
    assert found[threads].is_baseline
    assert found[two].speedup.median == 1.0
    assert found[plain].speedup.median == pytest.approx(38 / 48)


def test_the_time_to_an_accuracy(plain, result):
    two = replace(plain, world=2)
    sooner = (EpochEnd(seconds=8.0, loss=1.0, accuracy=0.95),)
    never = (EpochEnd(seconds=8.0, loss=1.0, accuracy=0.85),)
    runs = [result(plain, 10), result(two, 10, epochs=sooner)]
    found = scores(runs)
    assert found[plain].seconds_to_target == Spread(12.0, 12.0, 12.0)
    assert found[two].target_speedup.median == pytest.approx(12 / 8)
    found = scores([*runs, result(two, 9, 1, epochs=never)])
    assert (found[two].num_reached, found[two].target_speedup) == (1, None)
    assert found[two].seconds_to_target.median == 8.0


def test_failed_runs_are_counted_and_count_for_nothing(plain, result):
    two = replace(plain, world=2)
    found = scores([result(plain, 10), result(two, None), result(two, 5, 1)])[two]
    assert (found.num_runs, found.num_failed, found.seconds.median) == (2, 1, 13)
    frame = score_settings(STRONG, [result(plain, None), result(two, 5)])
    assert frame.seconds[0] is frame.speedup[1] is frame.lost_s[1] is None
    assert not frame.is_baseline[0]
    assert break_even(frame) == []


@pytest.mark.parametrize(
    ("seconds", "hidden", "text"),
    [
        (
            {16: (8, 16), 32: (24, 20), 64: (92, 42)},
            32,
            "pay from hidden 32 (320 weights) on, 1.14×; 0.67× at hidden 16",
        ),
        ({16: (24, 20), 32: (24, 30)}, None, "no break-even among hidden 16, 32; at most 1.14× at hidden 16"),
        ({16: (24, 20), 32: (24, 20)}, 16, "pay from hidden 16 (160 weights) on, 1.14×, the smallest measured"),
    ],
)
def test_break_even_is_the_size_from_which_on_ranks_pay(plain, result, seconds, hidden, text):
    runs = []
    for size, (one, two) in seconds.items():
        setting = replace(plain, hidden=size)
        for shared, steps_s in ((setting, one), (replace(setting, world=2), two)):
            runs.append(result(shared, steps_s, num_weights=10 * size))
        runs.append(result(replace(setting, world=2, strategy="local"), two + 1, num_weights=10 * size))
    end_to_end, training = break_even(score_settings(STRONG, runs))
    assert (end_to_end["world"], end_to_end["what"], end_to_end["hidden"]) == (2, "end to end", hidden)
    assert end_to_end["text"].startswith(f"2 ranks, end to end: {text}")
    assert end_to_end["points"][0]["setting"].strategy == "mirrored"
    assert training["what"] == "training alone"


TRUE = np.array([2e-3, 1e-9, 2e-4, 5e-9, 2e-5, 0.0, 1e-3, 1 / 4e8])
"""A fixed part, weights, programs, products, stragglers, latency, and 400 MB a second."""


def _step(world: int, batch: int, hidden: int) -> Step:
    return Step(world=world, batch=batch / world, hidden=hidden, weights=2e6 + 3e3 * hidden, payload=3e6 + 1e4 * hidden)


@pytest.fixture
def results(plain, result):
    """Runs that took as long as the model says, plus some noise."""

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
