"""Random draws of an epoch: the order of samples, equal on all ranks, and each rank's own noise and dropout."""

import json
from typing import Any

import numpy as np
import torch


class Draws:
    """A rank's generators in an epoch.

    Attributes:
        rng: Follows from seed and epoch, so that all ranks order samples alike. torch's own generators, which dropout
            draws from, are seeded by it and the rank.
    """

    def __init__(self, seed: int, epoch: int, rank: int, device: torch.device) -> None:
        """Seeds a rank's generators for an epoch, torch's on host and devices among them."""
        self.rng = np.random.default_rng([seed, epoch])
        self._device = device
        torch.manual_seed(int(self.rng.integers(2**31)) + rank)

    def state_dict(self) -> dict[str, Any]:
        """State of the generators that are drawn from: JSON, and uint8 tensors on the host."""
        state = {"numpy": json.dumps(self.rng.bit_generator.state), "host": torch.get_rng_state()}
        if self._device.type == "cuda":
            state["device"] = torch.cuda.get_rng_state(self._device)
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Draws on from an earlier state."""
        self.rng.bit_generator.state = json.loads(state["numpy"])
        torch.set_rng_state(state["host"])
        if "device" in state and self._device.type == "cuda":
            torch.cuda.set_rng_state(state["device"], self._device)
