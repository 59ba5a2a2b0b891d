"""Heads that ship: what was trained, calibrated and measured, trained again on all programs, and after a stop."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from ncc.errors import AssetError
from tests.rooms import calibrate, encoded_programs, fit_classifier, fit_network, load_embedding, probabilities
from tests.support.classifiers import SMALL
from tests.support.refuses import refuses

SHORT = replace(SMALL, loop=replace(SMALL.loop, epochs=2))


@pytest.fixture(scope="module")
def embedding():
    return load_embedding()


@pytest.fixture(scope="module")
def head(samples, embedding):
    return fit_classifier(samples, embedding, SMALL)


@pytest.fixture(scope="module")
def refitted(samples, embedding, head):
    return fit_classifier(samples, embedding, SHORT, refit=head)


def test_a_head_is_trained_further_on_all_programs(samples, embedding, head, refitted):
    for name in ("classes", "temperature", "threshold", "embedding_id", "ngram_weight", "levels"):
        assert getattr(refitted, name) == getattr(head, name)
    assert (refitted.card["training"], refitted.card["measured_when_trained_on"]) == (40, 24)
    for name in ("programs", "test", "test_accuracy", "calibration_error", "levels", "seed"):
        assert refitted.card[name] == head.card[name]
    assert np.array_equal(refitted.network.row, head.network.row)
    programs = encoded_programs(samples.variants["-O1"], embedding)
    chosen = [refitted.scores(program).argmax() for program in programs]
    assert np.mean(chosen == samples.label) >= 0.9


@pytest.mark.parametrize(
    ("change", "noun"),
    [
        ({"classes": ("gemm", "other")}, "classes"),
        ({"levels": ("-O0", "-O1")}, "levels"),
        ({"embedding_id": "another"}, "embedding"),
    ],
)
def test_a_measured_head_of_something_else_is_refused(samples, embedding, head, change, noun):
    with refuses(AssetError, noun):
        fit_classifier(samples, embedding, SHORT, refit=replace(head, **change))


def test_temperature_mends_overconfidence_and_the_threshold_leaves_one_of_a_hundred_below():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 5))
    label = np.array([rng.choice(5, p=softmax(row)) for row in scores])
    for factor in (4, 0.5):
        temperature, threshold = calibrate({"-O1": factor * scores}, label)
        assert temperature == pytest.approx(factor, rel=0.1)
        confidence = softmax(factor / temperature * scores, axis=1).max(axis=1)
        assert (confidence < threshold).mean() == pytest.approx(0.01, abs=1e-3)


def test_a_network_learns_what_two_kinds_of_programs_are(samples, embedding):
    is_test = np.arange(len(samples)) % 4 == 0
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    hidden = samples.without_answers(test)
    training = replace(SMALL, loop=replace(SMALL.loop, epochs=16))
    network = fit_network(hidden, train, embedding, training, np.random.default_rng(0))
    levels = network.training.levels(hidden)
    predicted = probabilities([network.scores(hidden.variants[level].rows(test)) for level in levels])
    assert predicted.shape == (len(test), 2)
    assert (predicted.argmax(axis=1) == samples.label[test]).mean() >= 0.8
