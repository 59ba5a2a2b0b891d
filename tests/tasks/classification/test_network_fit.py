"""Networks on programs: what is there to be learned is learned."""

from dataclasses import replace

import numpy as np

from tests.rooms import fit_network, load_embedding, probabilities
from tests.support.classifiers import SMALL


def test_it_learns_what_two_kinds_of_programs_are(samples):
    is_test = np.arange(len(samples)) % 4 == 0
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    hidden = samples.without_answers(test)
    training = replace(SMALL, loop=replace(SMALL.loop, epochs=16))
    network = fit_network(hidden, train, load_embedding(), training, np.random.default_rng(0))
    levels = network.training.levels(hidden)
    predicted = probabilities([network.scores(hidden.variants[level].rows(test)) for level in levels])
    assert predicted.shape == (len(test), 2)
    assert (predicted.argmax(axis=1) == samples.label[test]).mean() >= 0.8
