"""Ncc's classifiers as methods: levels averaged, scores added, and told apart by what they depend on."""

from dataclasses import replace

import numpy as np
import pytest
from joblib import hash as content_hash
from scipy.special import softmax

from lab.tests.rooms import NetworkMethod, NgramMethod, whole_classifier
from ncc.errors import InputError
from tests.rooms import NetworkTraining, TrainingConfig, load_embedding, program_encoder, program_head

SMALL = NetworkTraining(
    encoder=program_encoder(hidden=8, buckets=64),
    head=program_head(dense=16),
    min_steps=1,
    loop=TrainingConfig(epochs=1, batch_size=8, learning_rate=5e-3),
)
METHODS = {
    "network": lambda: NetworkMethod(load_embedding(), SMALL),
    "n-grams": lambda: NgramMethod(load_embedding(), 4096),
    "both": lambda: whole_classifier(load_embedding(), SMALL),
}


@pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)
def test_the_scores_of_a_programs_levels_are_averaged(samples, make):
    method = make()
    with pytest.raises(InputError, match="fit the method"):
        method.predict(samples, np.arange(3))
    method.fit(samples, np.arange(0, len(samples), 2), np.random.default_rng(0))
    rows = np.array([5, 2, 31])
    levels = [method.scores(samples, level, rows) for level in ("-O1", "-O0")]
    assert np.abs(levels[0] - levels[1]).max() > 1e-3
    expected = softmax(method.sharpness * (levels[0] + levels[1]) / 2, axis=1)
    assert method.predict(samples, rows) == pytest.approx(expected, abs=1e-9)
    alone = replace(samples, views={"-O0": samples.views["-O0"]})
    assert method.predict(alone, rows) == pytest.approx(softmax(method.sharpness * levels[1], axis=1))


def test_the_whole_adds_up_its_parts(samples):
    method = whole_classifier(load_embedding(), SMALL)
    rows = np.arange(0, len(samples), 2)
    method.fit(samples, rows, np.random.default_rng(0))
    parts = [weight * part.scores(samples, "-O1", rows) for part, weight in method.parts.items()]
    assert method.scores(samples, "-O1", rows) == pytest.approx(sum(parts))
    assert method.slow


def test_options_tell_methods_apart():
    embedding = load_embedding()
    methods = [NgramMethod(embedding), NgramMethod(embedding, buckets=64), NgramMethod(embedding, penalty=2.0)]
    assert len({content_hash(method.identity) for method in methods}) == 3
    assert content_hash(methods[0].identity) == content_hash(NgramMethod(embedding, name="other").identity)
