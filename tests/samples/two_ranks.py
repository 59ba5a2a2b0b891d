"""Small trainings for the test of data-parallel runs: each of two ranks writes what its models ended with.

Arguments: the rank, and a folder where the ranks meet and leave their results.
"""

import os
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.loop import train
from ncc.learning.training.ranks import process_group

CASES = {
    "divides": (32, "same"),
    "last batch of one": (33, "same"),
    "last batch of three": (35, "same"),
    "own start": (32, "own"),
    "batch norm": (32, "norm"),
}
"""Name → samples (in batches of 8), and whether ranks start alike, apart, or normalise batches."""


class Samples:
    """Rows of numbers, and the sine of their sum."""

    def __init__(self, number: int) -> None:
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randn(number, 4, generator=generator)
        self.y = self.x.sum(dim=1, keepdim=True).sin()

    def __len__(self) -> int:
        return len(self.x)

    def digest(self) -> str:
        """Of what is random."""
        return str(float(self.y.sum()))

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[np.ndarray]:
        """All samples once, in random order."""
        order = rng.permutation(len(self))
        return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]

    def batch(self, samples, rng):
        """Inputs and targets."""
        return (self.x[samples],), self.y[samples]


def run(case: str, rank: int, checkpoint: Path | None = None) -> dict:
    """Trains one case and returns weights, buffers and losses."""
    number, start = CASES[case]
    torch.manual_seed(rank if start == "own" else 0)
    norm = nn.BatchNorm1d(8) if start == "norm" else nn.Identity()
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), norm, nn.Linear(8, 1))
    config = TrainingConfig(epochs=3, batch_size=8, global_batch=True)
    losses = train(model, Samples(number), nn.functional.mse_loss, config, checkpoint=checkpoint)
    return {"model": model.state_dict(), "losses": losses}


if __name__ == "__main__":
    torch.set_num_threads(1)
    rank, folder = int(sys.argv[1]), Path(sys.argv[2])
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2"}
    with process_group(init_method=f"file://{folder}/meeting?rank={rank}&world_size=2"):
        results = {case: run(case, rank, folder / f"{case}.pt") for case in CASES}
        resumed = {case: run(case, rank, folder / f"{case}.pt") for case in CASES}
    torch.save({"results": results, "resumed": resumed}, folder / f"rank{rank}.pt")
