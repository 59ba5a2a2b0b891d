"""Central storage: the first rank keeps the weights on the host, and all ranks compute with copies of them.

References: Li et al. 2014 ("Scaling distributed machine learning with the parameter server"), here with one server, in
step with its workers.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.exchange import flatten, views_like
from ncc.learning.training.optimizer import ClippedAdamW
from ncc.learning.training.strategies.base import Strategy


class Central(Strategy):
    """Gradients are summed at the first rank, whose optimizer, the only one, moves the only weights that count.

    The other ranks need no memory for moments. In exchange each step waits for the first rank.
    """

    def __init__(self, model: nn.Module, config: TrainingConfig, steps_per_epoch: int) -> None:
        """Copies the weights to the first rank's host; arguments as for `Strategy`."""
        super().__init__(model, config, steps_per_epoch)
        # gradients on their way to the first rank, then weights on their way back
        self._flat = flatten(self.parameters).zero_()
        for parameter, view in zip(self.parameters, views_like(self._flat, self.parameters), strict=True):
            parameter.grad = view

    def _make_optimizer(self) -> ClippedAdamW | None:
        if self.exchange.rank:
            return None
        self._stored = flatten(self.parameters).cpu()
        self._stored_gradient = torch.zeros_like(self._stored)
        stored = views_like(self._stored, self.parameters)
        for tensor, gradient in zip(stored, views_like(self._stored_gradient, self.parameters), strict=True):
            tensor.grad = gradient
        return ClippedAdamW(stored, self._config)

    def _step(self, rate: float) -> None:
        self.exchange.sum_at_first(self._flat)
        if self._optimizer:
            self._stored_gradient.copy_(self._flat)
            self._optimizer.step(rate)
            self._flat.copy_(self._stored)
        self.exchange.broadcast(self._flat)
        with torch.no_grad():
            for parameter, value in zip(self.parameters, views_like(self._flat, self.parameters), strict=True):
                parameter.copy_(value)
        self._flat.zero_()

    def load_state_dict(self, state: dict[str, Any], ranks: Sequence[dict[str, Tensor]] = ()) -> None:
        """Goes on from an earlier state; the first rank's host gets the weights of then."""
        super().load_state_dict(state, ranks)
        if self._optimizer:
            self._stored.copy_(flatten(self.parameters))
