"""Data-parallel strategies: ways in which ranks train one model together, unknown to the loop."""

from torch import nn

from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.strategies.base import BatchPart, Strategy, Touched
from ncc.learning.training.strategies.central import Central
from ncc.learning.training.strategies.local import Local
from ncc.learning.training.strategies.mirrored import Mirrored
from ncc.learning.training.strategies.stale import Stale

__all__ = ["BatchPart", "Strategy", "make_strategy"]

_STRATEGIES: dict[str, type[Strategy]] = {
    "mirrored": Mirrored,
    "central": Central,
    "stale": Stale,
    "local": Local,
}


def make_strategy(
    model: nn.Module, config: TrainingConfig, steps_per_epoch: int, touched: Touched | None = None
) -> Strategy:
    """The strategy that a configuration names, for a model that is the same on all ranks.

    Args:
        model: In training mode, on the device where it stays.
        config: How to train.
        steps_per_epoch: Batches of an epoch.
        touched: Rows of tables that alone get gradients from some samples, by the tables' names; None if not known.
    """
    strategy = _STRATEGIES[config.strategy](model, config, steps_per_epoch)
    strategy.touched = touched
    return strategy
