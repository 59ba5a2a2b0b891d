"""The training loop, its checkpoints, and data-parallel runs under torchrun."""

from ncc.training.loop import TrainingConfig, TrainingData, train

__all__ = ["TrainingConfig", "TrainingData", "train"]
