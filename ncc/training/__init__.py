"""The training loop, its checkpoints, and data-parallel runs under torchrun."""

from ncc.training.config import COMPRESSIONS, STRATEGIES, TrainingConfig, TrainingStatistics
from ncc.training.loop import TrainingData, train

__all__ = ["COMPRESSIONS", "STRATEGIES", "TrainingConfig", "TrainingData", "TrainingStatistics", "train"]
