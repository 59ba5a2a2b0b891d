"""Top-k sparsification: the largest entries of a gradient are sent, and the others kept for a later step.

References: Stich et al. 2018 ("Sparsified SGD with memory"), algorithm 1; Lin et al. 2018 ("Deep gradient
compression"), without its corrections for momentum.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from ncc.training.compression.base import Gathered, GradBucket
from ncc.training.exchange import Exchange

__all__ = ["TopK"]


class TopK(Gathered):
    """Sends a share of each bucket as values and their places, 8 bytes an entry; what is left is added next time.

    What is kept is not part of a checkpoint: a run that goes on from one begins with nothing kept.
    """

    def __init__(self, exchange: Exchange, share: float) -> None:
        """Sends a share, in (0, 1], of the entries."""
        super().__init__(exchange)
        self._share = share
        self._kept: dict[int, Tensor] = {}

    def num_sent(self, size: int) -> int:
        """Entries sent of a bucket: rounded down, so that no more is sent than was asked for, but at least one."""
        return max(1, int(self._share * size))

    def kept(self, parameters: Sequence[Tensor]) -> Tensor:
        """What has not been sent yet of some parameters' gradients, flat and in their order.

        torch orders and cuts its buckets anew after the first step, so what is kept is known by parameter.
        """
        for parameter in parameters:
            if id(parameter) not in self._kept:
                self._kept[id(parameter)] = parameter.new_zeros(parameter.numel())
        return torch.cat([self._kept[id(parameter)] for parameter in parameters])

    def encode(self, gradient: Tensor, bucket: GradBucket) -> Tensor:
        """The message for a bucket's flat gradient; see `message`."""
        return self.message(gradient, bucket.parameters())

    def message(self, gradient: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """(2 * k,) int32: the bits of k float32 values, then their places in a flat gradient.

        Args:
            gradient: Flat float32 gradient of the parameters, in their order.
            parameters: Whose gradient it is.
        """
        whole = self.kept(parameters) + gradient
        places = whole.abs().topk(self.num_sent(len(whole)), sorted=False).indices
        values = whole[places]
        whole[places] = 0.0
        left = torch.split(whole, [parameter.numel() for parameter in parameters])
        self._kept |= zip(map(id, parameters), left, strict=True)
        return torch.cat([values.view(torch.int32), places.to(torch.int32)])

    def add_decoded(self, gradient: Tensor, message: Tensor) -> None:
        """Adds to a flat gradient what a message says."""
        values, places = message.chunk(2)
        gradient.index_add_(0, places, values.view(torch.float32))
