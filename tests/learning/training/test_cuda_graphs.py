"""CUDA graphs of steps: what is captured, compared and replayed, by a capture for CPUs, and by CUDA's on a GPU."""

import logging

import numpy as np
import pytest
import torch
from torch import nn

from tests.rooms import GraphedSteps, TrainingConfig, TrainingStatistics, train


def _model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(0.4), nn.Linear(8, 1)).train()


def _compute(model):
    def compute(tensors, weight):
        x, y = tensors
        mean = nn.functional.mse_loss(model(x), y)
        (mean * weight).backward()
        return mean.detach()

    return compute


def _capture(run):
    """Runs again what a graph would replay."""
    loss = run()
    return loss, lambda: loss.copy_(run())


def _batches(sizes):
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(size, 3, generator=generator), torch.randn(size, 1, generator=generator)) for size in sizes]


def _run(batches, steps_of=lambda compute, model: compute, weights=None):
    """Losses, gradients after each batch, and buffers at the end of some steps with dropout."""
    model = _model()
    steps = steps_of(_compute(model), model)
    torch.manual_seed(2)
    found = []
    for batch, weight in zip(batches, weights or [1.0] * len(batches), strict=True):
        found.append(steps(batch, weight).clone())
        found += [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]
    return [*found, *model.buffers()], steps


def _equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


SIZES = [4, 4, 6, 4, 4, 6, 4, 6, 6, 6, 4, 5]


def test_graphs_give_what_is_computed_without_and_each_shape_has_one():
    batches = _batches(SIZES)
    found, steps = _run(batches, lambda compute, model: GraphedSteps(compute, model, _capture))
    _equal(found, _run(batches)[0])
    # the first batch has no gradients to add to; then two to capture, one to compare, and the others are replayed
    assert (steps.num_graphs, steps.num_replays) == (2, SIZES.count(4) - 4 + SIZES.count(6) - 3)


def test_a_weight_is_part_of_a_shape():
    weights = [1.0, 0.5] * 6
    batches = _batches([4] * 12)
    found, steps = _run(batches, lambda compute, model: GraphedSteps(compute, model, _capture), weights)
    _equal(found, _run(batches, weights=weights)[0])
    assert steps.num_graphs == 2


def test_where_capture_fails_all_is_computed_as_without(caplog):
    def fail(run):
        run()
        raise RuntimeError("operation not permitted when stream is capturing")

    caplog.set_level(logging.INFO, "ncc.learning.training.graphs")
    batches = _batches(SIZES)
    found, steps = _run(batches, lambda compute, model: GraphedSteps(compute, model, fail))
    _equal(found, _run(batches)[0])
    assert (steps.num_graphs, steps.num_replays) == (0, 0)
    assert [record.args for record in caplog.records] == [
        ("RuntimeError: operation not permitted when stream is capturing",)
    ]


def _forgetful(run):
    """Replays what it captured, and reads no new inputs."""
    loss = run()
    return loss, lambda: None


def _one_off(run):
    """Gives the right loss, and gradients that are a little larger."""
    loss = run()

    def replay():
        for _ in range(2):
            state = torch.get_rng_state()
            loss.copy_(run())
            torch.set_rng_state(state)

    return loss, replay


@pytest.mark.parametrize("capture", [_forgetful, _one_off])
def test_a_graph_that_gives_something_else_is_found_out_before_it_is_used(capture, caplog):
    caplog.set_level(logging.INFO, "ncc.learning.training.graphs")
    batches = _batches(SIZES)
    found, steps = _run(batches, lambda compute, model: GraphedSteps(compute, model, capture))
    _equal(found, _run(batches)[0])
    assert (steps.num_graphs, steps.num_replays) == (0, 0)
    assert "relative distances" in caplog.text


def test_gradients_elsewhere_are_another_graph():
    model = _model()
    steps = GraphedSteps(_compute(model), model, _capture)
    for batch in _batches([4] * 8):
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)  # as some strategies do, in turn
        kept = [parameter.grad for parameter in model.parameters()]
        steps(batch, 1.0)
        assert all(parameter.grad is one for parameter, one in zip(model.parameters(), kept, strict=True))
        assert any(one is not None and one.abs().sum() > 0 for one in kept)


class _Samples:
    """Of two sizes of batches."""

    def __init__(self, device: str) -> None:
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randn(96, 3, generator=generator).to(device)
        self.y = self.x.sum(dim=1, keepdim=True).sin()

    def __len__(self) -> int:
        return len(self.x)

    def digest(self):
        return ""

    def batches(self, _size, rng):
        order = rng.permutation(len(self))
        return [*np.split(order[:64], 4), *np.split(order[64:], 4)]

    def batch(self, samples, _rng):
        rows = torch.from_numpy(samples).to(self.x.device)
        return (self.x[rows],), self.y[rows]


def _train(device: str, *, graphs: bool) -> tuple[list[float], TrainingStatistics]:
    statistics = TrainingStatistics()
    config = TrainingConfig(epochs=4, batch_size=12, cuda_graphs=graphs)
    losses = train(_model().to(device), _Samples(device), nn.functional.mse_loss, config, statistics=statistics)
    return losses, statistics


def test_there_are_none_on_a_cpu():
    losses, statistics = _train("cpu", graphs=True)
    assert losses == _train("cpu", graphs=False)[0]
    assert (statistics.graphs, statistics.replays) == (0, 0)


@pytest.mark.gpu
def test_on_a_gpu_a_training_replays_graphs_to_the_same_losses():
    losses, statistics = _train("cuda", graphs=True)
    assert losses == pytest.approx(_train("cuda", graphs=False)[0], rel=1e-4)
    assert statistics.graphs == 2
    assert statistics.replays >= 16


@pytest.mark.gpu
def test_on_a_gpu_what_cannot_be_captured_leaves_dropout_and_steps_as_they_were():
    model = _model().cuda()
    compute = _compute(model)

    def waits(tensors, weight):
        loss = compute(tensors, weight)
        assert loss.item() >= 0  # a wait for the device, which no graph has
        return loss

    steps = GraphedSteps(waits, model)
    losses = [float(steps([one.cuda() for one in batch], 1.0)) for batch in _batches([4] * 6)]
    assert np.isfinite(losses).all()
    assert (steps.num_graphs, steps.num_replays) == (0, 0)
