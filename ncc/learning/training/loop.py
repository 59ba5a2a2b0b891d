"""The training loop, independent of tasks and strategies.

Under torchrun every rank takes its part of each batch, as the configured strategy divides it; the loop is the same for
one process and for many.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch import distributed as dist

from ncc.arrays import Ints
from ncc.learning.training.checkpoint import Checkpoints, EpochRng, TrainProgress
from ncc.learning.training.config import TrainingConfig, TrainingStatistics
from ncc.learning.training.precision import shared_precisions
from ncc.learning.training.ranks import check_consistent, rank_and_world, sum_over_ranks
from ncc.learning.training.strategies import Strategy, make_strategy

Loss = Callable[[Tensor, Tensor], Tensor]
OnEpoch = Callable[[int, float], None]


class TrainingData(Protocol):
    """Samples that can be gathered into batches."""

    def __len__(self) -> int:
        """Number of samples."""

    def digest(self) -> str:
        """Hash of all samples, which ranks compare."""

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[Ints]:
        """The batches of an epoch, with all samples once; batches of sequences of similar length are cheapest."""

    def batch(self, samples: Ints, rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:
        """The model's inputs for samples, and the targets."""

    # Samples that read rows of tables also have `sparse_rows` (see `SparseRows`): ranks then exchange the gradients of
    # only these rows of a parameter, which are those of samples of this epoch, each once, on all ranks.


def train(
    model: nn.Module,
    data: TrainingData,
    loss: Loss,
    config: TrainingConfig,
    *,
    checkpoint: Path | None = None,
    progress: OnEpoch | None = None,
    statistics: TrainingStatistics | None = None,
) -> list[float]:
    """Train a model in place, leave it in evaluation mode, and return the mean loss of each epoch over all ranks.

    Several ranks begin with rank 0's weights and end with the same. With mirrored ranks these are those of one process
    up to rounding, if neither data nor model draw noise and gradients are not compressed. Given a ``checkpoint`` file,
    on all ranks or none, a run of as many ranks that finds it resumes, and on CPUs ends with the bits that it would
    have had without the stop. ``progress`` is called with the number of finished epochs and the last one's mean loss.

    A rank that dies takes the others with it; ``torchrun --max-restarts N`` resumes all (see docs/howto/cluster.md).
    """
    config = config.for_ranks(rank_and_world()[1])
    device = next(model.parameters()).device
    timer = _PhaseTimer(statistics or TrainingStatistics(), device)
    with timer.clock("seconds_total"):
        if dist.is_initialized():
            shapes = repr([(name, tuple(tensor.shape)) for name, tensor in model.state_dict().items()])
            check_consistent(
                {name: repr(value) for name, value in asdict(config).items()}
                | {"torch": torch.__version__, "number of samples": str(len(data)), "samples of digest": data.digest()}
                | {"weights of shapes": hashlib.sha256(shapes.encode()).hexdigest()[:16]}
            )
            for tensor in model.state_dict().values():
                dist.broadcast(tensor, src=0)
        model.train()
        precisions = shared_precisions(device, mixed=config.mixed_precision)
        done = TrainProgress(precision=precisions[0])
        steps_per_epoch = max(1, -(-len(data) // config.batch_size))
        with closing(make_strategy(model, config, steps_per_epoch, getattr(data, "sparse_rows", None))) as strategy:
            checkpoints = Checkpoints(checkpoint, model, strategy, config, len(data)) if checkpoint else None
            if checkpoints:
                with timer.clock("seconds_in_checkpoints"):
                    done = checkpoints.load(precisions)
            timer.statistics.precision = done.precision.value
            run = _Run(model, data, loss, config, strategy, checkpoints, timer, device)
            with done.precision.products():
                while len(done.losses) < config.epochs:
                    done = run.epoch(done)
                    if progress:
                        progress(len(done.losses), done.losses[-1])
            timer.statistics.bytes_sent += strategy.bytes_sent
        model.eval()
    return done.losses


@dataclass(frozen=True, eq=False)
class _Run:
    """A training in progress."""

    model: nn.Module
    data: TrainingData
    loss: Loss
    config: TrainingConfig
    strategy: Strategy
    checkpoints: Checkpoints | None
    timer: "_PhaseTimer"
    device: torch.device

    def epoch(self, done: TrainProgress) -> TrainProgress:
        """Do the rest of an epoch."""
        epoch_rng = EpochRng(self.config.seed, len(done.losses), rank_and_world()[0], self.device)
        batches = self.data.batches(self.config.batch_size, epoch_rng.rng)
        if done.rng:
            epoch_rng.load_state_dict(done.rng)
        autocast = done.precision.autocast(self.device)
        loss_sum = torch.tensor(done.loss_sum, dtype=torch.float64, device=self.device)
        for step, samples in enumerate(batches[done.step :], done.step + 1):
            with self.timer.clock("seconds_in_steps", in_queue=True):
                loss_sum += self._step(samples, epoch_rng.rng, autocast)
            if step < len(batches) and self.checkpoints and self.checkpoints.due():
                self._save(self.checkpoints, replace(done, step=step, loss_sum=float(loss_sum)), epoch_rng)
        sum_over_ranks([loss_sum])
        loss = float(loss_sum) / len(self.data)
        self.timer.collect()
        self.strategy.end_epoch()
        done = TrainProgress(precision=done.precision, losses=[*done.losses, loss])
        if self.checkpoints:
            self._save(self.checkpoints, done)
        return done

    def _step(self, samples: Ints, rng: np.random.Generator, autocast: torch.autocast) -> Tensor:
        """One step; return the () float64 sum of losses over this rank's samples."""
        rank_samples, num_averaged = self.strategy.rank_batch(samples)
        loss_sum = torch.zeros((), dtype=torch.float64, device=self.device)
        if len(rank_samples):
            with self.timer.clock("seconds_in_data", in_queue=True):
                inputs, targets = self.data.batch(rank_samples, rng)
                *tensors, target = (_to_device(tensor, self.device) for tensor in (*inputs, targets))
            with autocast:
                outputs = self.model(*tensors)
            mean = self.loss(outputs.float(), target)
            (mean * (len(rank_samples) / num_averaged)).backward()  # type: ignore[no-untyped-call]
            loss_sum += mean.detach().double() * len(rank_samples)
        self.strategy.step()
        self.timer.statistics.steps += 1
        self.timer.statistics.samples += len(samples)
        return loss_sum

    def _save(self, checkpoints: Checkpoints, done: TrainProgress, rng: EpochRng | None = None) -> None:
        with self.timer.clock("seconds_in_checkpoints"):
            checkpoints.save(done, rng)


class _PhaseTimer:
    """Adds times of phases to statistics: wall clock, or time in the queue of a GPU, which runs behind the host."""

    def __init__(self, statistics: TrainingStatistics, device: torch.device) -> None:
        self.statistics = statistics
        self._on_gpu = device.type == "cuda"
        self._pending: list[tuple[str, torch.cuda.Event, torch.cuda.Event]] = []

    @contextmanager
    def clock(self, name: str, *, in_queue: bool = False) -> Iterator[None]:
        """Add the block's wall-clock time to a statistic; ``in_queue`` its time in a GPU's queue, in `collect`."""
        if in_queue and self._on_gpu:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
            start.record()
            yield
            end.record()
            self._pending.append((name, start, end))
        else:
            start_s = time.perf_counter()
            yield
            self._add(name, time.perf_counter() - start_s)

    def collect(self) -> None:
        """Wait for the device, and add its times."""
        if self._pending:
            torch.cuda.synchronize()
        for name, start, end in self._pending:
            self._add(name, start.elapsed_time(end) / 1e3)
        self._pending.clear()

    def _add(self, name: str, seconds: float) -> None:
        setattr(self.statistics, name, getattr(self.statistics, name) + seconds)
        if name == "seconds_in_steps":
            self.statistics.seconds_of_steps.append(seconds)


def _to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Move a tensor to a device; the host does not wait for copies to a GPU."""
    if device.type == "cuda" and not tensor.is_cuda:
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
