"""Synchronous data parallelism: equal replicas, gradients averaged while backward still runs.

Reference: Li et al. 2020 ("PyTorch Distributed: experiences on accelerating data parallel training").
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from ncc.training.compression import make_compression
from ncc.training.config import TrainingConfig
from ncc.training.strategies.base import Part, Strategy

__all__ = ["Mirrored"]


class Mirrored(Strategy):
    """Every rank has the whole model and applies the same averaged gradient.

    With one rank it is plain training. With several, every trained parameter must take part in each batch's loss, or
    torch says which did not.
    """

    def __init__(self, model: nn.Module, config: TrainingConfig, steps_per_epoch: int) -> None:
        """Wraps a model in torch's DistributedDataParallel; arguments as for `Strategy`."""
        super().__init__(model, config, steps_per_epoch)
        self._replica: DistributedDataParallel | None = None
        self._compression = None
        if self.exchange.world == 1:
            return
        self._compression = make_compression(config, self.exchange)
        self._replica = DistributedDataParallel(
            model,
            init_sync=False,  # weights are alike already
            forward_sync_buffers=False,
            bucket_cap_mb=self._compression.bucket_mb(self.parameters) if self._compression else None,
            gradient_as_bucket_view=True,
        )
        if self._compression:
            self._compression.register(self._replica)
        self.network = self._replica

    def part(self, samples: NDArray[np.int64]) -> Part:
        """This rank's part of a batch, weighted for gradients that are averaged.

        Ranks without a sample compute one of the batch's with weight 0, as all must take part in the exchange.
        """
        rank, world = self.exchange.rank, self.exchange.world
        own = samples[rank::world]
        if not len(own):
            return Part(samples[rank % len(samples) :][:1], 0.0, 1)
        return Part(own, float(world), len(samples))

    def gradients(self, *, last: bool) -> AbstractContextManager[Any]:
        """Keeps gradients here until the last piece."""
        if self._replica is None or last:
            return nullcontext()
        return self._replica.no_sync()

    def _step(self, rate: float) -> None:
        assert self._optimizer
        if self._compression:
            self._compression.step += 1
        else:
            for parameter in self.parameters:
                self.exchange.count(parameter)
        self._optimizer.step(rate)

    def load_state_dict(self, state: dict[str, Any], ranks: Sequence[dict[str, Tensor]] = ()) -> None:
        """Goes on from an earlier state; what a compression kept to itself is lost."""
        super().load_state_dict(state, ranks)
        if self._compression:
            self._compression.step = self.steps

    def close(self) -> None:
        """Unwraps the model."""
        super().close()
        # its hooks on the parameters, and its hold on the process group, end with it
        self._replica = None
        self._compression = None
        self.network = self._model
