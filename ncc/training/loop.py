"""The training loop: model, data and config in, trained model out; it knows no task.

Under torchrun every rank takes its part of each batch and gradients are averaged, so that the loop is the same for one
process and for many.
"""

import io
import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch import distributed as dist

from ncc.errors import AssetError
from ncc.ranks import rank_and_world, sum_over_ranks

__all__ = ["TrainingConfig", "TrainingData", "train"]

logger = logging.getLogger(__name__)


class TrainingData(Protocol):
    """Samples that can be gathered into batches."""

    def __len__(self) -> int:
        """How many samples there are."""

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """All samples once, in batches of an epoch; sequences of like length together cost least."""

    def batch(self, samples: NDArray[np.int64], rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:
        """The model's inputs for some samples, and the targets."""


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How to train.

    Attributes:
        epochs: passes over the samples.
        batch_size: samples a step, over all ranks.
        learning_rate: of AdamW, warmed up over the first epoch, then decayed to 0 along a half cosine.
        weight_decay: decoupled L2 penalty.
        clip: largest norm of the gradient.
        mixed_precision: multiply matrices in bfloat16; weights and sums stay float32.
        seed: of the order of samples and of dropout.
    """

    epochs: int = 30
    batch_size: int = 32
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    clip: float = 1.0
    mixed_precision: bool = False
    seed: int = 204

    def __post_init__(self) -> None:
        """Checks the ranges.

        Raises:
            ValueError: a value is out of its range.
        """
        if self.epochs < 1 or self.batch_size < 1:
            raise ValueError("epochs and batch_size must be 1 or more")
        if self.learning_rate <= 0 or self.weight_decay < 0 or self.clip <= 0:
            raise ValueError("learning_rate and clip must be above 0, weight_decay 0 or more")


def train(
    model: nn.Module,
    data: TrainingData,
    loss: Callable[[Tensor, Tensor], Tensor],
    config: TrainingConfig,
    *,
    checkpoint: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Trains a model in place and leaves it in evaluation mode.

    Args:
        model: called with the inputs that ``data.batch`` gives.
        data: the samples.
        loss: mean loss of outputs and targets.
        config: how to train.
        checkpoint: file for the state after each epoch; a run that finds it goes on from there, and ends as it would
            have without the stop.
        progress: called with the number of epochs done and the last one's mean loss.

    Returns:
        Mean loss of each epoch, over all ranks.

    Raises:
        AssetError: the checkpoint is damaged or of another model.
    """
    rank, world = rank_and_world()
    steps = max(1, -(-len(data) // config.batch_size))
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, _warm_cosine(steps, steps * config.epochs))
    losses: list[float] = []
    if checkpoint and checkpoint.exists():
        losses = _resume(checkpoint, model, optimizer, schedule)
    _take_from_first_rank(model)
    model.train()
    for epoch in range(len(losses), config.epochs):
        rng = np.random.default_rng([config.seed, epoch])
        torch.manual_seed(int(rng.integers(2**31)) + rank)
        total = 0.0
        for samples in data.batches(config.batch_size, rng):
            part = samples[rank::world]
            share = len(part) / len(samples)
            total += _step(model, data, loss, optimizer, part, share, rng, config) * len(part)
            schedule.step()
        losses.append(_sum_over_ranks(total) / len(data))
        _take_from_first_rank(model)
        if checkpoint and rank == 0:
            _save(checkpoint, model, optimizer, schedule, losses)
        if progress:
            progress(epoch + 1, losses[-1])
    model.eval()
    return losses


def _step(
    model: nn.Module,
    data: TrainingData,
    loss: Callable[[Tensor, Tensor], Tensor],
    optimizer: torch.optim.Optimizer,
    samples: NDArray[np.int64],
    share: float,
    rng: np.random.Generator,
    config: TrainingConfig,
) -> float:
    """One step on this rank's samples, which are a share of the batch and may be none; returns their mean loss."""
    optimizer.zero_grad(set_to_none=False)
    value = 0.0
    if len(samples):
        inputs, target = data.batch(samples, rng)
        device = next(model.parameters()).device
        with torch.autocast(device.type, torch.bfloat16, enabled=config.mixed_precision):
            outputs = model(*(tensor.to(device) for tensor in inputs))
        mean = loss(outputs.float(), target.to(device))
        mean.backward()  # type: ignore[no-untyped-call]
        value = float(mean.detach())
    _sum_gradients(model, share)
    nn.utils.clip_grad_norm_(model.parameters(), config.clip)
    optimizer.step()
    return value


def _sum_gradients(model: nn.Module, share: float) -> None:
    """The gradient of the whole batch's mean loss, from those of the ranks' parts of it."""
    if not dist.is_initialized():
        return
    for parameter in model.parameters():
        if parameter.requires_grad:
            if parameter.grad is None:  # this rank had no sample; the others wait for it all the same
                parameter.grad = torch.zeros_like(parameter)
            parameter.grad *= share
            sum_over_ranks([parameter.grad])


def _sum_over_ranks(value: float) -> float:
    if not dist.is_initialized():
        return value
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    total = torch.tensor([value], dtype=torch.float64, device=device)
    sum_over_ranks([total])
    return float(total)


def _take_from_first_rank(model: nn.Module) -> None:
    """Makes weights and buffers the same on all ranks; those of batch normalisation are gathered by each alone."""
    if dist.is_initialized():
        for tensor in model.state_dict().values():
            dist.broadcast(tensor, src=0)


def _warm_cosine(warm: int, total: int) -> Callable[[int], float]:
    def factor(step: int) -> float:
        if step < warm:
            return (step + 1) / warm
        return 0.5 * (1 + float(np.cos(np.pi * (step - warm) / max(1, total - warm))))

    return factor


def _save(path: Path, model: nn.Module, optimizer: Any, schedule: Any, losses: list[float]) -> None:
    from ncc.storage import write_atomically

    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "losses": losses,
    }
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_atomically(path, buffer.getvalue())


def _resume(path: Path, model: nn.Module, optimizer: Any, schedule: Any) -> list[float]:
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        losses: list[float] = list(state["losses"])
    # torch raises whatever it stumbles over in a damaged file
    except (pickle.UnpicklingError, EOFError, OSError, RuntimeError, LookupError, TypeError, ValueError) as error:
        raise AssetError(
            f"{path}: is no checkpoint of this model ({type(error).__name__}: {error}); remove it to start again"
        ) from error
    logger.info("resumed %s after %d epochs", path, len(losses))
    return losses
