"""Which runs a sweep consists of, and what it refuses."""

import numpy as np
import pytest

from lab.tests.rooms import SweepConfig, first_of_each
from ncc.errors import InputError


def test_one_process_runs_once_for_all_ways_of_sharing():
    config = SweepConfig(
        worlds=(1, 2, 4), strategies=("mirrored", "local"), compressions=("none", "topk"), batch_sizes=(32, 64)
    )
    found = [(one.world, one.strategy, one.compression, one.batch_size) for one in config.settings()]
    ways = [("mirrored", "none"), ("mirrored", "topk"), ("local", "none")]
    assert found == [
        row
        for batch_size in (32, 64)
        for row in [
            (1, "mirrored", "none", batch_size),
            *((world, *way, batch_size) for world in (2, 4) for way in ways),
        ]
    ]


def test_strong_scaling_keeps_the_work_and_weak_scaling_that_of_a_rank():
    strong = SweepConfig(worlds=(1, 2), batch_sizes=(32,), per_class=10)
    assert [(one.batch_size, one.per_class) for one in strong.settings()] == [(32, 10), (32, 10)]
    weak = SweepConfig(worlds=(1, 2), batch_sizes=(32,), per_class=10, scaling="weak")
    assert [(one.batch_size, one.per_class) for one in weak.settings()] == [(32, 10), (64, 20)]


def test_a_repeat_runs_every_setting_before_the_next_begins():
    runs = SweepConfig(worlds=(1, 2), hidden=(8, 16), repeats=2, seed=5).runs()
    assert [run.seed for run in runs] == [5] * 4 + [6] * 4
    assert [run.setting for run in runs[:4]] == [run.setting for run in runs[4:]]
    assert len({run.setting for run in runs}) == 4


def test_threads_are_tried_with_one_rank_alone():
    settings = SweepConfig(worlds=(1, 2), threads=(1, 2)).settings()
    assert [(one.world, one.threads) for one in settings] == [(1, 1), (1, 2), (2, 1)]


def test_trainings_are_those_of_the_command_but_for_what_a_setting_says():
    (setting,) = SweepConfig(worlds=(1,), hidden=(16,), epochs=3).settings()
    training = setting.training(7)
    assert (training.encoder.hidden, training.loop.epochs, training.loop.seed, training.min_steps) == (16, 3, 7, 1)
    assert training.loop.mixed_precision


def test_batches_of_all_settings_are_cut_as_asked():
    settings = SweepConfig(worlds=(1, 2), cut="tokens").settings()
    assert [setting.training(1).batch_by for setting in settings] == ["tokens", "tokens"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"worlds": (1, 0)}, "world: expected 1 or more, found 0"),
        ({"worlds": ()}, "world: expected one or more"),
        ({"worlds": (2, 4)}, "world: expected 1 among the numbers of ranks"),
        ({"strategies": ("local",), "compressions": ("topk",)}, "compression topk needs strategy mirrored, not local"),
        ({"strategies": ("magic",)}, "strategy is 'magic'"),
        ({"compressions": ("zip",)}, "compression is 'zip'"),
        ({"cut": "words"}, "batch_by is 'words'"),
        ({"scaling": "wide"}, "scaling is 'wide'"),
        ({"scaling": "weak"}, "weak scaling needs the number of programs per class"),
        ({"per_class": 0}, "per_class is 0"),
        ({"epochs": 0}, "epochs is 0; expected 1 or more"),
        ({"batch_sizes": (0,)}, "batch_size: expected 1 or more"),
        ({"hidden": (128, -1)}, "hidden: expected 1 or more"),
        ({"repeats": 0}, "expected 1 repeat or more"),
        ({"timeout_s": 0.0}, "a time limit above 0"),
        ({"target": 60.0}, "target is 60.0"),
    ],
)
def test_nonsense_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        SweepConfig(**options)


def test_a_larger_part_of_the_programs_holds_a_smaller_one():
    label = np.array([0, 1] * 10 + [1] * 5)
    rows = np.arange(3, 25)
    small, large = (first_of_each(label, rows, number) for number in (2, 9))
    assert np.bincount(label[small]).tolist() == [2, 2]
    assert np.bincount(label[large]).tolist() == [8, 9]
    assert set(small) <= set(large) <= set(rows)
    assert first_of_each(label, rows, 100).tolist() == rows.tolist()
