"""The training loop: model, data and config in, trained model out; it depends on no task and no strategy.

Under torchrun every rank takes its part of each batch, as the strategy says that the configuration names; for one
process and for many the loop is the same.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from ncc.arrays import Ints
from ncc.learning.training.checkpoint import CheckpointClock, Checkpoints, Position
from ncc.learning.training.config import TrainingConfig, TrainingStatistics
from ncc.learning.training.draws import Draws
from ncc.learning.training.exchange import from_first_rank
from ncc.learning.training.phases import PhaseTimer
from ncc.learning.training.precision import Precision, shared_precisions
from ncc.learning.training.ranks import check_alike, rank_and_world, sum_over_ranks
from ncc.learning.training.strategies import Strategy, make_strategy

Compute = Callable[[Sequence[Tensor], float], Tensor]


class TrainingData(Protocol):
    """Samples that can be gathered into batches."""

    def __len__(self) -> int:
        """How many samples there are."""

    def digest(self) -> str:
        """A hash of all samples, which ranks compare."""

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[Ints]:
        """All samples once, in batches of an epoch; sequences of like length together cost least."""

    def batch(self, samples: Ints, rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:
        """The model's inputs for some samples, and the targets."""


@runtime_checkable
class TableData(TrainingData, Protocol):
    """Samples that read rows of tables, of which ranks then exchange the gradients of those rows alone."""

    def touched(self, samples: Ints) -> Mapping[str, Ints]:
        """Rows, each once, that alone get gradients from some samples of this epoch, by names of the parameters.

        All ranks are told the same of the same samples.
        """


def train(
    model: nn.Module,
    data: TrainingData,
    loss: Callable[[Tensor, Tensor], Tensor],
    config: TrainingConfig,
    *,
    checkpoint: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
    statistics: TrainingStatistics | None = None,
) -> list[float]:
    """Trains a model in place and leaves it in evaluation mode.

    Several ranks begin with the first one's weights and end with the same. With the synchronous strategies (mirrored,
    central, and stale with a staleness of 0) these are, but for rounding, those of one process, as long as neither the
    data nor the model draw noise and no compression is chosen.

    A rank that dies takes the others with it, and ``torchrun --max-restarts N`` starts them all again, from the
    checkpoint. torch 2.13 needs ``TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1`` in torchrun's environment for that: else ranks
    that start again find the addresses of those that are gone.

    Args:
        model: Called with the inputs that ``data.batch`` gives.
        data: The samples.
        loss: Mean loss of outputs and targets.
        config: How to train.
        checkpoint: File for the state after each epoch, and inside epochs as the configuration says; a run that finds
            it goes on from there. One process ends as it would have without the stop, to the bit; several do but for
            rounding, and but for what compressions keep to themselves, which is lost. There must be as many ranks as
            before. Given on all ranks or on none.
        progress: Called with the number of epochs done and the last one's mean loss.
        statistics: Filled with precision, bytes sent, steps and times.

    Returns:
        Mean loss of each epoch, over all ranks.

    Raises:
        InputError: Ranks were given different options or samples.
        AssetError: The checkpoint is damaged, of another model, configuration, data or number of ranks, or of a
            training in a precision that this device has not.
        OutputError: The checkpoint can't be written.
    """
    statistics = statistics if statistics is not None else TrainingStatistics()
    config = config.of_ranks(rank_and_world()[1])
    timer = PhaseTimer(statistics, next(model.parameters()).device)
    with timer.by_the_clock("seconds_total"):
        check_alike(_about(model, data, config))
        from_first_rank(list(model.state_dict().values()))
        model.train()
        device = next(model.parameters()).device
        precisions = shared_precisions(device, mixed=config.mixed_precision)
        position = Position(precision=precisions[0])
        steps_per_epoch = max(1, -(-len(data) // config.batch_size))
        touched = data.touched if isinstance(data, TableData) else None
        with closing(make_strategy(model, config, steps_per_epoch, touched)) as strategy:
            checkpoints = None
            if checkpoint:
                checkpoints = Checkpoints(checkpoint, model, strategy, config, len(data))
                with timer.by_the_clock("seconds_in_checkpoints"):
                    position = checkpoints.load(precisions)
            statistics.precision = position.precision.value
            compute = _computation(model, loss, position.precision, device)
            run = _Run(data, compute, config, strategy, checkpoints, timer, device)
            with position.precision.products():
                losses = run.all_epochs(position, progress)
            statistics.bytes_sent += strategy.exchange.bytes_sent
        model.eval()
    return losses


def _about(model: nn.Module, data: TrainingData, config: TrainingConfig) -> dict[str, str]:
    """What must be the same on all ranks; nothing of it is needed where there is one."""
    if rank_and_world()[1] == 1:
        return {}
    shapes = repr([(name, tuple(tensor.shape)) for name, tensor in model.state_dict().items()])
    return {
        **{name: repr(value) for name, value in asdict(config).items()},
        "torch": torch.__version__,
        "weights of shapes": hashlib.sha256(shapes.encode()).hexdigest()[:16],
        "number of samples": str(len(data)),
        "samples of digest": data.digest(),
    }


def _computation(
    model: nn.Module, loss: Callable[[Tensor, Tensor], Tensor], precision: Precision, device: torch.device
) -> Compute:
    """What takes inputs and target, and the weight of their mean loss, adds to the gradients and returns that loss."""

    def compute(tensors: Sequence[Tensor], weight: float) -> Tensor:
        *inputs, target = tensors
        with precision.autocast(device):
            outputs = model(*inputs)
        mean = loss(outputs.float(), target)
        (mean * weight).backward()  # type: ignore[no-untyped-call]
        return mean.detach()

    return compute


@dataclass(frozen=True, eq=False)
class _Run:
    """A training under way."""

    data: TrainingData
    compute: Compute
    config: TrainingConfig
    strategy: Strategy
    checkpoints: Checkpoints | None
    timer: PhaseTimer
    device: torch.device

    def all_epochs(self, position: Position, progress: Callable[[int, float], None] | None) -> list[float]:
        """Trains from a position on; returns each epoch's mean loss."""
        clock = CheckpointClock(self.config.checkpoint_every_s if self.checkpoints else 0.0)
        losses = position.losses
        while len(losses) < self.config.epochs:
            loss = self._epoch(position, clock)
            self.strategy.end_epoch()
            losses = [*losses, loss]
            position = Position(precision=position.precision, losses=losses)
            self._save(position, clock)
            if progress:
                progress(len(losses), loss)
        return losses

    def _epoch(self, position: Position, clock: CheckpointClock) -> float:
        """The rest of an epoch; returns its mean loss over all ranks."""
        draws = Draws(self.config.seed, len(position.losses), rank_and_world()[0], self.device)
        batches = self.data.batches(self.config.batch_size, draws.rng)
        if position.draws:
            draws.load_state_dict(position.draws)
        loss_sum = torch.tensor(position.loss_sum, dtype=torch.float64, device=self.device)
        for step, samples in enumerate(batches[position.step :], position.step + 1):
            with self.timer.of_device("seconds_in_steps"):
                loss_sum += self._step(samples, draws.rng)
            if step < len(batches) and clock.due(at_rest=self.strategy.at_rest):
                so_far = replace(position, step=step, loss_sum=_over_ranks(loss_sum))
                self._save(so_far, clock, draws)
        total = _over_ranks(loss_sum)
        self.timer.collect()
        return total / len(self.data)

    def _step(self, samples: Ints, rng: np.random.Generator) -> Tensor:
        """One step; returns the () float64 sum of losses over this rank's part of the batch."""
        part = self.strategy.part(samples)
        loss_sum = torch.zeros((), dtype=torch.float64, device=self.device)
        for piece in part.pieces(self.config.accumulate):
            with self.timer.of_device("seconds_in_data"):
                given, wanted = self.data.batch(piece, rng)
                tensors = [to_device(tensor, self.device) for tensor in (*given, wanted)]
            loss_sum += self.compute(tensors, part.weight(len(piece))).double() * len(piece)
        self.strategy.step()
        self.timer.statistics.steps += 1
        self.timer.statistics.samples += len(samples)
        return loss_sum

    def _save(self, position: Position, clock: CheckpointClock, draws: Draws | None = None) -> None:
        if self.checkpoints:
            with self.timer.by_the_clock("seconds_in_checkpoints"):
                self.checkpoints.save(position, draws)
            clock.restart()


def _over_ranks(value: Tensor) -> float:
    total = value.clone()
    sum_over_ranks([total])
    return float(total)


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor where a model is; the host goes on while it is copied to a GPU."""
    if device.type == "cuda" and not tensor.is_cuda:
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
