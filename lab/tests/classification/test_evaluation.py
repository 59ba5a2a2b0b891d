"""The whole comparison on a small set: scores, learning curves and the report."""

import json

import numpy as np
import pytest

from lab.tests.rooms import (
    Classification,
    ClassificationMethod,
    Majority,
    compare_classifiers,
    count_controls,
    evaluate,
    frozen_methods,
)
from lab.tests.rooms import classification_all_methods as all_methods
from lab.tests.rooms import classification_labels_of as labels_of
from ncc.errors import InputError
from tests.rooms import (
    NetworkTraining,
    NgramMethod,
    TrainingConfig,
    find_labelled_files,
    load_embedding,
    program_encoder,
    program_head,
    split_samples,
)

SMALL = NetworkTraining(
    encoder=program_encoder(hidden=8, buckets=64),
    head=program_head(dense=16),
    min_steps=1,
    loop=TrainingConfig(epochs=10, batch_size=8, learning_rate=5e-3),
)
NGRAMS = "n-grams of statements and literals + linear model"


@pytest.mark.parametrize("control", count_controls(20), ids=lambda control: control.name)
def test_controls_know_the_programs_that_they_learnt_from(samples, control):
    rows = np.arange(0, len(samples), 2)
    before = samples.views["-O1"].text_id.copy()
    control.fit(samples, rows, np.random.default_rng(0))
    found = control.predict(samples, rows)
    assert (found.argmax(axis=1) == samples.label[rows]).mean() >= 0.9
    score = evaluate(Classification(samples), control, "grouped")
    assert score.metrics.accuracy.value > 0.5
    assert np.array_equal(samples.views["-O1"].text_id, before)
    assert score.num_samples == len(split_samples(samples).test)


def test_the_floor_is_the_largest_class(samples):
    floor = evaluate(Classification(samples), Majority(labels_of), "grouped")
    split = split_samples(samples)
    largest = np.bincount(samples.label[split.train]).argmax()
    assert floor.metrics.accuracy.value == pytest.approx((samples.label[split.test] == largest).mean())


def test_nobody_sees_the_answers_of_the_test_programs(samples):
    split = split_samples(samples)

    class Spy(Majority):
        name = "spy"

        def fit(self, samples, train_idx, rng, /):
            assert (samples.label[split.test] == -1).all()
            assert not set(train_idx.tolist()) & set(split.test.tolist())
            super().fit(samples, train_idx, rng)

    evaluate(Classification(samples), Spy(labels_of), "grouped")


def test_a_comparison_has_a_table_and_a_report(samples):
    methods = all_methods(load_embedding(), SMALL, 20)
    found = compare_classifiers(
        samples, methods, protocol="all", patterns=("majority", "n-grams of st*", "ncc"), seeds=(1, 2)
    )
    assert [(score.protocol, score.method) for score in found.scores] == [
        (protocol, method) for protocol in ("grouped", "published") for method in ("majority", NGRAMS, "ncc")
    ]
    assert all(score.metrics.accuracy.value >= 0.8 for score in found.scores if score.method != "majority")
    figures = json.loads(json.dumps(found.to_dict()))
    ours = figures["protocols"]["grouped"]["methods"]["ncc"]
    assert ours["accuracy"] == found.scores[2].metrics.accuracy.value
    assert ours["num_samples"] == found.scores[2].num_samples
    assert len(ours["per_seed"]) == 2
    assert [line.split()[0] for line in found.to_text().split("\n\n")] == ["grouped:", "published:"]
    page = found.to_page({"command": "ncc evaluate classify"})
    assert NGRAMS in page
    assert page.count("<img") == 1
    assert "published: 24 programs to train on" in page


def test_a_curve_is_learnt_from_fewer_programs_of_each_class(samples):
    some: list[ClassificationMethod] = [Majority(labels_of), NgramMethod(load_embedding(), buckets=512)]
    found = compare_classifiers(samples, some, protocol="all", per_class=(2, 4))
    assert [(score.protocol, score.method, score.metrics.num_training) for score in found.scores] == [
        (f"{protocol}/{size}", method.name, 2 * size)
        for protocol in ("grouped", "published")
        for size in (4, 2)
        for method in some
    ]
    assert all(score.num_samples == 8 for score in found.scores)


def test_a_method_and_its_ablations_are_told_apart():
    methods = all_methods(load_embedding(), SMALL, 20)
    names = [method.name for method in methods]
    ours = [
        "ncc",
        "ncc's network alone",
        "network without literals",
        "network without pretraining",
        "network without literals and pretraining",
        "network with the vectors kept",
        "network with two layers",
    ]
    assert names[-len(ours) :] == ours
    assert {"majority", "LSTM (paper's head)", NGRAMS} < set(names)


def test_what_can_not_be_compared_is_refused(samples):
    methods = all_methods(load_embedding(), SMALL, 20)
    with pytest.raises(InputError, match="no method 'x'; expected a pattern that matches one of majority"):
        compare_classifiers(samples, methods, patterns=("x",))
    with pytest.raises(InputError, match="expected one of grouped, published, all"):
        compare_classifiers(samples, methods, protocol="random")
    with pytest.raises(InputError, match="expected 1 or more, found 0"):
        compare_classifiers(samples, methods, per_class=(0,))
    with pytest.raises(InputError, match="at least one seed"):
        evaluate(Classification(samples), Majority(labels_of), "grouped", ())


def test_vectors_as_they_are_learn_by_a_linear_model(classes, samples, cache):
    found = frozen_methods(find_labelled_files(classes), list(samples.views), load_embedding(), cache)
    assert {method.name for method in found} >= {
        "ncc, --pooling mean + linear model",
        "ncc, --pooling encoder, and n-grams + linear models",
        "patterns of code + linear model",
        "patterns of code, and n-grams + linear models",
    }
    comparison = compare_classifiers(samples, found, per_class=(4,))
    assert all(score.metrics.num_training == 8 for score in comparison.scores)
    assert all(score.metrics.accuracy.value >= 0.5 for score in comparison.scores)
