"""One rank of a pipeline: a stage of a model, as torch's schedules run it, and what is measured of it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.distributed.pipelining import PipelineStage

from ncc.learning.training.precision import Precision

__all__ = ["MeasuredStage", "PipelineStatistics", "StageModule", "StageOfPieces", "sent_size"]


@dataclass
class PipelineStatistics:
    """Statistics of one rank of a pipeline.

    Attributes:
        bytes_sent: Activations, their gradients and norms of gradients that this rank sent in steps.
        samples: Samples trained on, counted again in each epoch.
        steps: Batches trained on.
        seconds_in_steps: Wall-clock time of steps, with gathering their samples.
        seconds_in_data: The part of it that gathers samples and moves them to the device.
        seconds_computing: The part that computes: forward, loss, backward, weights.
        seconds_total: Wall-clock time of the training, with the exchange of weights before and after.
    """

    bytes_sent: int = 0
    samples: int = 0
    steps: int = 0
    seconds_in_steps: float = 0.0
    seconds_in_data: float = 0.0
    seconds_computing: float = 0.0
    seconds_total: float = 0.0

    @property
    def seconds_waiting(self) -> float:
        """The rest of the steps: waiting for other ranks and transfers, and rebuilding stages."""
        return self.seconds_in_steps - self.seconds_in_data - self.seconds_computing

    @property
    def bubble(self) -> float:
        """Fraction of the steps' time, except gathering samples, in which this rank did not compute."""
        return self.seconds_waiting / max(self.seconds_in_steps - self.seconds_in_data, 1e-9)

    @contextmanager
    def timing(self, name: str, device: torch.device) -> Iterator[None]:
        """Adds the time of what it surrounds, to its end on the device, to one of the numbers of seconds."""
        _wait_for(device)
        began = time.perf_counter()
        try:
            yield
        finally:
            _wait_for(device)
            setattr(self, name, getattr(self, name) + time.perf_counter() - began)


class StageModule(Protocol):
    """A part of a model that lies on one rank: an `nn.Module` that says what it receives."""

    def __call__(self, received: tuple[Tensor, ...], *inputs: Tensor) -> tuple[Tensor, ...]:
        """Computes what the next stage receives, or, as the last stage, the model's outputs alone.

        Args:
            received: float32 tensors that the stage before gave; none for the first.
            inputs: Those of the whole model, as ``TrainingData.batch`` gives them.
        """

    def received_shapes(self, *inputs: Tensor) -> tuple[tuple[int, ...], ...]:
        """Shapes of what is received with some inputs."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """As of `nn.Module`."""

    def state_dict(self) -> dict[str, Any]:
        """As of `nn.Module`."""

    def train(self, mode: bool = True) -> Any:
        """As of `nn.Module`."""


class StageOfPieces(nn.Module):
    """A stage as torch's schedules call it: with the number of a micro-batch, and the vector that was sent for it.

    Attributes:
        inputs: Inputs of the model, for each micro-batch of the step.
        num_sent: Size of the vector that is sent on; None in the last stage.
        device: Where it computes.
    """

    def __init__(self, stage: StageModule, precision: Precision, device: torch.device) -> None:
        """Runs a stage in some precision."""
        super().__init__()
        self.inputs: list[tuple[Tensor, ...]] = []
        self.num_sent: int | None = None
        self.device = device
        self._stage = stage
        self._precision = precision

    def forward(self, *sent: Tensor, number: Tensor) -> Tensor:
        """The model's outputs, or the vector to send: float32, what is computed and then zeros."""
        inputs = self.inputs[int(number)]
        received = _unpack(sent[0], self._stage.received_shapes(*inputs)) if sent else ()
        with self._precision.autocast(self.device):
            outputs = self._stage(received, *inputs)
        if self.num_sent is None:
            return outputs[0].float()
        parts = [output.float().reshape(-1) for output in outputs]
        return torch.cat([*parts, parts[0].new_zeros(self.num_sent - sum(len(part) for part in parts))])


class MeasuredStage(PipelineStage):
    """A stage of torch's that measures its time and what it sends."""

    def __init__(
        self, module: StageOfPieces, rank: int, world: int, num_received: int, statistics: PipelineStatistics
    ) -> None:
        """Makes the stage of a rank for vectors of some size.

        Args:
            module: The stage.
            rank: Its place.
            world: Stages in all.
            num_received: Size of the vectors that it receives, for the first of no account.
            statistics: Where computing and bytes are added.
        """
        self.statistics = statistics
        # with both given, torch has no need of a trial run to learn them; what is not sent may be of any size
        received = (_like(num_received),) if rank else ()
        super().__init__(
            module, rank, world, module.device, input_args=received, output_args=_like(module.num_sent or 0)
        )

    def forward_one_chunk(self, *args: Any, **options: Any) -> Any:
        """Computes a micro-batch forward."""
        with self.statistics.timing("seconds_computing", self.device):
            return super().forward_one_chunk(*args, **options)

    def backward_one_chunk(self, *args: Any, **options: Any) -> None:
        """Computes a micro-batch backward."""
        with self.statistics.timing("seconds_computing", self.device):
            super().backward_one_chunk(*args, **options)

    def get_fwd_send_ops(self, fwd_chunk_id: int) -> list[dist.P2POp]:
        """Transfers of a micro-batch's activations."""
        return self._counted(super().get_fwd_send_ops(fwd_chunk_id))

    def get_bwd_send_ops(self, bwd_chunk_id: int) -> list[dist.P2POp]:
        """Transfers of a micro-batch's gradients."""
        return self._counted(super().get_bwd_send_ops(bwd_chunk_id))

    def _counted(self, transfers: list[dist.P2POp]) -> list[dist.P2POp]:
        self.statistics.bytes_sent += sum(transfer.tensor.nbytes for transfer in transfers)
        return transfers


def sent_size(stage: StageModule, inputs: Sequence[tuple[Tensor, ...]]) -> int:
    """Numbers that a stage receives for the largest of some micro-batches."""
    return max(sum(map(prod, stage.received_shapes(*some))) for some in inputs)


def _unpack(sent: Tensor, shapes: Sequence[tuple[int, ...]]) -> tuple[Tensor, ...]:
    """Tensors of some shapes, concatenated in a vector with something behind them."""
    sizes = [prod(shape) for shape in shapes]
    parts = torch.split(sent[: sum(sizes)], sizes)
    return tuple(part.view(shape) for part, shape in zip(parts, shapes, strict=True))


def _like(size: int) -> Tensor:
    """A tensor like a vector that is sent."""
    return torch.empty(size, device="meta", requires_grad=True)


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()
