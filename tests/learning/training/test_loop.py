"""The training loop: it learns, stops and goes on without a trace, and gives one model on many ranks."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from ncc.errors import AssetError, InputError
from tests.rooms import STRATEGIES, TrainingConfig, TrainingStatistics, train
from tests.support.refuses import refuses


class Samples:
    """Sequences of numbers and the sine of their sum; batches draw noise, as forms of kernels are drawn."""

    def __init__(self, number: int = 40) -> None:
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randn(number, 4, generator=generator)
        self.y = self.x.sum(dim=1, keepdim=True).sin()

    def __len__(self) -> int:
        return len(self.x)

    def digest(self) -> str:
        return str(float(self.y.sum()))

    def batches(self, batch_size, rng):
        order = rng.permutation(len(self))
        return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]

    def batch(self, samples, rng):
        noise = torch.from_numpy(rng.normal(0, 0.01, (len(samples), 4)).astype(np.float32))
        return (self.x[samples] + noise,), self.y[samples]


def _model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Dropout(0.2), nn.Linear(16, 1))


def _train(model=None, data=None, checkpoint=None, progress=None, **values):
    model = model or _model()
    config = TrainingConfig(**({"epochs": 6, "batch_size": 8} | values))
    losses = train(model, data or Samples(), nn.functional.mse_loss, config, checkpoint=checkpoint, progress=progress)
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


def test_the_same_seed_gives_the_same_bits_whatever_was_drawn_before():
    first, losses = _train()
    model = _model()
    torch.rand(1000)
    again, same = _train(model)
    assert losses == same
    _same_weights(first, again)
    assert _train(seed=1)[1] != losses


def test_the_first_20_losses_are_those_of_before():
    _, losses = _train(epochs=4)  # 5 steps an epoch
    assert losses == pytest.approx([0.5486, 0.5391, 0.4459, 0.4778], abs=2e-3)


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("stops", [(1,), (2, 5), (1, 2, 3, 4, 5)])
def test_resuming_equals_not_having_stopped(tmp_path, stops):
    whole, losses = _train()
    path = tmp_path / "deep" / "checkpoint.pt"
    for stop in stops:

        def halt(epoch, _, stop=stop):
            if epoch == stop:
                raise StoppedError

        with pytest.raises(StoppedError):
            _train(_model(seed=0 if stop == stops[0] else stop), checkpoint=path, progress=halt)
    resumed, again = _train(_model(seed=99), checkpoint=path)
    assert again == losses
    _same_weights(resumed, whole)


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
    model, losses = _train(strategy=strategy, staleness=0)
    plain, same = _train()
    assert losses == same
    _same_weights(model, plain)


@pytest.mark.parametrize("micro_batches", [2, 3, 100])
def test_pieces_give_the_gradient_of_the_whole(micro_batches):
    def network():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    data = Samples(43)
    whole, losses = _train(network(), data)
    pieces, same = _train(network(), data, micro_batches=micro_batches)
    assert same == pytest.approx(losses, abs=1e-6)
    for name, tensor in whole.state_dict().items():
        assert torch.allclose(tensor, pieces.state_dict()[name], atol=1e-6, rtol=0), name


def test_one_process_sends_nothing_and_counts_steps_and_samples():
    statistics = TrainingStatistics()
    train(_model(), Samples(), nn.functional.mse_loss, TrainingConfig(epochs=2, batch_size=8), statistics=statistics)
    assert (statistics.bytes_sent, statistics.steps, statistics.samples) == (0, 10, 80)
    assert 0 < statistics.seconds_in_data < statistics.seconds_in_steps < statistics.seconds_total
    assert len(statistics.seconds_of_steps) == statistics.steps
    assert sum(statistics.seconds_of_steps) == pytest.approx(statistics.seconds_in_steps)
    assert statistics.seconds_in_checkpoints == 0


@pytest.mark.parametrize("content", [b"", b"rubbish", None])
def test_a_damaged_checkpoint_is_named(tmp_path, content):
    path = tmp_path / "checkpoint.pt"
    _train(checkpoint=path, epochs=1)
    path.write_bytes(path.read_bytes()[:-300] if content is None else content)
    with pytest.raises(AssetError, match=r"checkpoint\.pt"):  # and what torch says, over several lines
        _train(checkpoint=path)


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    path = tmp_path / "checkpoint.pt"
    _train(checkpoint=path, epochs=1)
    with pytest.raises(AssetError, match=r"checkpoint\.pt"):  # and what torch says, over several lines
        _train(nn.Sequential(nn.Linear(4, 1)), checkpoint=path)


def test_the_learning_rate_is_warmed_up_and_decays_to_nothing(monkeypatch):
    rates = []
    step = torch.optim.AdamW.step

    def spy(self, *args, **options):
        rates.append(self.param_groups[0]["lr"])
        return step(self, *args, **options)

    monkeypatch.setattr(torch.optim.AdamW, "step", spy)
    _train(epochs=5, learning_rate=0.1)
    assert rates[:5] == pytest.approx([0.02, 0.04, 0.06, 0.08, 0.1])
    assert rates[5] == pytest.approx(0.1)
    assert (np.diff(rates[5:]) < 0).all()
    assert 0 <= rates[-1] < 0.002


@pytest.mark.parametrize(
    "wrong",
    [
        *(
            {name: 0}
            for name in ("epochs", "batch_size", "sync_every", "micro_batches", "learning_rate", "topk_fraction")
        ),
        *({name: -1} for name in ("max_grad_norm", "weight_decay", "staleness", "checkpoint_every_s")),
        *({name: "psychic"} for name in ("strategy", "compression", "lr_scaling")),
        {"compression": "fp16", "strategy": "local"},
        {"topk_fraction": 1.5},
    ],
)
def test_values_out_of_range_are_refused(wrong):
    with refuses(InputError, *map(str, wrong)):
        replace(TrainingConfig(), **wrong)


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
