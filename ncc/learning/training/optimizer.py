"""Updates the weights: AdamW on clipped gradients, with a learning rate that warms up and then decays to 0.

References: Loshchilov and Hutter 2019 ("Decoupled weight decay regularization"); half a cosine as in their SGDR, 2017.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ncc.learning.training.config import TrainingConfig


class ClippedAdamW:
    """AdamW that clips the gradient's norm first and clears the gradient afterwards."""

    def __init__(self, parameters: Sequence[Tensor], config: TrainingConfig) -> None:
        """Takes the tensors to move, and weight decay and largest norm from the configuration."""
        rate, decay = config.learning_rate, config.weight_decay
        self.adam = torch.optim.AdamW(parameters, lr=rate, weight_decay=decay, fused=True)
        self._parameters = parameters
        self._clip = config.clip

    def step(self, rate: float) -> None:
        """Moves the parameters along their gradients."""
        nn.utils.clip_grad_norm_(self._parameters, self._clip)
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        self.adam.zero_grad(set_to_none=False)

    def moments(self, name: str) -> list[Tensor]:
        """The parameters' ``exp_avg`` or ``exp_avg_sq``, once there was a step."""
        return [self.adam.state[parameter][name] for parameter in self._parameters]

    def state_dict(self) -> dict[str, Any]:
        """State of AdamW."""
        return self.adam.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from an earlier state."""
        self.adam.load_state_dict(state)


def rate_factor(step: int, warm: int, total: int) -> float:
    """Factor of the learning rate: up to 1 along a line, then to 0 along half a cosine.

    Args:
        step: From 0.
        warm: Steps of the line.
        total: Steps in all.
    """
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, total - warm)))
