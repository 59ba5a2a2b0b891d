"""Gradients in 16 bits, summed in them as well."""

import torch
from torch import Tensor
from torch.futures import Future

from ncc.training.compression.base import Compression, GradBucket
from ncc.training.exchange import Exchange

__all__ = ["Halved"]


class Halved(Compression):
    """Sends gradients as float16 or bfloat16, divided by the number of ranks first, so that sums stay in range."""

    def __init__(self, exchange: Exchange, dtype: torch.dtype) -> None:
        """Sends numbers of a 16-bit type."""
        super().__init__(exchange)
        self._dtype = dtype

    def send(self, bucket: GradBucket) -> Future[Tensor]:
        """Begins to sum a bucket in 16 bits; the future is its mean over all ranks."""
        gradient = bucket.buffer()
        work = self.exchange.begin_sum((gradient / self.exchange.world).to(self._dtype))
        assert work
        return work.get_future().then(lambda sent: gradient.copy_(sent.value()[0]))
