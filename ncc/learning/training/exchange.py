"""Collectives of a training over all ranks, with the bytes that they send; tensors flattened for them."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch import distributed as dist

from ncc.learning.training.ranks import rank_and_world


class Exchange:
    """Collectives that count what they send; with one rank they leave tensors as they are, and count nothing.

    Attributes:
        bytes_sent: What this rank has put on the wire, in rings and chains, which send least: of a sum over w ranks
            2 (w - 1) / w of the tensor, of a gathering w - 1 messages.
    """

    def __init__(self) -> None:
        self.rank, self.world = rank_and_world()
        self.bytes_sent = 0

    def begin_sum(self, tensor: Tensor) -> "dist.Work | None":
        """Begins to replace a tensor by its sum over all ranks; None where that is done."""
        if self.world == 1:
            return None
        self.bytes_sent += 2 * (self.world - 1) * tensor.nbytes // self.world
        return dist.all_reduce(tensor, async_op=True)

    def sum(self, tensor: Tensor) -> None:
        """Replaces a tensor by its sum over all ranks."""
        if work := self.begin_sum(tensor):
            work.wait()

    def swap(self, messages: Tensor) -> Tensor:
        """All-to-all of (world, n): row r goes to rank r, and row r of the result came from rank r."""
        if self.world == 1:
            return messages
        self.bytes_sent += (self.world - 1) * messages[0].nbytes
        received = torch.empty_like(messages)
        dist.all_to_all_single(received, messages)
        return received

    def gather(self, message: Tensor) -> list[Tensor]:
        """The messages of all ranks, which are of one length."""
        if self.world == 1:
            return [message]
        self.bytes_sent += (self.world - 1) * message.nbytes
        messages = [torch.empty_like(message) for _ in range(self.world)]
        dist.all_gather(messages, message)
        return messages

    def sum_at_first(self, tensor: Tensor) -> None:
        """Replaces the first rank's tensor by the sum over all ranks; the others' then holds nothing of use."""
        if self.world > 1:
            self.bytes_sent += tensor.nbytes if self.rank else 0  # from the last to the first
            dist.reduce(tensor, dst=0)

    def broadcast(self, tensor: Tensor) -> None:
        """Replaces a tensor by the first rank's."""
        if self.world > 1:
            self.bytes_sent += tensor.nbytes if self.rank < self.world - 1 else 0  # from the first to the last
            dist.broadcast(tensor, src=0)


def average(exchange: Exchange, tensors: Sequence[Tensor]) -> None:
    """Replaces tensors of one type by their means over all ranks, in one collective."""
    if exchange.world == 1 or not tensors:
        return
    flat = flatten(tensors)
    exchange.sum(flat)
    flat /= exchange.world
    with torch.no_grad():
        for tensor, mean in zip(tensors, views_like(flat, tensors), strict=True):
            tensor.copy_(mean)


def flatten(tensors: Sequence[Tensor]) -> Tensor:
    """Copies of tensors of one type, one after the other in a flat one."""
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])


def views_like(flat: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Parts of a flat tensor, one after the other, in the shapes of some tensors."""
    parts = torch.split(flat, [tensor.numel() for tensor in tensors])
    return [part.view_as(tensor) for part, tensor in zip(parts, tensors, strict=True)]


def from_first_rank(tensors: Sequence[Tensor]) -> None:
    """Replaces tensors by those of the first rank, uncounted."""
    if dist.is_initialized():
        for tensor in tensors:
            dist.broadcast(tensor, src=0)
