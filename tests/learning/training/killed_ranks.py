"""A training under torchrun one of whose ranks is killed, once; the first writes what it ended with.

Arguments: the strategy, and a folder for the checkpoint and the result.
"""

import os
import runpy
import signal
import sys
import warnings
from pathlib import Path

import torch

from tests.rooms import process_group, rank_and_world

RANKS = runpy.run_path(str(Path(__file__).parent / "strategy_ranks.py"))
KILLED_AT = 9
"""Batch, from 1, before which the last rank dies: the third of the second epoch."""


class Killing(RANKS["Samples"]):  # type: ignore[misc,name-defined,valid-type]
    """Samples that kill the process before a batch."""

    def batch(self, samples, rng):
        try:
            return super().batch(samples, rng)
        except RANKS["StoppedError"]:
            os.kill(os.getpid(), signal.SIGKILL)


def run(strategy: str, checkpoint: Path | None = None, killed_at: int = 0) -> dict:
    """Trains with a checkpoint after each step."""
    data = Killing(6 * 8, stop_at=killed_at)
    return RANKS["result"](RANKS["network"](), data, checkpoint, strategy=strategy, checkpoint_every_s=1e-9)


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("error", FutureWarning)
    strategy, folder = sys.argv[1], Path(sys.argv[2])
    with process_group():
        rank, world = rank_and_world()
        first_start = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
        done = run(strategy, folder / "checkpoint.pt", KILLED_AT if first_start and rank == world - 1 else 0)
    if rank == 0:
        torch.save(done | {"restarts": int(os.environ["TORCHELASTIC_RESTART_COUNT"])}, folder / "done.pt")
