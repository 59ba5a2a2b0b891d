"""Collectives that count their bytes, and compressed all-reduce: sums of gradients over ranks in fewer bytes.

References: Stich et al. 2018 ("Sparsified SGD with memory"), algorithm 1, and Lin et al. 2018 ("Deep gradient
compression"), without its momentum correction, for top-k; Alistarh et al. 2017 ("QSGD"), with one scale per chunk and
without its variable-length code, for quantization; Karimireddy et al. 2019 ("Error feedback fixes SignSGD") and Tang et
al. 2019 ("DoubleSqueeze"), for residuals.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch import distributed as dist
from torch.nn.functional import pad

from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.ranks import rank_and_world

TOPK_FRACTION = 0.01
"""Fraction of a gradient's entries that top-k sends, at least one; Lin et al. send a tenth of that."""
CHUNK = 2048
"""Entries that share a scale: 4 bytes each, 0.2% of the int8 entries. QSGD uses buckets of 512 for 4 bits on images."""


class Collectives:
    """Collectives over all ranks that count the bytes this rank sends in rings and chains; alone they do nothing."""

    def __init__(self) -> None:
        self.rank, self.world_size = rank_and_world()
        self.bytes_sent = 0

    def all_reduce_async(self, tensor: Tensor) -> "dist.Work | None":
        """Start replacing a tensor with its sum over ranks; None if there is one rank."""
        if self.world_size == 1:
            return None
        self.bytes_sent += 2 * (self.world_size - 1) * tensor.nbytes // self.world_size
        return dist.all_reduce(tensor, async_op=True)

    def all_reduce(self, tensor: Tensor) -> None:
        """Replace a tensor with its sum over ranks."""
        if work := self.all_reduce_async(tensor):
            work.wait()

    def average(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors of one type with their means over ranks, in one collective."""
        if self.world_size == 1 or not tensors:
            return
        flat = flatten(tensors)
        self.all_reduce(flat)
        copy_pieces(flat / self.world_size, tensors)

    def all_to_all(self, messages: Tensor) -> Tensor:
        """Send row r of (world_size, n) to rank r; row r of the result comes from rank r."""
        if self.world_size == 1:
            return messages
        self.bytes_sent += (self.world_size - 1) * messages[0].nbytes
        received = torch.empty_like(messages)
        dist.all_to_all_single(received, messages)
        return received

    def all_gather(self, message: Tensor) -> list[Tensor]:
        """Messages of all ranks, which have one length."""
        if self.world_size == 1:
            return [message]
        self.bytes_sent += (self.world_size - 1) * message.nbytes
        messages = [torch.empty_like(message) for _ in range(self.world_size)]
        dist.all_gather(messages, message)
        return messages

    def reduce_to_root(self, tensor: Tensor) -> None:
        """Replace rank 0's tensor with the sum over ranks; on other ranks its content is undefined."""
        if self.world_size > 1:
            self.bytes_sent += tensor.nbytes if self.rank else 0  # a chain from the last rank to the first
            dist.reduce(tensor, dst=0)

    def broadcast(self, tensor: Tensor) -> None:
        """Replace a tensor with rank 0's."""
        if self.world_size > 1:
            self.bytes_sent += tensor.nbytes if self.rank < self.world_size - 1 else 0  # a chain from first to last
            dist.broadcast(tensor, src=0)


def flatten(tensors: Sequence[Tensor]) -> Tensor:
    """Copies of tensors of one type, concatenated into one flat tensor."""
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])


def views_like(flat: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Consecutive pieces of a flat tensor in the shapes of tensors."""
    pieces = torch.split(flat, [tensor.numel() for tensor in tensors])
    return [piece.view_as(tensor) for piece, tensor in zip(pieces, tensors, strict=True)]


@torch.no_grad()
def copy_pieces(flat: Tensor, tensors: Sequence[Tensor]) -> None:
    """Copy consecutive pieces of a flat tensor to tensors."""
    for tensor, value in zip(tensors, views_like(flat, tensors), strict=True):
        tensor.copy_(value)


class Compressor(ABC):
    """Sums flat gradients over ranks in fewer bytes."""

    needs_full_gradient = False  # True if entries compete with all others, so that no rows may be left out
    has_residual = True  # True if the error of one step must be added to the gradient of the next

    def __init__(self, collectives: Collectives) -> None:
        self.collectives = collectives

    @abstractmethod
    def all_reduce(self, gradient: Tensor, step: int) -> Tensor:
        """Replace a flat float32 gradient with its approximate sum, and return this rank's part of the error.

        Over all ranks the sum of errors is the exact sum minus the approximate one. What is not finite was sent, and is
        not in the error, where it would stay. Steps count from 0.
        """


class Rounded(Compressor):
    """Sends and sums a float type, of 32 bits the gradient itself; ranks send parts of a mean, so sums stay in range.

    The error is not kept.
    """

    has_residual = False

    def __init__(self, collectives: Collectives, dtype: torch.dtype) -> None:
        super().__init__(collectives)
        self._dtype = dtype

    def all_reduce(self, gradient: Tensor, step: int) -> Tensor:  # noqa: ARG002
        """Sum the rounded entries."""
        encoded = gradient.to(self._dtype)
        self.collectives.all_reduce(encoded)
        gradient.copy_(encoded)
        return torch.zeros(0)


class TopK(Compressor):
    """Sends the largest entries to each other rank, as values and positions of 8 bytes together."""

    needs_full_gradient = True

    def all_reduce(self, gradient: Tensor, step: int) -> Tensor:  # noqa: ARG002
        """Gather all messages; the error is what was not sent."""
        message = self.encode(gradient)
        error = gradient.clone()
        error[message.chunk(2)[1]] = 0.0
        gradient.zero_()
        for received in self.collectives.all_gather(message):
            values, positions = received.chunk(2)
            gradient.index_add_(0, positions, values.view(torch.float32))
        return error.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)

    def encode(self, values: Tensor) -> Tensor:
        """(2 * k,) int32: the bits of k float32 values, one or more, then their positions."""
        num_kept = max(1, int(TOPK_FRACTION * len(values)))
        positions = values.abs().topk(num_kept, sorted=False).indices
        return torch.cat([values[positions].view(torch.int32), positions.to(torch.int32)])


class Quantized(Compressor):
    """Sends entries as signed integers of 8 or 4 bits, and a float32 scale per chunk.

    Each rank sums one part of the gradient, which the others send it, and sends the sum to all: as many entries as in a
    ring, rounded twice. Rounding is stochastic, so that it is right on average.
    """

    def __init__(self, collectives: Collectives, bits: int, seed: int) -> None:
        super().__init__(collectives)
        self._bits, self._max, self._seed = bits, 2 ** (bits - 1) - 1, seed

    def all_reduce(self, gradient: Tensor, step: int) -> Tensor:
        """Sum this rank's part and gather the sums; both roundings are in the error."""
        world_size, rank = self.collectives.world_size, self.collectives.rank
        seed = np.random.SeedSequence([self._seed, rank, step + 1]).generate_state(1, np.uint64)
        generator = torch.Generator(gradient.device).manual_seed(int(seed[0]) >> 1)
        parts = pad(gradient, (0, -len(gradient) % world_size)).view(world_size, -1)
        size = parts.shape[1]
        messages = torch.stack([self.encode(part, generator) for part in parts])
        errors = parts - torch.stack([self.decode(message, size) for message in messages])
        received = self.collectives.all_to_all(messages)
        total = torch.stack([self.decode(message, size) for message in received]).sum(dim=0)
        encoded = self.encode(total, generator)
        errors[rank] += total - self.decode(encoded, size)
        sums = [self.decode(message, size) for message in self.collectives.all_gather(encoded)]
        gradient.copy_(torch.cat(sums)[: len(gradient)])
        return errors.view(-1)[: len(gradient)].nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)

    def encode(self, values: Tensor, generator: torch.Generator) -> Tensor:
        """uint8: the scales of chunks, then the entries; of 4 bits two per byte, the lower half first."""
        chunks = pad(values, (0, -len(values) % CHUNK)).view(-1, CHUNK)
        scale = chunks.abs().amax(dim=1) / self._max
        exact = chunks / torch.where(scale > 0, scale, 1.0)[:, None]
        noise = torch.rand(exact.shape, generator=generator, device=values.device)
        rounded = (exact + noise).floor().clamp(-self._max, self._max)
        entries = rounded.view(-1)[: len(values)].to(torch.int8)
        if self._bits == 4:
            low, high = pad(entries + 8, (0, len(entries) % 2)).view(torch.uint8).view(-1, 2).unbind(dim=1)
            entries = low | high << 4
        return torch.cat([scale.view(torch.uint8), entries.view(torch.uint8)])

    def decode(self, message: Tensor, size: int) -> Tensor:
        """(size,) float32 values of a message."""
        num_chunks = -(-size // CHUNK)
        scale = message[: 4 * num_chunks].clone().view(torch.float32)  # aligned to 4 bytes
        entries = message[4 * num_chunks :]
        if self._bits == 4:
            entries = torch.stack([entries & 15, entries >> 4], dim=1).view(-1)[:size]
        values = (entries.view(torch.int8) - (8 if self._bits == 4 else 0)).float()
        return (pad(values, (0, -size % CHUNK)).view(-1, CHUNK) * scale[:, None]).view(-1)[:size]


def make_compressor(config: TrainingConfig, collectives: Collectives) -> Compressor:
    """The compressor that a configuration names."""
    if config.compression == "topk":
        return TopK(collectives)
    if config.compression in ("int8", "int4"):
        return Quantized(collectives, int(config.compression[3:]), config.seed)
    dtypes = {"none": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    return Rounded(collectives, dtypes[config.compression])
