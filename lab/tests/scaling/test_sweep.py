"""``ncc bench scaling``: which runs a sweep consists of, one over a small folder of classes, and what is refused."""

import json

import numpy as np
import pytest

from lab.tests.rooms import SweepConfig, first_of_each, run_sweep
from ncc.errors import InputError
from tests.support.refuses import refuses
from tests.support.verbs import run_here

PARTS = ("Strong scaling", "How large the model must be", "Every run")


@pytest.mark.full
def test_a_sweep_over_one_and_two_ranks(classes, cache, tmp_path):
    small = ("--hidden", "8", "--epochs", "2", "--batch-size", "4", "--repeats", "1", "--per-class", "6")
    output = ("-o", tmp_path / "figures.json")
    finished = run_here("bench", "scaling", classes, "--programs", cache, *small, "--target", "0.01", *output)
    assert finished.code == 0, finished.err
    assert not finished.err  # progress is for terminals
    assert all(part in finished.out for part in PARTS)
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert {"command", "hardware", "versions", "preparing_s"} <= set(figures)
    one, two = figures["runs"]
    assert (one["world"], two["world"], one["ok"], two["ok"]) == (1, 2, True, True)
    for run in (one, two):
        assert (run["num_training"], run["samples"], run["steps"], len(run["epochs"])) == (12, 24, 6, 2)
        assert sum(run["phases"].values()) == pytest.approx(run["wall_s"])
        assert min(run["phases"].values()) >= 0
        evaluations = run["phases"]["validation_s"] + run["phases"]["test_s"]
        assert run["seconds"] == pytest.approx(run["wall_s"] - evaluations)
        assert run["epochs"][-1]["seconds"] < run["seconds"]
    assert one["bytes_sent"] == [0]
    # 6 gradients in float32, from each rank, less the rows of tables that no batch touched
    assert two["bytes_sent"][0] == two["bytes_sent"][1] < 6 * 4 * two["num_weights"]
    assert [setting["num_reached"] for setting in figures["settings"]] == [1, 1]
    assert [setting["is_baseline"] for setting in figures["settings"]] == [True, False]
    assert [one["what"] for one in figures["break_even"]] == ["end to end", "training alone"]


def test_a_run_that_fails_is_listed_and_the_others_are_kept(source, result):
    def start(run, _source, **_options):
        return result(run.setting, None if run.setting.world == 2 else 5.0, run.repeat)

    lines: list[str] = []
    sweep = run_sweep(SweepConfig(hidden=(8,), repeats=2), source, progress=lines.append, start=start)
    assert lines[-1] == "run 4 of 4: 2 ranks, mirrored, batch 64, hidden 8, seed 205: failed: killed"
    figures = json.loads(json.dumps(sweep.to_dict(), allow_nan=False))
    assert [run["ok"] for run in figures["runs"]] == [True, False, True, False]
    assert [setting["num_failed"] for setting in figures["settings"]] == [0, 2]
    page = sweep.to_text()
    assert "failed: killed" in page
    assert "2 of 4 runs failed" in page


@pytest.mark.parametrize(
    ("arguments", "nouns"),
    [
        (("--world", "0,1"), ("world", "found 0")),
        (("--world", "one"), ("--world", "one")),
        (("--predict", "8"), ("prediction", "ranks")),
        (("--predict", "8", "--world", "1,2,4", "--link", "rope"), ("rope", "nvlink")),
        (("--levels", "7"), ("level", "7")),
    ],
)
def test_wrong_usage_is_refused(classes, cache, arguments, nouns):
    finished = run_here("bench", "scaling", classes, "--programs", cache, *arguments)
    assert (finished.code, finished.out) == (2, "")
    assert all(noun in finished.err for noun in nouns)


def test_one_process_runs_once_for_all_ways_of_sharing():
    config = SweepConfig(
        world=(1, 2, 4), strategy=("local", "mirrored"), compression=("none", "fp16"), batch_size=(32, 64)
    )
    found = [(one.world, one.strategy, one.compression, one.batch_size) for one in config.settings()]
    ways = [("local", "none"), ("mirrored", "none"), ("mirrored", "fp16")]
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
        ({"strategy": ("local",), "compression": ("fp16",)}, ("fp16", "mirrored", "local")),
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
