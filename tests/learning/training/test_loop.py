"""The training loop learns, stops inside an epoch and goes on to the bit; its checkpoints fit or are refused."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from ncc.errors import AssetError
from tests.rooms import STRATEGIES, TrainingConfig, TrainingStatistics, train
from tests.support.refuses import refuses

Samples = runpy.run_path(str(Path(__file__).parent / "strategy_ranks.py"))["Samples"]


def _model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Dropout(0.2), nn.Linear(16, 1))


def _train(model=None, data=None, checkpoint=None, progress=None, **values):
    model = model or _model()
    config = TrainingConfig(**({"epochs": 6, "batch_size": 8} | values))
    losses = train(
        model, data or Samples(40, noise=0.01), nn.functional.mse_loss, config, checkpoint=checkpoint, progress=progress
    )
    return model, losses


def _same_weights(a, b):
    assert a.state_dict().keys() == b.state_dict().keys()
    for name, tensor in a.state_dict().items():
        assert torch.equal(tensor, b.state_dict()[name]), name


def test_the_loss_falls_and_the_model_is_left_in_evaluation_mode():
    model, losses = _train(epochs=60, learning_rate=0.01)
    assert len(losses) == 60
    assert np.mean(losses[-5:]) < 0.7 * losses[0]
    assert not model.training


def test_a_finished_run_is_read_and_not_done_again(tmp_path):
    path, seen = tmp_path / "checkpoint.pt", []
    whole, losses = _train(checkpoint=path)
    read, again = _train(_model(seed=5), checkpoint=path, progress=lambda *step: seen.append(step))
    assert again == losses
    assert seen == []
    assert not read.training
    _same_weights(read, whole)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_alone_every_strategy_is_plain_training(strategy):
    model, losses = _train(strategy=strategy)
    plain, same = _train()
    assert losses == same
    _same_weights(model, plain)


def test_one_process_sends_nothing_and_counts_steps_and_samples():
    statistics = TrainingStatistics()
    train(_model(), Samples(40), nn.functional.mse_loss, TrainingConfig(epochs=2, batch_size=8), statistics=statistics)
    assert (statistics.bytes_sent, statistics.steps, statistics.samples) == (0, 10, 80)
    assert 0 < statistics.seconds_in_data < statistics.seconds_in_steps < statistics.seconds_total
    assert len(statistics.seconds_of_steps) == statistics.steps
    assert sum(statistics.seconds_of_steps) == pytest.approx(statistics.seconds_in_steps)
    assert statistics.seconds_in_checkpoints == 0


@pytest.mark.gpu  # needs a CUDA device
def test_on_a_gpu_losses_are_near_and_times_are_those_of_its_queue():
    def run(device: str) -> tuple[list[float], TrainingStatistics]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)).to(device)
        statistics = TrainingStatistics()
        config = TrainingConfig(epochs=6, batch_size=8)
        return train(model, Samples(), nn.functional.mse_loss, config, statistics=statistics), statistics

    (expected, _), (losses, statistics) = run("cpu"), run("cuda")
    assert losses == pytest.approx(expected, abs=1e-4)
    assert 0 < statistics.seconds_in_data < statistics.seconds_in_steps < statistics.seconds_total


RANKS = runpy.run_path(str(Path(__file__).parent / "strategy_ranks.py"))


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
        ({"strategy": "local"}, "strategy 'mirrored', not 'local'"),
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
