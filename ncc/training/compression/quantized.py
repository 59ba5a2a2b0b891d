"""Quantisation to 8 or 4 bits with stochastic rounding, which is right on average.

Reference: Alistarh et al. 2017 ("QSGD: communication-efficient SGD via gradient quantization and encoding"), in its
variant where chunks of a gradient have scales of their own, after their largest entries; without its variable-length
code.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from ncc.training.compression.base import Gathered, GradBucket
from ncc.training.exchange import Exchange

__all__ = ["CHUNK", "Quantized"]

CHUNK = 2048
"""Entries that share a scale."""


class Quantized(Gathered):
    """Sends entries as signed integers of 8 or 4 bits, and a float32 scale for each chunk of 2048."""

    def __init__(self, exchange: Exchange, bits: int, seed: int) -> None:
        """Sends 8 or 4 bits an entry, rounded by what is drawn from a seed, the rank, the step and the bucket."""
        super().__init__(exchange)
        self._bits = bits
        self._levels = 2 ** (bits - 1) - 1
        self._seed = seed

    def encode(self, gradient: Tensor, bucket: GradBucket) -> Tensor:
        """The message for a bucket's flat gradient; see `message`."""
        return self.message(gradient, bucket.index())

    def message(self, gradient: Tensor, bucket: int) -> Tensor:
        """uint8: the bytes of the chunks' scales, then the entries', of 4 bits two a byte, the lower half first.

        Args:
            gradient: (n,) float32.
            bucket: Number of the bucket, for what is drawn.
        """
        chunks = pad(gradient, (0, -len(gradient) % CHUNK)).view(-1, CHUNK)
        scale = chunks.abs().amax(dim=1) / self._levels
        exact = chunks / torch.where(scale > 0, scale, 1.0)[:, None]
        noise = torch.rand(exact.shape, generator=self._generator(gradient.device, bucket), device=gradient.device)
        rounded = (exact + noise).floor().clamp(-self._levels, self._levels)
        entries = rounded.view(-1)[: len(gradient)].to(torch.int8)
        return torch.cat([scale.view(torch.uint8), self._pack(entries)])

    def add_decoded(self, gradient: Tensor, message: Tensor) -> None:
        """Adds to a flat gradient what a message says."""
        num_chunks = -(-len(gradient) // CHUNK)
        scale = message[: 4 * num_chunks].view(torch.float32)
        entries = self._unpack(message[4 * num_chunks :])[: len(gradient)].float()
        whole = len(gradient) // CHUNK * CHUNK
        gradient[:whole] += (entries[:whole].view(-1, CHUNK) * scale[: whole // CHUNK, None]).view(-1)
        if whole < len(gradient):
            gradient[whole:] += entries[whole:] * scale[-1]

    def _pack(self, entries: Tensor) -> Tensor:
        if self._bits == 8:
            return entries.view(torch.uint8)
        low, high = pad(entries + 8, (0, len(entries) % 2)).view(torch.uint8).view(-1, 2).unbind(dim=1)
        return low | high << 4

    def _unpack(self, packed: Tensor) -> Tensor:
        if self._bits == 8:
            return packed.view(torch.int8)
        return torch.stack([packed & 15, packed >> 4], dim=1).view(-1).view(torch.int8) - 8

    def _generator(self, device: torch.device, bucket: int) -> torch.Generator:
        seed = np.random.SeedSequence([self._seed, self.exchange.rank, self.step, bucket])
        return torch.Generator(device).manual_seed(int(seed.generate_state(1, np.uint64)[0]) >> 1)
