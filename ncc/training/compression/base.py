"""What the compressions have in common: hooks that torch's DistributedDataParallel calls for each bucket of gradients.

A bucket is a flat tensor of the gradients of some parameters. A hook returns a future of its mean over all ranks.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch import distributed as dist
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel

from ncc.training.exchange import Exchange

if TYPE_CHECKING:  # torch.distributed has it, but does not say so to type checkers
    from torch._C._distributed_c10d import GradBucket
else:
    from torch.distributed import GradBucket

__all__ = ["Compression", "Gathered", "GradBucket"]


class Compression(ABC):
    """A way of sending gradients in fewer bytes.

    Attributes:
        step: The step that gradients belong to.
        exchange: Where bytes are counted.
    """

    def __init__(self, exchange: Exchange) -> None:
        """Counts bytes at an exchange."""
        self.exchange = exchange
        self.step = 0

    def bucket_mb(self, parameters: Sequence[Tensor]) -> float | None:  # noqa: ARG002
        """Largest bucket in MiB; None leaves it to torch."""
        return None

    def register(self, replica: DistributedDataParallel) -> None:
        """Sends a replica's gradients from now on."""
        replica.register_comm_hook(self, _send)

    @abstractmethod
    def send(self, bucket: GradBucket) -> Future[Tensor]:
        """Begins to send a bucket; the future is its mean over all ranks."""


def _send(state: Compression, bucket: GradBucket) -> Future[Tensor]:
    return state.send(bucket)


class Gathered(Compression):
    """Compressions whose messages can't be summed on their way: each rank gets all of them and sums what they say."""

    def send(self, bucket: GradBucket) -> Future[Tensor]:
        """Begins to gather all ranks' messages; the future is the mean of what they say."""
        gradient = bucket.buffer()
        message = self.encode(gradient, bucket)
        self.exchange.count(message)
        messages = [torch.empty_like(message) for _ in range(self.exchange.world)]
        work = dist.all_gather(messages, message, async_op=True)
        assert work is not None
        return work.get_future().then(partial(self._mean, gradient, messages))

    def _mean(self, gradient: Tensor, messages: Sequence[Tensor], sent: Future[list[Tensor]]) -> Tensor:
        sent.value()  # raises what went wrong
        gradient.zero_()
        for message in messages:
            self.add_decoded(gradient, message)
        return gradient.div_(self.exchange.world)

    @abstractmethod
    def encode(self, gradient: Tensor, bucket: GradBucket) -> Tensor:
        """The message for a bucket's flat gradient: of one length on all ranks."""

    @abstractmethod
    def add_decoded(self, gradient: Tensor, message: Tensor) -> None:
        """Adds to a flat gradient what a message says."""
