"""Small skip-grams for the test of data-parallel training: each rank writes what it ended with.

Arguments: the rank, how many there are, and a folder for the results. Each rank is given a checkpoint of its own name,
to see who writes one; a training that stops half way leaves ``NAME.stopped.safetensors``, from which all ranks go on.
"""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
from torch import distributed

from ncc.learning.embedding.config import SkipGramConfig
from ncc.learning.embedding.skipgram import SkipGramResult, train_skipgram
from ncc.learning.training.ranks import process_group

WORDS = tuple(f"<%ID> = op{i % 6} i{8 << i % 5} <%ID>" for i in range(30))
CASES = {
    "plain": SkipGramConfig(dim=8, epochs=4, steps_per_epoch=3, subsample=0.01, share_parts=False),
    "shared": SkipGramConfig(dim=8, epochs=4, steps_per_epoch=3, subsample=0.01),
    "blocks": SkipGramConfig(dim=8, epochs=4, steps_per_epoch=3, subsample=0.01, rows=2, columns=7),
    "one word a step": SkipGramConfig(dim=8, epochs=4, steps_per_epoch=100, subsample=0.01),
}


class StoppedError(Exception):
    """Ends a training half way."""


def pairs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random counts, sorted by centre."""
    rng = np.random.default_rng(0)
    dense = rng.integers(1, 100, (30, 30)) * (rng.random((30, 30)) < 0.3)
    center, context = np.nonzero(dense)
    return center.astype(np.int32), context.astype(np.int32), dense[center, context].astype(np.int64)


def run(case: str, checkpoint: Path | None = None, stop_at: int = 0) -> SkipGramResult:
    """Trains one case, or the part of it up to an epoch."""

    def halt(epoch: int, _: float) -> None:
        if epoch == stop_at:
            raise StoppedError

    return train_skipgram(*pairs(), WORDS, CASES[case], checkpoint=checkpoint, progress=halt)


def save(result: SkipGramResult, path: Path) -> None:
    """Writes all that a training gave."""
    np.savez(path, **vars(result))


if __name__ == "__main__":
    torch.set_num_threads(1)
    rank, world, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(world)}
    with process_group(init_method=f"file://{folder}/meeting?rank={rank}&world_size={world}") as device:
        assert device == "cpu"
        for case in CASES:
            own = folder / f"{case}.checkpoint-of-rank{rank}.safetensors"
            save(run(case, own), folder / f"{case}.rank{rank}.npz")
            try:
                run(case, folder / f"{case}.stopped.safetensors", stop_at=2)
            except StoppedError:
                distributed.barrier()  # rank 0 writes the checkpoint, and all must see it
            going_on = folder / f"{case}.copy{rank}.safetensors"
            if rank == 0:  # as on nodes without a common file system
                shutil.copy(folder / f"{case}.stopped.safetensors", going_on)
            save(run(case, going_on), folder / f"{case}.resumed{rank}.npz")
    threads = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").glob("*")]  # none but on Linux
    assert not any("gloo" in name for name in threads), threads  # those that are left abort the process at its end
