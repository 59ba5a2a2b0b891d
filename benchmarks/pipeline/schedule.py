"""Model and pipeline parallelism: a model in stages, one a rank, which hand micro-batches on to each other.

Stages send what they have for a micro-batch as one flat vector. Its size, which is fixed within a step, is that of the
step's largest micro-batch, and torch's stages are rebuilt for a step of other sizes. That takes two small messages;
padding all sequences to few lengths instead takes computing on the padding. `benchmarks.pipeline` measures both.

Reference: Huang et al. 2019 ("GPipe"): all micro-batches forward, then all backward.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch import distributed as dist
from torch.distributed.pipelining import ScheduleGPipe

from benchmarks.pipeline.stage import MeasuredStage, PipelineStatistics, StageModule, StageOfPieces, sent_size
from ncc.errors import InputError, NccError
from ncc.learning.training.checkpoint import EpochRng
from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.loop import TrainingData
from ncc.learning.training.precision import shared_precisions
from ncc.learning.training.ranks import rank_and_world
from ncc.learning.training.strategies import rate_factor

__all__ = ["train_in_stages"]


def train_in_stages(
    stages: Sequence[StageModule],
    data: TrainingData,
    loss: Callable[[Tensor, Tensor], Tensor],
    config: TrainingConfig,
    *,
    micro_batches: int = 1,
    progress: Callable[[int, float], None] | None = None,
    statistics: PipelineStatistics | None = None,
) -> list[float]:
    """Trains a model in place whose stages lie on ranks, and leaves them in evaluation mode.

    All ranks give all stages and the same data, train one stage each, begin with the first rank's weights and end with
    the whole model's. As long as neither the data nor the model draw noise, these are, up to rounding, what
    `ncc.learning.training.loop.train` makes in one process, however many micro-batches there are.

    Args:
        stages: In order, one a rank, without parameters in common; a rank's own on the device where it computes.
        data: The samples, which every rank gathers for itself, a micro-batch at a time.
        loss: Mean loss of outputs and targets.
        config: How to train; strategies and compressions are of whole models, not for stages, which make no
            checkpoints either.
        micro_batches: Pieces that a batch is cut into, so that ranks work on different ones at the same time; with 1
            they take turns, which is plain model parallelism.
        progress: Called with the number of epochs done and the last one's mean loss.
        statistics: Filled with bytes sent, steps and times.

    Returns:
        Mean loss of each epoch.

    Raises:
        NccError: There are not as many ranks as stages, or one alone.
        InputError: ``micro_batches`` is below 1, or the configuration asks for what stages don't have.
    """
    _check(len(stages), config, micro_batches)
    statistics = statistics if statistics is not None else PipelineStatistics()
    rank, _ = rank_and_world()
    device = next(stages[rank].parameters()).device
    with statistics.timing("seconds_total", device):
        for stage in stages:
            _share(stage, 0, device)
            stage.train()
        run = _Run(stages, data, loss, config, micro_batches, statistics, device)
        try:
            with run.precision.products():
                losses = run.all_epochs(progress)
        finally:
            run.drop_gradients()
        for owner, stage in enumerate(stages):
            _share(stage, owner, device)
            stage.train(False)
    return losses


def _check(num_stages: int, config: TrainingConfig, micro_batches: int) -> None:
    world = rank_and_world()[1]
    if num_stages != world or world == 1:
        raise NccError(
            f"stages: {num_stages}, ranks: {world}; a pipeline needs two stages or more, each on its own rank: "
            f"start it with torchrun --nproc-per-node {max(2, num_stages)}"
        )
    if micro_batches < 1:
        raise InputError(f"micro_batches is {micro_batches}; expected 1 or more")
    if (config.strategy, config.compression) != ("mirrored", "none"):
        raise InputError(f"strategy {config.strategy!r} and compression {config.compression!r} are not for stages")


class _Run:
    """A rank's part of a training."""

    def __init__(
        self,
        stages: Sequence[StageModule],
        data: TrainingData,
        loss: Callable[[Tensor, Tensor], Tensor],
        config: TrainingConfig,
        micro_batches: int,
        statistics: PipelineStatistics,
        device: torch.device,
    ) -> None:
        self.stages, self.data, self.loss, self.config = stages, data, loss, config
        self.micro_batches, self.statistics, self.device = micro_batches, statistics, device
        self.rank, self.world = rank_and_world()
        self.parameters = [parameter for parameter in stages[self.rank].parameters() if parameter.requires_grad]
        self.drop_gradients()
        self.adam = torch.optim.AdamW(self.parameters, weight_decay=config.weight_decay, fused=True)
        self.precision = shared_precisions(device, mixed=config.mixed_precision)[0]
        self.pieces = StageOfPieces(stages[self.rank], self.precision, device)
        self.steps = 0
        self.sizes: tuple[int, ...] = ()
        self.schedule: ScheduleGPipe
        self.targets: list[Tensor] = []
        self.loss_sum = torch.zeros((), dtype=torch.float64, device=device)

    def drop_gradients(self) -> None:
        """Leaves no gradient behind."""
        for parameter in self.parameters:
            parameter.grad = None

    def all_epochs(self, progress: Callable[[int, float], None] | None) -> list[float]:
        """Trains; returns each epoch's mean loss."""
        losses: list[float] = []
        while len(losses) < self.config.epochs:
            draws = EpochRng(self.config.seed, len(losses), self.rank, self.device)
            self.loss_sum.zero_()
            for samples in self.data.batches(self.config.batch_size, draws.rng):
                with self.statistics.timing("seconds_in_steps", self.device):
                    self._step(samples, draws.rng)
            dist.broadcast(self.loss_sum, src=self.world - 1)
            losses.append(float(self.loss_sum) / len(self.data))
            if progress:
                progress(len(losses), losses[-1])
        return losses

    def _step(self, samples: NDArray[np.int64], rng: np.random.Generator) -> None:
        with self.statistics.timing("seconds_in_data", self.device):
            self._gather(np.array_split(samples, min(self.micro_batches, len(samples))), rng)
        self._build()
        numbers = torch.arange(len(self.targets))
        if self.rank == self.world - 1:
            self.schedule.step(target=numbers, number=numbers)
        else:
            self.schedule.step(number=numbers)
        self._move()
        self.statistics.steps += 1
        self.statistics.samples += len(samples)

    def _gather(self, pieces: Sequence[NDArray[np.int64]], rng: np.random.Generator) -> None:
        batches = [self.data.batch(piece, rng) for piece in pieces]
        self.pieces.inputs = [tuple(tensor.to(self.device) for tensor in inputs) for inputs, _ in batches]
        self.targets = [target.to(self.device) for _, target in batches]

    def _build(self) -> None:
        """Rebuilds torch's stage and schedule for a step whose vectors differ in size from the last one's."""
        received = [sent_size(stage, self.pieces.inputs) for stage in self.stages]
        sizes = (len(self.targets), *received)
        if sizes == self.sizes:
            return
        self.sizes = sizes
        self.pieces.num_sent = received[self.rank + 1] if self.rank + 1 < self.world else None
        stage = MeasuredStage(self.pieces, self.rank, self.world, received[self.rank], self.statistics)
        self.schedule = ScheduleGPipe(stage, len(self.targets), loss_fn=self._loss, scale_grads=False)

    def _loss(self, outputs: Tensor, number: Tensor) -> Tensor:
        """A micro-batch's part of the batch's mean loss."""
        with self._computing():
            target = self.targets[int(number)]
            loss_sum = self.loss(outputs, target) * len(target)
            self.loss_sum += loss_sum.detach()
            return loss_sum / sum(map(len, self.targets))

    def _move(self) -> None:
        """Clips the gradient of the whole model, and moves this stage's weights along."""
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        with self._computing():
            square = torch.stack([gradient.norm() for gradient in gradients]).double().square().sum()
        self.statistics.bytes_sent += square.nbytes
        dist.all_reduce(square)
        warm = max(1, -(-len(self.data) // self.config.batch_size))
        rate = self.config.learning_rate * rate_factor(self.steps, warm, warm * self.config.epochs)
        with self._computing():
            factor = min(1.0, self.config.max_grad_norm / (float(square) ** 0.5 + 1e-6))
            for gradient in gradients:
                gradient.mul_(factor)
            self.adam.param_groups[0]["lr"] = rate
            self.adam.step()
            self.adam.zero_grad(set_to_none=False)
        self.steps += 1

    def _computing(self) -> AbstractContextManager[None]:
        return self.statistics.timing("seconds_computing", self.device)


def _share(stage: StageModule, owner: int, device: torch.device) -> None:
    """Replaces weights and buffers of a stage by those of one rank."""
    for tensor in stage.state_dict().values():
        moved = tensor.to(device)
        dist.broadcast(moved, src=owner)
        tensor.copy_(moved)
