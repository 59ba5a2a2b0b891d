"""Networks on programs: what is there to be learned is learned."""

from dataclasses import replace

import numpy as np
import pytest

from tests.rooms import fit_network, load_embedding, probabilities
from tests.support.classifiers import SMALL


@pytest.fixture(scope="module")
def embedding():
    return load_embedding()


def _fit(samples, rows, training, **options):
    return fit_network(samples, rows, load_embedding(), training, np.random.default_rng(0), **options)


def _predict(network, samples, rows):
    levels = network.training.levels(samples)
    return probabilities([network.scores(samples.variants[level].rows(rows)) for level in levels])


FULL = [
    pytest.param(change, marks=pytest.mark.full) for change in ({"buckets": 0}, {"train_vectors": False}, {"layers": 2})
]


@pytest.mark.parametrize("change", [{}, *FULL], ids=str)
def test_it_learns_what_two_kinds_of_programs_are(samples, change):
    test = np.arange(len(samples)) % 4 == 0
    losses = []
    hidden = samples.without_answers(np.flatnonzero(test))
    training = replace(SMALL, encoder=replace(SMALL.encoder, **change), loop=replace(SMALL.loop, epochs=16))
    network = _fit(hidden, np.flatnonzero(~test), training, progress=lambda _epoch, loss, _: losses.append(loss))
    predicted = _predict(network, hidden, np.flatnonzero(test))
    assert predicted.shape == (test.sum(), 2)
    assert (predicted.argmax(axis=1) == samples.label[test]).mean() >= 0.8
    assert losses[-1] < losses[0]


def test_only_words_in_use_have_vectors_of_their_own(samples, embedding):
    one_level = replace(samples, variants={"-O1": samples.variants["-O1"]})
    rows = np.arange(0, len(samples), 2)
    network = _fit(one_level, rows, replace(SMALL, loop=replace(SMALL.loop, epochs=1, learning_rate=1e-30)))
    vectors = network.to_numpy().vectors
    table = samples.variants["-O1"].rows(rows)
    words = np.unique(embedding.look_up(table.texts).word[np.unique(table.text_id)])
    assert len(vectors) == len(words)
    assert np.array_equal(vectors[network.row[words]], embedding.vectors[words])
    other = np.setdiff1d(np.arange(len(embedding.vectors)), words)[:50]
    best = (embedding.vectors[other] @ embedding.vectors[words].T).max(axis=1)
    assert np.einsum("ij,ij->i", embedding.vectors[other], vectors[network.row[other]]) == pytest.approx(best, abs=1e-5)
