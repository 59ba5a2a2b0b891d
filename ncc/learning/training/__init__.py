"""The training loop, its checkpoints, and data-parallel runs under torchrun."""

from ncc.learning.training.config import COMPRESSIONS, STRATEGIES, TrainingConfig, TrainingStatistics
from ncc.learning.training.loop import TrainingData, train

__all__ = ["COMPRESSIONS", "STRATEGIES", "TrainingConfig", "TrainingData", "TrainingStatistics", "train"]
