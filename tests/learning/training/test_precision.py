"""Precision: what a device does decides, all of a training keeps to it, and it is written down."""

import runpy
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from ncc.errors import AssetError
from tests.rooms import Precision, TrainingConfig, TrainingStatistics, precision, train
from tests.support.refuses import refuses

Samples = runpy.run_path(str(Path(__file__).parent / "strategy_ranks.py"))["Samples"]
CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)
BFLOAT16, TF32, FLOAT32 = Precision
CONFIG = TrainingConfig(epochs=2, batch_size=8, mixed_precision=True)


@pytest.fixture
def device(monkeypatch):
    """Makes devices whose LSTMs, asked for bfloat16, give something."""
    precision._precisions.cache_clear()
    tried = []

    def make(outcome: torch.dtype | Exception, tf32: bool = False) -> list[torch.device]:
        def trial(lstm: nn.LSTM, device: torch.device) -> torch.dtype:
            tried.append(device)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        monkeypatch.setattr(precision, "_trial", trial)
        monkeypatch.setattr(nn.LSTM, "to", lambda self, device: self)
        monkeypatch.setattr(torch.cuda, "is_tf32_supported", lambda: tf32)
        precision._precisions.cache_clear()
        return tried

    yield make
    precision._precisions.cache_clear()


class Network(nn.Module):
    """An LSTM and a layer, which note the types that they give."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.lstm = nn.LSTM(1, 8, batch_first=True)
        self.output = nn.Linear(8, 1)
        self.kinds: set[torch.dtype] = set()

    def forward(self, x):
        out, _ = self.lstm(x[:, :, None])
        self.kinds.add(out.dtype)
        return self.output(out[:, -1])


def _train(config=CONFIG, checkpoint=None, progress=None):
    model, statistics = Network(), TrainingStatistics()
    options = {"checkpoint": checkpoint, "progress": progress, "statistics": statistics}
    losses = train(model, Samples(), nn.functional.mse_loss, config, **options)
    return model, losses, statistics.precision


@pytest.mark.parametrize(
    ("where", "outcome", "tf32", "expected"),
    [
        (CPU, torch.bfloat16, False, (BFLOAT16, FLOAT32)),
        (CPU, torch.float32, False, (FLOAT32,)),
        (CPU, RuntimeError("could not create a primitive descriptor"), False, (FLOAT32,)),
        (GPU, torch.float16, True, (TF32, FLOAT32)),
        (GPU, torch.float16, False, (FLOAT32,)),
        (GPU, torch.bfloat16, True, (BFLOAT16, TF32, FLOAT32)),
        (GPU, NotImplementedError("for BFloat16"), True, (TF32, FLOAT32)),
    ],
)
def test_the_device_says_by_trial_what_it_can(device, where, outcome, tf32, expected):
    device(outcome, tf32)
    assert precision._precisions(where) == set(expected)


def test_where_the_lstm_has_no_bfloat16_all_is_float32_to_the_bit(device):
    device(RuntimeError("no primitive"))
    model, losses, ran = _train()
    assert (model.kinds, ran) == ({torch.float32}, "float32")
    exact, same, _ = _train(replace(CONFIG, mixed_precision=False))
    assert losses == same
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), exact.parameters(), strict=True))


@pytest.mark.parametrize(("kind", "inside"), [(BFLOAT16, "ieee"), (TF32, "tf32"), (FLOAT32, "ieee")])
def test_float32_products_are_as_the_precision_says_and_then_as_before(kind, inside):
    backends = torch.backends.cuda.matmul, torch.backends.cudnn.rnn
    before = [backend.fp32_precision for backend in backends]
    with pytest.raises(ZeroDivisionError), kind.products():
        assert [backend.fp32_precision for backend in backends] == [inside, inside]
        raise ZeroDivisionError
    assert [backend.fp32_precision for backend in backends] == before


def _stop(checkpoint):
    """Leaves a checkpoint after the first of two epochs."""

    def stop(epochs, loss):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _train(checkpoint=checkpoint, progress=stop)


def test_a_training_goes_on_in_float32_where_bfloat16_is_to_be_had_too(device, tmp_path):
    device(RuntimeError("no primitive"))
    _, losses, _ = _train()
    _stop(tmp_path / "checkpoint.pt")
    device(torch.bfloat16)
    _, same, ran = _train(checkpoint=tmp_path / "checkpoint.pt")
    assert (same, ran) == (losses, "float32")


def test_a_training_in_bfloat16_says_why_it_can_not_go_on(device, tmp_path, monkeypatch):
    device(torch.bfloat16)
    monkeypatch.setattr(Precision, "autocast", lambda self, device: torch.autocast("cpu", enabled=False))  # here or not
    _stop(tmp_path / "checkpoint.pt")
    device(RuntimeError("no primitive"))
    with refuses(AssetError, tmp_path / "checkpoint.pt", "bfloat16", "float32"):
        _train(checkpoint=tmp_path / "checkpoint.pt")
