"""Small skip-grams for the test of data-parallel training: each rank writes what it ended with."""

from pathlib import Path
from unittest import mock

import numpy as np

from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.embedding.skipgram import SkipGramResult, train_skipgram
from tests.support.ranks import run_rank

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


def run_all(rank: int, _world: int, folder: Path) -> None:
    """Trains all cases, and writes all that each gives."""
    for case in CASES:
        np.savez(folder / f"{case}.rank{rank}.npz", **vars(run(case)))


if __name__ == "__main__":
    run_rank(run_all)
