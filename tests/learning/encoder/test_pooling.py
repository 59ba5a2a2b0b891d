"""Ways of pooling: what each computes, its id, and refusals."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc.errors import InputError
from tests.rooms import POOLERS, Embedding, IdfPooler, MeanPooler, load_embedding, load_pooler

TREE = Path(__file__).parents[2] / "data" / "ir" / "tree.clang22.ll"


@pytest.fixture(scope="module")
def module():
    return ncc.load_module(TREE, abstraction=load_embedding().abstraction)


@pytest.mark.parametrize("name", POOLERS)
def test_functions_are_pooled_alone_or_together_alike(module, name):
    pooler = load_pooler(name)
    every = pooler.vectors(module, range(module.num_functions))
    assert (every.shape, every.dtype) == ((module.num_functions, pooler.dim), np.dtype(np.float32))
    last = module.num_functions - 1
    assert np.array_equal(pooler.vectors(module, [last, 0]), every[[last, 0]])
    assert pooler.vectors(module, []).shape == (0, pooler.dim)
    assert pooler.vectors(module).shape == (1, pooler.dim)
    lookup = pooler.embedding.look_up(module.texts).over(module.text_id)
    assert np.array_equal(pooler.vectors(module, lookup=lookup), pooler.vectors(module))


def test_idf_weighs_rare_statements_and_takes_the_corpus_away(module):
    pooler = load_pooler("idf")
    counts, vectors = pooler.embedding.vocabulary.counts, pooler.embedding.vectors.astype(np.float64)
    weight = np.log(1 + counts.sum() / (1 + counts))
    background = (counts * weight) @ vectors / (counts * weight).sum()
    word = pooler.embedding.look_up(module.texts).over(module.text_id).word[: module.function_start[1]]
    expected = weight[word] @ vectors[word] / weight[word].sum() - background
    assert pooler.vectors(module, [0])[0] == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)


def test_an_id_tells_pooling_and_embedding():
    embedding = load_embedding()
    other = Embedding(embedding.vocabulary, embedding.vectors[:, ::-1], embedding.abstraction)
    ids = {kind(table).id for kind in (MeanPooler, IdfPooler) for table in (embedding, other)}
    assert len(ids) == 4
    assert load_pooler("idf").id == pickle.loads(pickle.dumps(load_pooler("idf"))).id


def test_counts_of_zero_weigh_alike(module):
    embedding = load_embedding()
    words = type(embedding.vocabulary)(embedding.vocabulary.words, np.zeros_like(embedding.vocabulary.counts))
    vector = IdfPooler(Embedding(words, embedding.vectors, embedding.abstraction)).vectors(module)[0]
    mean = load_pooler("mean").vectors(module)[0]
    assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_what_can_not_be_loaded_says_why():
    with pytest.raises(InputError, match="pooling is 'sum'; expected one of mean, idf"):
        load_pooler("sum")
    embedding = load_embedding()
    other = Embedding(embedding.vocabulary, embedding.vectors[:, ::-1], embedding.abstraction)
    with pytest.raises(InputError, match="another embedding"):
        load_pooler(load_pooler("mean"), other)
