"""Small skip-grams for the test of data-parallel training: each rank writes what it ended with.

Arguments: the rank, how many there are, and a folder for the results.
"""

import os
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.embedding.skipgram import SkipGramResult, train_skipgram
from ncc.learning.training.ranks import process_group

WORDS = tuple(f"<%ID> = op{i % 6} i{8 << i % 5} <%ID>" for i in range(30))
CASES = {
    "plain": EmbeddingConfig(dim=8, epochs=4, steps_per_epoch=3, subsample=0.01, subwords=False),
    "shared": EmbeddingConfig(dim=8, epochs=4, steps_per_epoch=3, subsample=0.01),
    "blocks": EmbeddingConfig(dim=8, epochs=4, steps_per_epoch=3, subsample=0.01),
    "one word a step": EmbeddingConfig(dim=8, epochs=4, steps_per_epoch=100, subsample=0.01),
}


def pairs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random counts, sorted by centre."""
    rng = np.random.default_rng(0)
    dense = rng.integers(1, 100, (30, 30)) * (rng.random((30, 30)) < 0.3)
    center, context = np.nonzero(dense)
    return center.astype(np.int32), context.astype(np.int32), dense[center, context].astype(np.int64)


def run(case: str) -> SkipGramResult:
    """Trains one case."""
    sizes = {"ROWS": 2, "COLUMNS": 7} if case == "blocks" else {"ROWS": 2048}
    with mock.patch.multiple("ncc.learning.embedding.skipgram", **sizes):
        return train_skipgram(*pairs(), WORDS, CASES[case])


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
            save(run(case), folder / f"{case}.rank{rank}.npz")
    threads = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").glob("*")]  # none but on Linux
    assert not any("gloo" in name for name in threads), threads  # those that are left abort the process at its end
