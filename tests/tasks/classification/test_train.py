"""Heads that ship: what was trained, calibrated and measured, trained again on all programs, and after a stop."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from ncc.errors import AssetError
from tests.rooms import (
    calibrate,
    calibration_error,
    encoded_programs,
    fit_classifier,
    load_embedding,
    probabilities,
    split_samples,
)
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


@pytest.fixture(scope="module")
def mixed(samples):
    """The same with wrong classes among them, or nothing would keep accuracy and confidence down."""
    wrong = np.random.default_rng(0).random(len(samples)) < 0.3
    return replace(samples, label=np.where(wrong, 1 - samples.label, samples.label))


@pytest.fixture(scope="module")
def mixed_head(mixed, embedding):
    return fit_classifier(mixed, embedding, SHORT)


def _scores(head, samples, embedding, rows) -> dict[str, np.ndarray]:
    """What the head says of programs at each level, and at all of them together: (m, num_classes) each."""
    found = {
        level: np.array([head.scores(program) for program in encoded_programs(table.rows(rows), embedding)])
        for level, table in samples.variants.items()
    }
    return found | {"all levels together": np.mean(list(found.values()), axis=0)}


def test_the_card_says_what_was_measured(mixed, embedding, mixed_head):
    split = split_samples(mixed)
    about, test = json.loads(json.dumps(mixed_head.card)), split.test
    assert about["programs"] == len(mixed) == 40
    assert (about["training"], about["test"]) == (len(split.train), len(test))
    assert about["levels"] == ["-O1", "-O0"]
    assert about["options"]["encoder"]["hidden"] == 8
    scores = _scores(mixed_head, mixed, embedding, test)
    right = {name: found.argmax(axis=1) == mixed.label[test] for name, found in scores.items()}
    assert about["test_accuracy"] == {name: pytest.approx(hits.mean(), abs=1e-4) for name, hits in right.items()}
    shares = {name: probabilities([found / mixed_head.temperature]) for name, found in scores.items()}
    errors = {
        name: calibration_error(share.max(axis=1), share.argmax(axis=1) == mixed.label[test], bins=15)
        for name, share in shares.items()
    }
    assert about["calibration_error"] == pytest.approx(errors["all levels together"], abs=1e-4)
    assert about["calibration_error"] != pytest.approx(errors["-O1"], abs=1e-3)


def test_answers_are_calibrated_on_programs_held_out(mixed, embedding, mixed_head):
    rows = split_samples(mixed).valid
    scores = _scores(mixed_head, mixed, embedding, rows)
    answers, truth = np.concatenate(list(scores.values())), np.tile(mixed.label[rows], 3)

    def entropy(temperature):
        return -np.log(probabilities([answers / temperature])[np.arange(len(truth)), truth]).mean()

    best = mixed_head.temperature
    assert np.exp(-3) < best / 1.001 < best * 1.001 < np.exp(3)
    assert entropy(best) < min(entropy(best * 1.001), entropy(best / 1.001))
    confidence = probabilities([scores["all levels together"] / best]).max(axis=1)
    assert np.ptp(confidence) > 1e-3
    assert mixed_head.threshold == pytest.approx(np.quantile(confidence, 0.01), abs=1e-5)


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
