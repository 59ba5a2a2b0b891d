"""Counts of the IR fixtures, and a small embedding trained on them."""

from pathlib import Path

import numpy as np
import pytest

from ncc import Embedding, EmbeddingConfig, Module, build_xfg, count_contexts, read_module
from tests.rooms import CorpusCounts, CountsBuilder, fit_embedding

IR = Path(__file__).parents[2] / "data" / "ir"
FIXTURES = sorted(path for path in IR.iterdir() if path.suffix in (".ll", ".bc"))


@pytest.fixture(scope="session")
def modules() -> list[Module]:
    return [read_module(path) for path in FIXTURES]


def counted(module: Module, width: int = 2) -> tuple:
    """One file's arguments of `CountsBuilder.add`."""
    pairs = count_contexts(build_xfg(module), module.text_id, width)
    statements = np.bincount(module.text_id, minlength=len(module.texts)).astype(np.int64)
    return module.texts, statements, (pairs.center, pairs.context, pairs.count)


@pytest.fixture(scope="session")
def files(modules: list[Module]) -> list[tuple]:
    """Each fixture's counts, as `CountsBuilder.add` takes them."""
    return [counted(module) for module in modules]


@pytest.fixture(scope="session")
def counts(files: list[tuple]) -> CorpusCounts:
    builder = CountsBuilder(2)
    for file in files:
        builder.add(*file, num_lines=10)
    return builder.finish()


@pytest.fixture(scope="session")
def small(counts: CorpusCounts) -> Embedding:
    """An embedding of a few dozen numbers, trained for a moment."""
    return fit_embedding(
        counts,
        EmbeddingConfig(min_count=4, dim=12, epochs=6, steps_per_epoch=5, subsample=0),
        card={"note": "test"},
    )
