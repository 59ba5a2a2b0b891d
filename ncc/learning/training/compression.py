"""Collectives that count their bytes, and compressed all-reduce: sums of gradients over ranks in fewer bytes.

References: Stich et al. 2018 ("Sparsified SGD with memory"), algorithm 1, and Lin et al. 2018 ("Deep gradient
compression"), without its momentum correction, for top-k; Alistarh et al. 2017 ("QSGD"), with one scale per chunk and
without its variable-length code, for quantization; Karimireddy et al. 2019 ("Error feedback fixes SignSGD") and Tang et
al. 2019 ("DoubleSqueeze"), for residuals.
"""

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
_LARGEST = 127
_DTYPES = {"none": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


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


def sum_largest(gradient: Tensor, collectives: Collectives) -> Tensor:
    """Replace a flat float32 gradient with the sum of all ranks' largest entries; return what was not sent."""
    num_kept = max(1, int(TOPK_FRACTION * len(gradient)))
    kept = gradient.abs().topk(num_kept, sorted=False).indices
    message = torch.cat([gradient[kept].view(torch.int32), kept.to(torch.int32)])  # 8 bytes per entry
    error = gradient.clone()
    error[kept] = 0.0
    gradient.zero_()
    for received in collectives.all_gather(message):
        values, positions = received.chunk(2)
        gradient.index_add_(0, positions, values.view(torch.float32))
    return error


def sum_quantized(gradient: Tensor, collectives: Collectives, generator: torch.Generator) -> Tensor:
    """Replace a flat float32 gradient with its sum over ranks in 8 bits; return this rank's part of the error.

    Each rank sums one part of the gradient, which the others send it, and sends the sum to all: as many entries as in a
    ring, rounded twice. Rounding is stochastic, so that it is right on average.
    """
    world_size, rank = collectives.world_size, collectives.rank
    parts = pad(gradient, (0, -len(gradient) % world_size)).view(world_size, -1)
    size = parts.shape[1]
    messages = torch.stack([_quantize(part, generator) for part in parts])
    errors = parts - torch.stack([_restore(message, size) for message in messages])
    received = collectives.all_to_all(messages)
    total = torch.stack([_restore(message, size) for message in received]).sum(dim=0)
    encoded = _quantize(total, generator)
    errors[rank] += total - _restore(encoded, size)
    sums = [_restore(message, size) for message in collectives.all_gather(encoded)]
    gradient.copy_(torch.cat(sums)[: len(gradient)])
    return errors.view(-1)[: len(gradient)]


def _quantize(values: Tensor, generator: torch.Generator) -> Tensor:
    """uint8: the float32 scales of chunks, then the entries as signed integers."""
    chunks = pad(values, (0, -len(values) % CHUNK)).view(-1, CHUNK)
    scale = chunks.abs().amax(dim=1) / _LARGEST
    exact = chunks / torch.where(scale > 0, scale, 1.0)[:, None]
    noise = torch.rand(exact.shape, generator=generator, device=values.device)
    entries = (exact + noise).floor().clamp(-_LARGEST, _LARGEST).view(-1)[: len(values)].to(torch.int8)
    return torch.cat([scale.view(torch.uint8), entries.view(torch.uint8)])


def _restore(message: Tensor, size: int) -> Tensor:
    """(size,) float32 values of a message."""
    scale, entries = torch.split(message, [len(message) - size, size])
    chunks = pad(entries.view(torch.int8).float(), (0, -size % CHUNK)).view(-1, CHUNK)
    return (chunks * scale.clone().view(torch.float32)[:, None]).view(-1)[:size]  # the clone is aligned to 4 bytes


def sum_compressed(gradient: Tensor, collectives: Collectives, config: TrainingConfig, step: int) -> Tensor | None:
    """Replace a flat float32 gradient with its sum over ranks, compressed as a configuration says; steps count from 0.

    With error feedback, returns this rank's part of the error: over all ranks the sum of errors is the exact sum minus
    the approximate one. What is not finite was sent, and is not in the error, where it would stay.
    """
    if config.compression == "topk":
        error = sum_largest(gradient, collectives)
    elif config.compression == "int8":
        seed = np.random.SeedSequence([config.seed, collectives.rank, step + 1]).generate_state(1, np.uint64)
        generator = torch.Generator(gradient.device).manual_seed(int(seed[0]) >> 1)
        error = sum_quantized(gradient, collectives, generator)
    else:
        # ranks send parts of a mean, so sums stay in range
        encoded = gradient.to(_DTYPES[config.compression])
        collectives.all_reduce(encoded)
        gradient.copy_(encoded)
        return None
    return error.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)
