"""The XFG beside the one that plain Python makes from the paper's rules, on real modules and on some made up."""

import random
from pathlib import Path

import pytest

import ncc
from fuzz.grammar import random_module
from tests.oracles.xfg import slow_xfg_edges, xfg_edges

IR = Path(__file__).parents[2] / "data" / "ir"
FIXTURES = sorted(path.name for path in IR.iterdir() if path.suffix in (".ll", ".bc"))
NUM_RANDOM = 250


@pytest.mark.parametrize("file", FIXTURES)
def test_every_edge_follows_from_the_rules(file: str) -> None:
    graph = ncc.build_xfg(ncc.read_module(IR / file))
    assert xfg_edges(graph) == slow_xfg_edges(graph.module)


@pytest.mark.parametrize("pointers", ["typed", "opaque"])
def test_every_edge_of_modules_made_up_follows_from_the_rules(pointers: str) -> None:
    for seed in range(NUM_RANDOM):
        text = random_module(random.Random(seed))[pointers == "opaque"]
        graph = ncc.build_xfg(ncc.read_module(text.encode()))
        assert xfg_edges(graph) == slow_xfg_edges(graph.module), f"seed {seed}"
