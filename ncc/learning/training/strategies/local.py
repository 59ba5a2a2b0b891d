"""Local SGD: every rank takes its own steps, and the weights are averaged at intervals.

References: Stich 2019 ("Local SGD converges fast and communicates little"); Lin et al. 2020 ("Don't use large
mini-batches, use local SGD").
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ncc.arrays import Ints
from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.exchange import average, flatten, views_like
from ncc.learning.training.strategies.base import BatchPart, Strategy

_MOMENTS = ("exp_avg", "exp_avg_sq")


class Local(Strategy):
    """Weights are averaged every ``sync_every`` steps; at an epoch's end so are AdamW's moments.

    Between epochs, then, all ranks are in one state. Inside an epoch only weights are averaged, or three times as much
    would be sent: a checkpoint there waits for the next average of weights, so that it changes nothing, and keeps each
    rank's moments.
    """

    def __init__(self, model: nn.Module, config: TrainingConfig, steps_per_epoch: int) -> None:
        """Prepares a model; arguments as for `Strategy`."""
        super().__init__(model, config, steps_per_epoch)
        self._since_average = 0
        for parameter in self.parameters:  # a rank without samples steps as well, on zeros, and has moments then
            parameter.grad = torch.zeros_like(parameter)

    @property
    def at_rest(self) -> bool:
        """Whether weights were just averaged."""
        return self._since_average == 0

    def part(self, samples: Ints) -> BatchPart:
        """This rank's part of a batch, weighted for a gradient of its own."""
        own = super().part(samples).samples
        return BatchPart(own, len(own))

    def _step(self, rate: float) -> None:
        assert self._optimizer
        self._optimizer.step(rate)
        self._since_average += 1
        if self._since_average == self._config.sync_every:
            self._average_weights()

    def _average_weights(self) -> None:
        average(self.exchange, self.parameters)
        self._since_average = 0

    def _moments(self, name: str) -> list[Tensor]:
        assert self._optimizer
        return self._optimizer.moments(name)

    def end_epoch(self) -> None:
        """Averages weights and moments, then makes ranks alike."""
        if not self.at_rest:
            self._average_weights()
        for name in _MOMENTS:
            average(self.exchange, self._moments(name))
        super().end_epoch()

    def rank_state(self) -> dict[str, Tensor]:
        """This rank's moments, flat."""
        return {name: flatten(self._moments(name)).cpu() for name in _MOMENTS}

    def load_state_dict(self, state: dict[str, Any], ranks: Sequence[dict[str, Tensor]] = ()) -> None:
        """Goes on from an earlier state, with this rank's moments of then."""
        super().load_state_dict(state, ranks)
        if not ranks:
            return
        for name in _MOMENTS:
            own = views_like(ranks[self.exchange.rank][name], self.parameters)
            for moment, value in zip(self._moments(name), own, strict=True):
                moment.copy_(value)
