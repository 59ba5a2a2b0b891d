"""Checkpoints: taken up inside an epoch to the bit, at the right time, and refused where they do not fit."""

import runpy
from pathlib import Path

import pytest
import torch

from ncc.errors import AssetError
from tests.support.refuses import refuses

RANKS = runpy.run_path(str(Path(__file__).parent / "strategy_ranks.py"))


@pytest.fixture(scope="module")
def cases(tmp_path_factory) -> dict[str, dict]:
    """What one process comes to, stopped and not."""
    return RANKS["stopped_cases"](tmp_path_factory.mktemp("stopped"))


@pytest.mark.parametrize("name", RANKS["STOPPED"])
@pytest.mark.parametrize("kind", ["dense", "rows"])
def test_one_process_that_was_stopped_ends_with_the_same_bytes(cases, kind, name):
    undisturbed, resumed = cases[f"{kind}, {name}"].values()
    for part in ("model", "losses", "checkpoint"):
        assert RANKS["is_same"](resumed[part], undisturbed[part]), part
    assert resumed["statistics"]["steps"] == 6


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


def test_a_damaged_checkpoint_is_named(tmp_path):
    path = tmp_path / "checkpoint.pt"
    _stopped(path)
    with refuses(AssetError, path):
        RANKS["result"](RANKS["network"](32), RANKS["Samples"](), path)
    for data in (b"", b"rubbish", path.read_bytes()[:-300]):
        (tmp_path / "damaged.pt").write_bytes(data)
        with refuses(AssetError, tmp_path / "damaged.pt"):
            _go_on(tmp_path / "damaged.pt")
    whole = torch.load(path, weights_only=True)
    lacking = [{name: value for name, value in whole.items() if name != gone} for gone in whole]
    wrong: list[object] = [[1, 2], 3, {"format_version": 3}, {"format_version": 4}, *lacking]
    for state in wrong:
        torch.save(state, path)
        with refuses(AssetError, path):
            _go_on(path)
