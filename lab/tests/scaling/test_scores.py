"""The arithmetic of speedups, of the time to an accuracy, and of break-even, on results made by hand."""

from dataclasses import replace

import pytest

from lab.tests.rooms import EpochEnd, Spread, SweepConfig, break_even, score_settings

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
