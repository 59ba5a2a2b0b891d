"""The arithmetic of speedups, of the time to an accuracy, and of break-even, on results made by hand."""

from dataclasses import replace

import pytest

from lab.tests.rooms import EpochEnd, Spread, SweepConfig, break_even, score_settings

STRONG = SweepConfig(worlds=(1, 2), batch_sizes=(32, 64), repeats=2, target=0.9)


def known(spread: Spread | None) -> Spread:
    assert spread is not None
    return spread


def test_ratios_take_the_worst_and_the_best_that_runs_allow():
    ratio = Spread(20.0, 10.0, 30.0).over(Spread(4.0, 2.0, 5.0))
    assert (ratio.median, ratio.low, ratio.high) == (5.0, 2.0, 15.0)
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)
    assert (Spread(0.5, 0.5, 0.5).to_text(), Spread(0.5, 0.25, 1).to_text()) == ("0.50", "0.50 (0.25–1.00)")


def test_speedups_are_against_the_best_single_process(plain, result):
    slow, fast = replace(plain, batch_size=32), plain
    two = replace(slow, world=2)
    runs = [result(slow, 40, 0), result(fast, 30, 0), result(two, 20, 0), result(fast, 34, 1), result(two, 24, 1)]
    found = {score.setting: score for score in score_settings(STRONG, runs)}
    # end to end: steps and 10 s beside them, of which 2 s are evaluations
    assert found[fast].seconds == Spread(40.0, 38.0, 42.0)
    assert found[fast].is_baseline
    assert not found[slow].is_baseline
    assert known(found[slow].speedup).median == pytest.approx(40 / 48, rel=0.01)
    speedup = known(found[two].speedup)
    assert speedup.median == pytest.approx((1 / 28 + 1 / 32) / (1 / 38 + 1 / 42))
    assert (speedup.low, speedup.high) == pytest.approx((38 / 32, 42 / 28))
    assert found[two].efficiency == pytest.approx(speedup.median / 2)
    # training alone: steps and input, checkpoints, rest
    assert found[two].training_s == Spread(25.0, 23.0, 27.0)
    # at batch 32, one process takes 41 s in steps and their input
    assert found[two].lost_s == pytest.approx(23 - 41 / 2)
    assert found[fast].lost_s is None


def test_efficiency_counts_cores(plain, result):
    threads, two = replace(plain, threads=2), replace(plain, world=2)
    runs = [result(plain, 40), result(threads, 30), result(two, 30)]
    found = {score.setting: score for score in score_settings(STRONG, runs)}
    assert found[threads].is_baseline
    assert known(found[two].speedup).median == found[two].efficiency == 1.0
    assert found[plain].efficiency == pytest.approx(2 * 38 / 48)


def test_speedups_of_one_size_are_against_that_size(plain, result):
    small = replace(plain, hidden=8)
    runs = [result(plain, 40), result(small, 4), result(replace(plain, world=2), 20)]
    assert known(score_settings(STRONG, runs)[2].speedup).median == pytest.approx(48 / 28)


def test_weak_scaling_compares_programs_a_second(plain, result):
    config = SweepConfig(worlds=(1, 2), batch_sizes=(64,), per_class=10, scaling="weak", target=0.9)
    one = replace(plain, per_class=10)
    two = replace(one, world=2, batch_size=128, per_class=20)
    scores = score_settings(config, [result(one, 40), result(two, 44, samples=240)])
    assert known(scores[1].speedup).median == pytest.approx(2 * 48 / 52)
    assert scores[1].efficiency == pytest.approx(48 / 52)
    assert scores[1].lost_s == pytest.approx(4)
    assert scores[1].target_speedup is None


def test_the_time_to_an_accuracy(plain, result):
    two = replace(plain, world=2)
    sooner = (EpochEnd(seconds=8.0, loss=1.0, accuracy=0.95),)
    never = (EpochEnd(seconds=8.0, loss=1.0, accuracy=0.85),)
    scores = score_settings(STRONG, [result(plain, 10), result(two, 10, epochs=sooner)])
    assert scores[0].seconds_to_target == Spread(12.0, 12.0, 12.0)
    assert known(scores[1].target_speedup).median == pytest.approx(12 / 8)
    scores = score_settings(
        STRONG, [result(plain, 10), result(two, 10, epochs=sooner), result(two, 9, 1, epochs=never)]
    )
    assert (scores[1].num_reached, scores[1].target_speedup) == (1, None)
    assert known(scores[1].seconds_to_target).median == 8.0


def test_failed_runs_are_counted_and_count_for_nothing(plain, result):
    two = replace(plain, world=2)
    scores = score_settings(STRONG, [result(plain, 10), result(two, None), result(two, 5, 1)])
    assert (scores[1].num_runs, scores[1].num_failed) == (2, 1)
    assert known(scores[1].seconds).median == 13
    scores = score_settings(STRONG, [result(plain, None), result(two, 5)])
    assert scores[0].seconds is None
    assert scores[1].speedup is None
    assert scores[1].lost_s is None
    assert not scores[0].is_baseline
    assert break_even(scores) == []


def sized(plain, result, ratios, **changes):
    """Scores of a sweep over sizes: seconds of steps of one process and of two ranks, for each."""
    runs = []
    for hidden, (one, two) in ratios.items():
        runs.append(result(replace(plain, hidden=hidden), one, num_weights=10 * hidden))
        runs.append(result(replace(plain, hidden=hidden, world=2), two, num_weights=10 * hidden))
        runs.append(result(replace(plain, hidden=hidden, world=2, strategy="local"), two + 1, num_weights=10 * hidden))
    return break_even(score_settings(STRONG, runs))


def test_break_even_is_the_size_from_which_on_ranks_pay(plain, result):
    end_to_end, training = sized(plain, result, {16: (8, 16), 32: (24, 20), 64: (92, 42)})
    assert (end_to_end.world, end_to_end.what, end_to_end.hidden) == (2, "end to end", 32)
    assert [point.speedup.median for point in end_to_end.points] == pytest.approx([16 / 24, 32 / 28, 2.0])
    assert end_to_end.points[0].setting.strategy == "mirrored"
    assert end_to_end.to_text() == (
        "2 ranks, end to end: pay from hidden 32 (320 weights) on, 1.14×; 0.67× at hidden 16"
    )
    assert training.what == "training alone"


def test_there_may_be_no_break_even(plain, result):
    found = sized(plain, result, {16: (24, 20), 32: (24, 30)})[0]
    assert found.hidden is None
    assert found.to_text() == "2 ranks, end to end: no break-even among hidden 16, 32; at most 1.14× at hidden 16"


def test_break_even_may_lie_below_what_was_measured(plain, result):
    found = sized(plain, result, {16: (24, 20), 32: (24, 20)})[0]
    assert found.hidden == 16
    assert found.to_text().endswith("1.14×, the smallest measured: break-even lies there or below")
