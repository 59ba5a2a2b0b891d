"""Predictions of speedups: what made the runs is found again, and what was not seen is near."""

from dataclasses import replace

import numpy as np
import pytest

from lab.tests.rooms import LINKS, ScalingSweep, Spread, Step, StepModel, SweepConfig, predict_scaling, sweep_parts
from ncc.errors import InputError

TRUE = StepModel(np.array([2e-3, 1e-9, 2e-4, 5e-9, 2e-5, 0.0, 1e-3, 1 / 4e8]))
"""A fixed part, weights, programs, products, stragglers, latency, and 400 MB a second."""


def _step(world: int, batch: int, hidden: int) -> Step:
    smallest = Step(world=world, batch=batch / world, hidden=16, weights=2e6, payload=3e6)
    return smallest.resized(hidden)


@pytest.fixture
def results(plain, result):
    """Runs that took what the model says, but for some noise."""

    def make(noise: float = 0.0, worlds=(1, 2, 4), sizes=(16, 64, 256)):
        rng, found = np.random.default_rng(0), []
        for world in worlds:
            for hidden in sizes:
                for batch in (32, 64):
                    step = _step(world, batch, hidden)
                    seconds = TRUE.seconds(step) * float(np.exp(noise * rng.normal()))
                    setting = replace(plain, world=world, hidden=hidden, batch_size=batch)
                    changes = {"num_weights": round(step.weights), "hardware": {"device": "a processor", "cores": 8}}
                    changes["bytes_sent"] = (round(step.bytes_sent * 4),) * world
                    found.append(result(setting, 4 * seconds - 1, **changes))  # 4 steps, 1 s of which is input
        return found

    return make


def test_sizes_of_the_network_count_as_they_are():
    from tests.rooms import EncoderNetwork, program_encoder, program_head

    def weights(hidden: int) -> int:
        vectors = np.zeros((3, 200), np.float32)
        network = EncoderNetwork(vectors, 5, program_encoder(hidden), program_head())
        return sum(parameter.numel() for parameter in network.parameters())

    step = Step(world=2, batch=8, hidden=16, weights=weights(16), payload=0.0).resized(64)
    assert step.weights == weights(64)
    assert step.payload == 4 * (weights(64) - weights(16))


def test_runs_without_noise_are_explained_and_predicted(results):
    found = predict_scaling(results(), (8, 64), "ethernet", strong=True)
    assert max(map(abs, found.errors.values())) < 0.01
    link = LINKS["ethernet"]
    for point in found.points:
        alone, shared = _step(1, 64, point.hidden), _step(point.world, 64, point.hidden)
        expected = TRUE.seconds(alone) / TRUE.seconds(shared, link)
        assert point.speedup.median == pytest.approx(expected, rel=0.02)
    assert [point.hidden for point in found.curve][:3] == [16, 32, 64]
    speedups = [point.speedup.median for point in found.curve]
    assert speedups == sorted(speedups)


def test_noise_is_seen_in_errors_and_intervals(results):
    quiet, loud = (predict_scaling(results(noise), (8,), "infiniband", strong=True) for noise in (0.01, 0.1))
    assert 0.01 < np.median(np.abs([*loud.errors.values()])) < 0.3
    widths = [[point.speedup.high - point.speedup.low for point in one.points] for one in (quiet, loud)]
    assert np.mean(widths[1]) > 3 * np.mean(widths[0]) > 0
    for point in loud.points:
        assert point.speedup.low <= point.speedup.high


def test_a_run_that_something_slowed_down_counts_for_nothing_beside_a_quicker_one_of_its_setting(results):
    quiet = results(0.01)
    slowed = [replace(one, measured=replace(one.measured, quick_step_s=9.0)) for one in quiet[::2]]
    alone, beside = (predict_scaling(some, (8,), "infiniband", strong=True) for some in (quiet, [*slowed, *quiet]))
    assert beside.errors == pytest.approx(alone.errors)
    assert beside.num_settings == alone.num_settings == len(quiet)


def test_a_step_takes_what_the_quick_ones_took_where_that_was_measured(plain, result):
    slow = result(plain, 9.0)
    quick = result(plain, 9.0, quick_step_s=0.25)
    assert Step.of_run(quick).seconds == 0.25
    assert Step.of_run(slow).seconds == pytest.approx(10 / slow.measured.steps)  # 1 s of which is input


def test_the_fixed_part_takes_twice_as_long_where_two_processes_share_a_core():
    alone = _step(2, 64, 16)
    model = StepModel(np.array([2e-3, 1e-9, 2e-4, 5e-9, 2e-5, 0.0, 0.0, 0.0]))
    assert model.seconds(replace(alone, sharing=2.0)) == pytest.approx(2 * model.seconds(alone))


def test_a_batch_for_each_rank_hides_more_of_the_exchange(results):
    strong, weak = (predict_scaling(results(), (64,), "infiniband", strong=strong) for strong in (True, False))
    assert weak.points[0].speedup.median > 2 * strong.points[0].speedup.median


def test_slower_links_are_slower_and_the_text_says_from_where_on_ranks_pay(results):
    fast, slow = (predict_scaling(results(), (2,), link, strong=True) for link in ("nvlink", "ethernet"))
    for near, far in zip(fast.curve, slow.curve, strict=True):
        assert near.speedup.median > far.speedup.median
    assert "over nvlink a second rank pays from 16 units on (as fitted), from 16 units on (by the intervals)" in (
        fast.to_text()
    )
    large = [replace(point, speedup=Spread(2.0 * (point.hidden > 64), 0.5, 3.0)) for point in slow.curve]
    text = replace(slow, curve=tuple(large)).to_text()[-1]
    assert "pays from 128 units on (as fitted), at no size from which on it would (by the intervals)" in text


def test_too_few_kinds_of_runs_predict_nothing(results):
    with pytest.raises(InputError, match="too few runs of 1, 2 and more mirrored ranks"):
        predict_scaling(results(worlds=(1, 2)), (8,), "nvlink", strong=True)


def test_a_prediction_is_in_the_report_and_among_the_figures(results, source):
    runs = results()
    sweep = ScalingSweep(
        SweepConfig(worlds=(1, 2, 4)), source, tuple(runs), 2, 24, 0, 1.0, 1.0,
        prediction=predict_scaling(runs, (8,), "nvlink", strong=True),
    )  # fmt: skip
    text = "\n".join(map(str, sweep_parts(sweep)))
    assert "of one that it did not see the step time is" in text
    assert [point["world"] for point in sweep.to_dict()["prediction"]["points"]] == [8, 8, 8]
    page = sweep.to_page({})
    assert "Predicted over nvlink" in page
    assert "Predicted over nvlink" in page
