"""Asynchronous training with bounded staleness: gradients are sent while later batches are computed.

References: Ho et al. 2013 ("More effective distributed ML via a stale synchronous parallel parameter server"), for the
bound; Li et al. 2018 ("Pipe-SGD: a decentralized pipelined SGD framework for distributed deep net training"), for the
sums that all ranks apply alike, a fixed number of steps late.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch import distributed as dist

from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.exchange import flatten, views_like
from ncc.learning.training.strategies.base import Strategy


class _InFlight(NamedTuple):
    """A gradient on its way: the flat sum over ranks once ``work`` is done, and the learning rate of its step."""

    flat: Tensor
    rate: float
    work: "dist.Work | None"


class Stale(Strategy):
    """The sum of step t's gradients is applied after the backward of step t + s, by all ranks alike.

    Replicas stay equal, no rank is more than s steps ahead of another, and s = 0 is synchronous. What is on its way is
    applied at the end of an epoch; a checkpoint inside an epoch carries it along.
    """

    def __init__(self, model: nn.Module, config: TrainingConfig, steps_per_epoch: int) -> None:
        """Makes room for s + 1 gradients; arguments as for `Strategy`."""
        super().__init__(model, config, steps_per_epoch)
        zero = flatten(self.parameters).zero_()
        self._free = [zero, *(zero.clone() for _ in range(config.staleness))]
        self._in_flight: deque[_InFlight] = deque()
        self._own = self._take_free()

    def _take_free(self) -> Tensor:
        """Lets backward add to a gradient of zeros, which is returned."""
        flat = self._free.pop()
        self._bind(flat)
        return flat

    def _bind(self, flat: Tensor) -> None:
        for parameter, view in zip(self.parameters, views_like(flat, self.parameters), strict=True):
            parameter.grad = view

    def _step(self, rate: float) -> None:
        self._in_flight.append(_InFlight(self._own, rate, self.exchange.begin_sum(self._own)))
        while len(self._in_flight) > self._config.staleness:
            self._apply_oldest()
        self._own = self._take_free()

    def _apply_oldest(self) -> None:
        assert self._optimizer
        oldest = self._in_flight.popleft()
        if oldest.work:
            oldest.work.wait()
        self._bind(oldest.flat)
        self._optimizer.step(oldest.rate)  # which clears the gradient
        self._free.append(oldest.flat)

    def end_epoch(self) -> None:
        """Applies what is on its way, then makes ranks alike."""
        while self._in_flight:
            self._apply_oldest()
        self._bind(self._own)
        super().end_epoch()

    def state_dict(self) -> dict[str, Any]:
        """What the first rank keeps, the sums of gradients that are on their way among it."""
        for gradient in self._in_flight:
            if gradient.work:
                gradient.work.wait()
        in_flight = [(gradient.flat.cpu(), gradient.rate) for gradient in self._in_flight]
        return super().state_dict() | {"in_flight": in_flight}

    def load_state_dict(self, state: dict[str, Any], ranks: Sequence[dict[str, Tensor]] = ()) -> None:
        """Goes on from an earlier state, with the gradients that were on their way then."""
        super().load_state_dict(state, ranks)
        for flat, rate in state["in_flight"]:
            own = self._free.pop().copy_(flat)
            self._in_flight.append(_InFlight(own, float(rate), None))
