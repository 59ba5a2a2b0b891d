"""Which runs a sweep consists of, and what it refuses."""

import numpy as np
import pytest

from lab.tests.rooms import SweepConfig, first_of_each
from ncc.errors import InputError
from tests.support.refuses import refuses


def test_one_process_runs_once_for_all_ways_of_sharing():
    config = SweepConfig(
        world=(1, 2, 4), strategy=("local", "mirrored"), compression=("none", "topk"), batch_size=(32, 64)
    )
    found = [(one.world, one.strategy, one.compression, one.batch_size) for one in config.settings()]
    ways = [("local", "none"), ("mirrored", "none"), ("mirrored", "topk")]
    assert found == [
        row
        for batch_size in (32, 64)
        for row in [
            (1, "mirrored", "none", batch_size),
            *((world, *way, batch_size) for world in (2, 4) for way in ways),
        ]
    ]


def test_a_repeat_runs_every_setting_before_the_next_begins():
    runs = SweepConfig(world=(1, 2), hidden=(8, 16), threads=(1, 2), repeats=2, seed=5).runs()
    assert [run.seed for run in runs] == [5] * 6 + [6] * 6
    assert [run.setting for run in runs[:6]] == [run.setting for run in runs[6:]]
    assert [(run.setting.world, run.setting.threads) for run in runs[:3]] == [(1, 1), (1, 2), (2, 1)]


def test_trainings_are_those_of_the_command_but_for_what_a_setting_says():
    (setting,) = SweepConfig(world=(1,), hidden=(16,), epochs=3).settings()
    training = setting.training(7)
    assert (training.encoder.hidden, training.loop.epochs, training.loop.seed, training.min_steps) == (16, 3, 7, 1)
    assert training.loop.mixed_precision


@pytest.mark.parametrize(
    ("options", "nouns"),
    [
        ({"world": (1, 0)}, ("world", "found 0")),
        ({"world": ()}, ("world", "none")),
        ({"world": (2, 4)}, ("world", "1 among")),
        ({"strategy": ("local",), "compression": ("topk",)}, ("topk", "mirrored", "local")),
        ({"strategy": ("magic",)}, ("strategy", "magic")),
        ({"compression": ("zip",)}, ("compression", "zip")),
        ({"per_class": 0}, ("per_class", "0")),
        ({"epochs": 0}, ("epochs", "0")),
        ({"batch_size": (0,)}, ("batch_size", "0")),
        ({"hidden": (128, -1)}, ("hidden", "-1")),
        ({"repeats": 0}, ("repeats", "0")),
        ({"timeout": 0.0}, ("timeout", "0.0")),
        ({"target": 60.0}, ("target", "60.0")),
    ],
)
def test_nonsense_is_refused(options, nouns):
    with refuses(InputError, *nouns):
        SweepConfig(**options)


def test_a_larger_part_of_the_programs_holds_a_smaller_one():
    label = np.array([0, 1] * 10 + [1] * 5)
    rows = np.arange(3, 25)
    small, large = (first_of_each(label, rows, number) for number in (2, 9))
    assert np.bincount(label[small]).tolist() == [2, 2]
    assert np.bincount(label[large]).tolist() == [8, 9]
    assert set(small) <= set(large) <= set(rows)
