"""Synchronous data parallelism: equal replicas, gradients summed over ranks, exactly or compressed.

Rows of tables that no rank's part of a batch touched have gradients of 0 everywhere, and are not sent.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ncc.arrays import Ints
from ncc.learning.training.compression import make_compression
from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.exchange import flatten, views_like
from ncc.learning.training.strategies.base import BatchPart, Strategy


class Mirrored(Strategy):
    """Every rank has the whole model and applies the same gradient; with one rank it is plain training.

    Which rows of tables are sent, each rank knows by itself, from the whole batch (see `Strategy.touched`). What comes
    of it is, to the bit, what sending all would have come to, if numbers are added up in the same order: with two ranks
    always.
    """

    def __init__(self, model: nn.Module, config: TrainingConfig, steps_per_epoch: int) -> None:
        """Prepares a model; arguments as for `Strategy`."""
        super().__init__(model, config, steps_per_epoch)
        self._compression = make_compression(config, self.exchange) if self.exchange.world > 1 else None
        self._batch = np.zeros(0, np.int64)

    def part(self, samples: Ints) -> BatchPart:
        """As `Strategy.part` says."""
        self._batch = samples
        return super().part(samples)

    def _step(self, rate: float) -> None:
        assert self._optimizer
        if self.exchange.world > 1:
            self._sum_gradients()
        self._optimizer.step(rate)

    @torch.no_grad()
    def _sum_gradients(self) -> None:
        for parameter in self.parameters:
            if parameter.grad is None:  # of a rank without samples
                parameter.grad = torch.zeros_like(parameter)
        rows = self._rows()
        whole = [one.grad for one in self.parameters if one.grad is not None and id(one) not in rows]
        tables = [(one.grad, rows[id(one)]) for one in self.parameters if one.grad is not None and id(one) in rows]
        sent = [*whole, *(table[touched] for table, touched in tables)]
        flat = flatten(sent)
        if self._compression:
            self._compression.step += 1
            self._compression.sum(flat)
        else:
            self.exchange.sum(flat)
        sums = views_like(flat, sent)
        for gradient, value in zip(whole, sums, strict=False):
            gradient.copy_(value)
        for (table, touched), value in zip(tables, sums[len(whole) :], strict=True):
            table[touched] = value

    def _rows(self) -> dict[int, Tensor]:
        """Rows of tables that are sent of this batch, by the tables' identities."""
        if (self._compression and self._compression.whole) or not self.touched:
            return {}
        known = dict(self._model.named_parameters())
        found = {known[name]: rows for name, rows in self.touched(self._batch).items() if name in known}
        return {id(table): torch.from_numpy(rows).to(table.device) for table, rows in found.items()}

    def load_state_dict(self, state: dict[str, Any], ranks: Sequence[dict[str, Tensor]] = ()) -> None:
        """Goes on from an earlier state; what a compression kept to itself is lost."""
        super().load_state_dict(state, ranks)
        if self._compression:
            self._compression.step = self.steps
