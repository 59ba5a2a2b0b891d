"""Compressed all-reduce: gradients in fewer bytes, whose sums over all ranks are approximate.

References: Stich et al. 2018 ("Sparsified SGD with memory"), algorithm 1, and Lin et al. 2018 ("Deep gradient
compression"), without its corrections for momentum; Alistarh et al. 2017 ("QSGD: communication-efficient SGD via
gradient quantization and encoding"), in its variant where chunks of a gradient have scales of their own, without its
variable-length code.
"""

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.exchange import Exchange

CHUNK = 2048
"""Entries that share a scale when they are quantised."""


class Compression(ABC):
    """A way of sending gradients in fewer bytes.

    Attributes:
        whole: Whether it takes the gradients of all parameters each time, since it keeps what it did not send of them;
            others take parts that differ from step to step.
        step: The step that gradients belong to.
        exchange: What they are sent by.
    """

    whole = False

    def __init__(self, exchange: Exchange) -> None:
        """Sends by an exchange."""
        self.exchange = exchange
        self.step = 0

    @abstractmethod
    def sum(self, gradient: Tensor) -> None:
        """Replaces a flat float32 gradient by about its sum over all ranks, the same on all of them.

        Args:
            gradient: Those of some parameters, one after the other, or of parts of them.
        """


class Halved(Compression):
    """Sends and sums gradients as float16 or bfloat16; ranks give shares of a mean, so that sums stay in range."""

    def __init__(self, exchange: Exchange, dtype: torch.dtype) -> None:
        """Sends numbers of a 16-bit type."""
        super().__init__(exchange)
        self._dtype = dtype

    def sum(self, gradient: Tensor) -> None:
        """As `Compression.sum` says."""
        sent = gradient.to(self._dtype)
        self.exchange.sum(sent)
        gradient.copy_(sent)


class TopK(Compression):
    """Sends the largest entries as values and places, 8 bytes an entry, to each other rank; the rest comes next time.

    What is kept is not part of a checkpoint: a run that goes on from one begins with nothing kept.
    """

    whole = True

    def __init__(self, exchange: Exchange, share: float) -> None:
        """Sends a share, in (0, 1], of the entries."""
        super().__init__(exchange)
        self._share = share
        self.kept = torch.zeros(0)

    def num_sent(self, size: int) -> int:
        """Entries sent of a gradient: rounded down, so that no more is sent than was asked for, but at least one."""
        return max(1, int(self._share * size))

    def sum(self, gradient: Tensor) -> None:
        """As `Compression.sum` says."""
        messages = self.exchange.gather(self.message(gradient))
        gradient.zero_()
        for message in messages:
            values, places = message.chunk(2)
            gradient.index_add_(0, places, values.view(torch.float32))

    def message(self, gradient: Tensor) -> Tensor:
        """(2 * k,) int32: the bits of k float32 values, then their places; keeps the other entries."""
        whole = self.kept + gradient if len(self.kept) else gradient.clone()
        places = whole.abs().topk(self.num_sent(len(whole)), sorted=False).indices
        values = whole[places]
        whole[places] = 0.0
        # what is not finite was sent with the largest, and shows there; kept, it would never end
        self.kept = whole.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)
        return torch.cat([values.view(torch.int32), places.to(torch.int32)])


class Quantized(Compression):
    """Sends entries as signed integers of 8 or 4 bits, and a float32 scale for each chunk of 2048.

    Each rank sums a part of the gradient, for which the others send it theirs, and sends the sum to all: as many
    entries on the wire as in a ring, rounded twice. Rounding is stochastic, so that it is right on average.
    """

    def __init__(self, exchange: Exchange, bits: int, seed: int) -> None:
        """Sends 8 or 4 bits an entry, rounded by what is drawn from a seed, the rank and the step."""
        super().__init__(exchange)
        self._bits = bits
        self._levels = 2 ** (bits - 1) - 1
        self._seed = seed

    def sum(self, gradient: Tensor) -> None:
        """As `Compression.sum` says."""
        world, generator = self.exchange.world, self.generator(gradient.device)
        parts = pad(gradient, (0, -len(gradient) % world)).view(world, -1)
        received = self.exchange.swap(torch.stack([self.message(part, generator) for part in parts]))
        own = torch.stack([self.decoded(message, parts.shape[1]) for message in received]).sum(dim=0)
        sums = self.exchange.gather(self.message(own, generator))
        gradient.copy_(torch.cat([self.decoded(message, parts.shape[1]) for message in sums])[: len(gradient)])

    def message(self, values: Tensor, generator: torch.Generator) -> Tensor:
        """uint8: the bytes of the chunks' scales, then the entries', of 4 bits two a byte, the lower half first."""
        chunks = pad(values, (0, -len(values) % CHUNK)).view(-1, CHUNK)
        scale = chunks.abs().amax(dim=1) / self._levels
        exact = chunks / torch.where(scale > 0, scale, 1.0)[:, None]
        noise = torch.rand(exact.shape, generator=generator, device=values.device)
        rounded = (exact + noise).floor().clamp(-self._levels, self._levels)
        entries = rounded.view(-1)[: len(values)].to(torch.int8)
        return torch.cat([scale.view(torch.uint8), self._pack(entries)])

    def decoded(self, message: Tensor, size: int) -> Tensor:
        """The (size,) float32 values that a message says."""
        num_chunks = -(-size // CHUNK)
        scale = message[: 4 * num_chunks].clone().view(torch.float32)  # on a border of 4 bytes
        entries = self._unpack(message[4 * num_chunks :])[:size].float()
        return (pad(entries, (0, -size % CHUNK)).view(-1, CHUNK) * scale[:, None]).view(-1)[:size]

    def _pack(self, entries: Tensor) -> Tensor:
        if self._bits == 8:
            return entries.view(torch.uint8)
        low, high = pad(entries + 8, (0, len(entries) % 2)).view(torch.uint8).view(-1, 2).unbind(dim=1)
        return low | high << 4

    def _unpack(self, packed: Tensor) -> Tensor:
        if self._bits == 8:
            return packed.view(torch.int8)
        return torch.stack([packed & 15, packed >> 4], dim=1).view(-1).view(torch.int8) - 8

    def generator(self, device: torch.device) -> torch.Generator:
        """What rounding draws from in this step."""
        seed = np.random.SeedSequence([self._seed, self.exchange.rank, self.step])
        return torch.Generator(device).manual_seed(int(seed.generate_state(1, np.uint64)[0]) >> 1)


def make_compression(config: TrainingConfig, exchange: Exchange) -> Compression | None:
    """The compression that a configuration names; None where gradients are sent as they are.

    Args:
        config: How to train.
        exchange: Where bytes are counted.
    """
    match config.compression:
        case "fp16" | "bf16" as name:
            return Halved(exchange, torch.float16 if name == "fp16" else torch.bfloat16)
        case "int8" | "int4" as name:
            return Quantized(exchange, 8 if name == "int8" else 4, config.seed)
        case "topk":
            return TopK(exchange, config.topk_share)
        case _:
            return None
