"""What the strategies share: a rank's part of a batch, the order of calls, and their state."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor, nn

from ncc.arrays import Ints
from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.exchange import Exchange
from ncc.learning.training.optimizer import ClippedAdamW, rate_factor

Touched = Callable[[Ints], Mapping[str, Ints]]


@dataclass(frozen=True, eq=False)
class BatchPart:
    """A rank's part of a batch.

    Attributes:
        samples: int64 indices; there may be none.
        of: Number of samples that this rank's gradient is the mean over, with those of other parts.
    """

    samples: Ints
    of: int

    def pieces(self, number: int) -> list[Ints]:
        """The samples cut into ``number`` pieces of like size, fewer where there are fewer samples."""
        return np.array_split(self.samples, min(number, len(self.samples))) if len(self.samples) else []

    def weight(self, num_samples: int) -> float:
        """Weight of the mean loss of some of the samples."""
        return num_samples / self.of


class Strategy(ABC):
    """How ranks make one model: who computes what of a batch, what is exchanged, and when weights move.

    For each batch the loop calls `part`, computes the gradients of its pieces, then calls `step`; at the end of an
    epoch `end_epoch`. All ranks do so alike, also those whose part is empty. Weights and buffers must
    be the same on all ranks from the start.

    Attributes:
        parameters: Those that are trained.
        steps: Steps done, which the learning rate follows from.
        exchange: Sends, and counts what is sent.
        touched: Rows of tables that alone get gradients from some samples, by the tables' names; None if not known.
    """

    touched: Touched | None = None

    def __init__(self, model: nn.Module, config: TrainingConfig, steps_per_epoch: int) -> None:
        """Prepares a model for steps.

        Args:
            model: In training mode, on the device where it stays.
            config: How to train.
            steps_per_epoch: Batches of an epoch; over the first one the learning rate is warmed up.
        """
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.steps = 0
        self.exchange = Exchange()
        self._model = model
        self._config = config
        self._steps_per_epoch = steps_per_epoch
        self._optimizer: ClippedAdamW | None = self._make_optimizer()
        self._drop_gradients()

    @property
    def at_rest(self) -> bool:
        """Whether ranks have the same weights now, so that a checkpoint can be made."""
        return True

    def _make_optimizer(self) -> ClippedAdamW | None:
        """The optimizer of this rank, if it has one."""
        return ClippedAdamW(self.parameters, self._config)

    def part(self, samples: Ints) -> BatchPart:
        """This rank's part of a batch, every world-th sample."""
        return BatchPart(samples[self.exchange.rank :: self.exchange.world], len(samples))

    def step(self) -> None:
        """Exchanges, clips and applies what backward has left in the gradients, and clears them."""
        warm = self._steps_per_epoch
        self._step(self._config.learning_rate * rate_factor(self.steps, warm, warm * self._config.epochs))
        self.steps += 1

    @abstractmethod
    def _step(self, rate: float) -> None: ...

    def end_epoch(self) -> None:
        """Makes ranks alike: buffers, which batch normalisation gathers on each rank alone, become the first's."""
        kept = self._model.state_dict()
        for name, buffer in self._model.named_buffers():
            if name in kept:
                self.exchange.broadcast(buffer)

    def state_dict(self) -> dict[str, Any]:
        """What the first rank keeps, beside the model, for all ranks to go on from."""
        return {"steps": self.steps, "optimizer": self._optimizer.state_dict() if self._optimizer else {}}

    def load_state_dict(self, state: dict[str, Any], ranks: Sequence[dict[str, Tensor]] = ()) -> None:  # noqa: ARG002
        """Goes on from an earlier state, with the model's weights of then already in place.

        Args:
            state: What `state_dict` gave.
            ranks: What `rank_state` gave on each rank; none at an epoch's beginning.
        """
        self.steps = int(state["steps"])
        if self._optimizer:
            self._optimizer.load_state_dict(state["optimizer"])

    def rank_state(self) -> dict[str, Tensor]:
        """What is this rank's alone inside an epoch, on the host."""
        return {}

    def close(self) -> None:
        """Drops gradients, and whatever else would outlive the process group."""
        self._drop_gradients()

    def _drop_gradients(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None
