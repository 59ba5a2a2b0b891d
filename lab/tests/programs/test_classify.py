"""Classifiers compared on a small set and at levels that they have not seen: scores, curves, confusions."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lab.tests.rooms import all_classifiers, class_terms, count_controls, frozen_methods, label_of, measure_head, ngrams
from ncc.errors import AssetError, InputError
from ncc_lab import Method, Subset, classification, compare, evaluate_classification, majority
from tests.rooms import CompileOptions, find_labelled_files, fit_classifier, load_embedding, split_samples
from tests.support.classifiers import SMALL
from tests.support.refuses import refuses

NGRAMS = "n-grams of statements and literals + linear model"
FLOOR = majority(label_of)


@pytest.mark.parametrize("control", count_controls(20), ids=lambda control: control.name)
def test_controls_know_the_programs_that_they_learned_from(samples, control):
    rows = np.arange(0, len(samples), 2)
    before = samples.variants["-O1"].text_id.copy()
    predicted = control.predict(Subset(samples, rows), Subset(samples, rows), np.random.default_rng(0))
    assert (predicted.argmax(axis=1) == samples.label[rows]).mean() >= 0.9
    assert np.array_equal(samples.variants["-O1"].text_id, before)


def test_the_floor_is_the_largest_class_and_answers_are_hidden(samples):
    split = split_samples(samples)

    def spy(train, test, rng):
        assert (train.table.label[split.test] == -1).all()
        assert not set(train.rows.tolist()) & set(split.test.tolist())
        return FLOOR.predict(train, test, rng)

    found = compare(classification(samples), [Method("spy", "control", spy)], ["grouped"])
    largest = np.bincount(samples.label[split.train]).argmax()
    assert found.value("spy", "accuracy") == pytest.approx((samples.label[split.test] == largest).mean())


def test_terms_by_hand():
    label = np.array([0, 1, 6])
    probability = np.array(
        [[0.4, 0.3, 0.3, 0, 0, 0, 0], [0.6, 0.4, 0, 0, 0, 0, 0], [0.3, 0.2, 0.2, 0.1, 0.1, 0.06, 0.04]]
    )
    found = class_terms(label, probability)
    assert found["chosen"].tolist() == [0, 0, 0]
    assert found["right"].tolist() == [True, False, False]
    assert found["is_among_five"].tolist() == [True, True, False]
    assert found["confidence"].tolist() == [0.4, 0.6, 0.3]


def test_near_duplicates_are_counted_apart(samples):
    found = compare(classification(samples), [FLOOR], ["grouped", "published"])
    for result in found.results:
        split = split_samples(samples, is_grouped=result.protocol == "grouped")
        assert result.terms[0]["is_alone"].tolist() == (~split.has_duplicate).tolist()
    assert found.results[0].terms[0]["is_alone"].all()


def test_ours_and_its_parts_learn_and_are_told_as_json(samples):
    methods = [one for one in all_classifiers(load_embedding(), SMALL, 20) if one.name in ("majority", NGRAMS, "ncc")]
    found = compare(classification(samples), methods, ["grouped", "published"])
    assert all(found.value(one.method, "accuracy", one.protocol) >= 0.8 for one in found.results if one.kind == "ours")
    grouped = json.loads(json.dumps(found.to_dict()))["protocols"]["grouped"]
    assert grouped["methods"]["ncc"]["accuracy"] == found.value("ncc", "accuracy", "grouped")
    assert grouped["num_programs"] == len(samples)
    assert "24 programs to train on" in found.to_text()


def test_a_curve_is_learned_from_fewer_programs_of_each_class(samples):
    methods = [FLOOR, ngrams(load_embedding(), buckets=512).method]
    names = [f"{protocol}/{size}" for protocol in ("grouped", "published") for size in (4, 2)]
    task = classification(samples, (2, 4))
    found = compare(task, methods, names)
    assert [one.protocol for one in found.results] == [name for name in names for _ in methods]
    assert [len(task.protocols[name].folds(1)[0][0]) for name in names] == [8, 4, 8, 4]
    assert all(len(one.rows) == 8 for one in found.results)


def test_what_can_not_be_compared_is_refused(classes):
    with refuses(InputError, "random", "grouped"):
        evaluate_classification(classes, protocol="random")
    with refuses(InputError, "1 or more", "0"):
        evaluate_classification(classes, per_class=(0,))


def test_vectors_as_they_are_learn_by_a_linear_model(classes, samples, cache):
    methods = frozen_methods(find_labelled_files(classes), list(samples.variants), load_embedding(), cache)
    assert {method.name for method in methods} >= {
        "ncc, --pooling mean + linear model",
        "ncc, --pooling encoder + linear model",
        "ncc, --pooling encoder, and n-grams + linear models",
        "patterns of code + linear model",
        "patterns of code, and n-grams + linear models",
    }
    found = compare(classification(samples, (4,)), methods, ["grouped/4"])
    assert all(found.value(method.name, "accuracy") >= 0.5 for method in methods)


def test_a_head_is_measured_at_a_level_that_it_has_not_seen(samples, classes, cache):
    embedding = load_embedding()
    head = fit_classifier(samples, embedding, SMALL)
    assert head
    refitted = replace(head, card=head.card | {"training": head.card["programs"]})
    files = find_labelled_files(classes)
    variants = [CompileOptions(optimization=level) for level in ("-O1", "-O3")]
    scores = measure_head(head, embedding, files, variants, cache=cache).scores
    assert scores.level.tolist() == ["usual", "-O1", "-O3"]
    assert (scores.baseline_accuracy == scores.accuracy[0]).all()
    accuracy = head.card["test_accuracy"]
    assert scores.accuracy[:2].round(4).tolist() == [accuracy["all levels together"], accuracy["-O1"]]
    assert scores.accuracy[2] >= 0.6
    assert (scores.num_samples == head.card["test"]).all()
    for row in scores.itertuples():
        low, high = row.interval
        assert low <= row.accuracy <= high
    for measured, of_files, error, noun in (
        (head, replace(files, classes=("a", "b")), AssetError, "classes"),
        (replace(head, embedding_id="another"), files, AssetError, "embedding"),
        (refitted, files, AssetError, "all programs"),
        (replace(head, card={}), files, InputError, "how many programs"),
    ):
        with refuses(error, noun):
            measure_head(measured, embedding, of_files, variants, cache=cache)
