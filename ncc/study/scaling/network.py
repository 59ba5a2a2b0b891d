"""The classifier's network as a sweep trains it: counted, timed, and kept on its device to be evaluated there."""

import numpy as np
import torch
from numpy.typing import NDArray

from ncc.classification.networks import ProgramLSTMMethod
from ncc.classification.samples import ProgramSamples
from ncc.runtime.ranks import rank_and_world, sum_over_ranks

__all__ = ["MeasuredNetwork"]


class MeasuredNetwork(ProgramLSTMMethod):
    """The network of ``ncc train classify``, trained by several ranks."""

    @property
    def num_weights(self) -> int:
        """Parameters that are trained."""
        assert self.model is not None
        return sum(parameter.numel() for parameter in self.model.parameters() if parameter.requires_grad)

    def accuracy(self, samples: ProgramSamples, rows: NDArray[np.int64]) -> float:
        """Share of programs whose class it says; every rank asks about its part of them."""
        rank, world = rank_and_world()
        own = rows[rank::world]
        right = int((self.predict(samples, own).argmax(axis=1) == samples.label[own]).sum())
        total = torch.tensor(right, device=self._device)
        sum_over_ranks([total])
        return int(total) / len(rows)
