"""Synchronous data parallelism: equal replicas, gradients summed over ranks, exactly or compressed.

Rows of large tables that no rank's part of a batch touched have gradients of 0 everywhere, and are not sent.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ncc.training.compression import make_compression
from ncc.training.config import TrainingConfig
from ncc.training.exchange import flatten, views_like
from ncc.training.strategies.base import Strategy

__all__ = ["Mirrored"]

TABLE_ROWS = 600
"""Rows from which on a matrix is a table, of whose gradient only the rows are sent that are not 0 on all ranks."""


class Mirrored(Strategy):
    """Every rank has the whole model and applies the same gradient; with one rank it is plain training.

    Which rows of tables are sent, ranks find in a sum of flags, a byte a row. What comes of it is, to the bit, what
    sending all would have come to, if numbers are added up in the same order: with two ranks always. On a GPU the host
    waits for these flags once a step.
    """

    def __init__(self, model: nn.Module, config: TrainingConfig, steps_per_epoch: int) -> None:
        """Prepares a model; arguments as for `Strategy`."""
        super().__init__(model, config, steps_per_epoch)
        self._compression = make_compression(config, self.exchange) if self.exchange.world > 1 else None

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
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        sends_all = self._compression is not None and self._compression.whole
        tables = [one for one in gradients if not sends_all and one.ndim == 2 and len(one) >= TABLE_ROWS]
        sent = [one for one in gradients if all(one is not table for table in tables)]
        rows = self._touched(tables)
        parts = [table[touched] for table, touched in zip(tables, rows, strict=True)]
        flat = flatten([*sent, *parts])
        if self._compression:
            self._compression.step += 1
            self._compression.sum(flat, [*sent, *parts])
        else:
            self.exchange.sum(flat)
        sums = views_like(flat, [*sent, *parts])
        for gradient, value in zip(sent, sums, strict=False):
            gradient.copy_(value)
        for table, touched, value in zip(tables, rows, sums[len(sent) :], strict=True):
            table[touched] = value

    def _touched(self, tables: Sequence[Tensor]) -> list[Tensor]:
        """For each table the numbers of its rows that are not 0 on all ranks."""
        if not tables:
            return []
        flags = self.exchange.either(torch.cat([(table != 0).any(dim=1) for table in tables]))
        return [part.nonzero()[:, 0] for part in torch.split(flags, [len(table) for table in tables])]

    def load_state_dict(self, state: dict[str, Any], ranks: Sequence[dict[str, Tensor]] = ()) -> None:
        """Goes on from an earlier state; what a compression kept to itself is lost."""
        super().load_state_dict(state, ranks)
        if self._compression:
            self._compression.step = self.steps
