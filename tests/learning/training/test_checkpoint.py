"""Checkpoints: taken up inside an epoch to the bit, at the right time, and refused where they do not fit."""

import runpy
from pathlib import Path

import pytest
import torch

from ncc.errors import AssetError
from tests.rooms import CheckpointClock
from tests.support.refuses import refuses

RANKS = runpy.run_path(str(Path(__file__).parent / "strategy_ranks.py"))
STRATEGIES = RANKS["STOPPED"]


def _same(a, b):
    assert a["losses"] == b["losses"]
    for name, tensor in a["model"].items():
        assert torch.equal(tensor, b["model"][name]), name


@pytest.mark.parametrize("name", STRATEGIES)
def test_one_process_that_was_stopped_inside_epochs_ends_with_the_same_bits(tmp_path, name):
    resumed = RANKS["resumed"](STRATEGIES[name], tmp_path / "checkpoint.pt")
    _same(resumed, RANKS["noisy"](STRATEGIES[name]))
    assert resumed["statistics"]["steps"] == 4


def _stopped(path: Path, stop_at: int = 9, **options) -> None:
    with pytest.raises(RANKS["StoppedError"]):
        RANKS["result"](RANKS["network"](), RANKS["Samples"](stop_at=stop_at), path, **options)


def _go_on(path: Path, number: int = 43, **options) -> dict:
    return RANKS["result"](RANKS["network"](), RANKS["Samples"](number), path, **options)


@pytest.mark.parametrize(("seconds", "steps"), [(0.0, 18 - 6), (1e-9, 18 - 8), (1000.0, 18 - 6)])
def test_checkpoints_inside_an_epoch_are_made_by_the_clock(tmp_path, seconds, steps):
    path = tmp_path / "checkpoint.pt"
    _stopped(path, checkpoint_every_s=seconds)
    assert _go_on(path)["statistics"]["steps"] == steps


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 4}, "epochs 3, not 4"),
        ({"seed": 1}, "seed 204, not 1"),
        ({"strategy": "central"}, "strategy 'mirrored', not 'central'"),
        ({"seed": 1, "batch_size": 9}, "batch_size 8, not 9, seed 204, not 1"),
        ({"number": 42}, "samples 43, not 42"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(tmp_path, options, message):
    path = tmp_path / "checkpoint.pt"
    _stopped(path)
    with refuses(AssetError, path, message):
        _go_on(path, **options)


@pytest.mark.parametrize(
    "state",
    [[1, 2], 3, {"losses": [], "model": {}}, {"format_version": 2}, {"format_version": 3}, b"", b"rubbish", None],
)
def test_a_damaged_checkpoint_is_named(tmp_path, state):
    path = tmp_path / "checkpoint.pt"
    _stopped(path)
    if state is None:
        state = path.read_bytes()[:-300]
    if isinstance(state, bytes):
        path.write_bytes(state)
    else:
        torch.save(state, path)
    with refuses(AssetError, path):
        _go_on(path)


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    path = tmp_path / "checkpoint.pt"
    _stopped(path)
    with refuses(AssetError, path):
        RANKS["result"](RANKS["network"](32), RANKS["Samples"](), path)


@pytest.mark.parametrize("name", ["model", "strategy", "step", "ranks", "loss_sum"])
def test_a_checkpoint_that_lacks_something_is_refused(tmp_path, name):
    path = tmp_path / "checkpoint.pt"
    _stopped(path)
    state = torch.load(path, weights_only=True)
    del state[name]
    torch.save(state, path)
    with refuses(AssetError, path, name):
        _go_on(path)


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """The time, which stands still."""
    time = [0.0]
    monkeypatch.setattr("ncc.learning.training.checkpoint.time.monotonic", lambda: time[0])
    return time


def test_the_clock_asks_seldom_and_for_a_checkpoint_when_its_time_has_come(now, monkeypatch):
    asked: list[float] = []

    def ask(decide):
        asked.append(now[0])
        return decide()

    monkeypatch.setattr("ncc.learning.training.checkpoint.broadcast_result", ask)
    clock, due = CheckpointClock(1000.0), []
    for second in range(1, 2020):
        now[0] = second
        if clock.due(is_synchronized=True):
            due.append(second)
            clock.restart()
    assert due == [1000, 2000]
    assert len(asked) < 50  # 1, 2, 4 … steps apart
