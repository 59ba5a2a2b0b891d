"""Ways of pooling: what each computes, its id, and refusals."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc.errors import InputError
from tests.rooms import POOLINGS, Embedding, Pooler, load_embedding, load_pooler
from tests.support.refuses import refuses

TREE = Path(__file__).parents[2] / "data" / "ir" / "tree.clang22.ll"


@pytest.fixture(scope="module")
def module():
    return ncc.load_module(TREE, abstraction=load_embedding().abstraction)


@pytest.mark.parametrize("name", POOLINGS)
def test_functions_are_pooled_alone_or_together_alike(module, name):
    pooler = load_pooler(name)
    every = pooler.vectors(module, range(module.num_functions))
    assert (every.shape, every.dtype) == ((module.num_functions, pooler.dim), np.dtype(np.float32))
    last = module.num_functions - 1
    assert np.array_equal(pooler.vectors(module, [last, 0]), every[[last, 0]])
    assert pooler.vectors(module, []).shape == (0, pooler.dim)
    assert pooler.vectors(module).shape == (1, pooler.dim)
    lookup = pooler.embedding.look_up(module.texts).expand(module.text_id)
    assert np.array_equal(pooler.vectors(module, lookup=lookup), pooler.vectors(module))


def test_the_mean_is_over_statements(module):
    pooler = load_pooler("mean")
    word = pooler.embedding.look_up(module.texts).expand(module.text_id).word
    for function in range(module.num_functions):
        rows = word[module.function_start[function] : module.function_start[function + 1]]
        expected = pooler.embedding.vectors[rows].astype(np.float64).mean(axis=0)
        assert pooler.vectors(module, [function])[0] == pytest.approx(expected, abs=1e-6)
    expected = pooler.embedding.vectors[word].astype(np.float64).mean(axis=0)
    assert pooler.vectors(module)[0] == pytest.approx(expected, abs=1e-6)


def test_an_id_tells_pooling_and_embedding():
    embedding = load_embedding()
    other = Embedding(embedding.vocabulary, embedding.vectors[:, ::-1], embedding.abstraction)
    ids = {Pooler(table).id for table in (embedding, other)} | {load_pooler("encoder").id}
    assert len(ids) == 3
    assert load_pooler("mean").id == pickle.loads(pickle.dumps(load_pooler("mean"))).id


def test_what_can_not_be_loaded_says_why():
    with refuses(InputError, "pooling", "sum"):
        load_pooler("sum")
    embedding = load_embedding()
    other = Embedding(embedding.vocabulary, embedding.vectors[:, ::-1], embedding.abstraction)
    with refuses(InputError, "another embedding"):
        load_pooler(load_pooler("mean"), other)
