"""The whole comparison on a small set: scores, learning curves, the report, and a head that ships."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ncc.embedding import load_embedding
from ncc.errors import AssetError, InputError
from ncc.frontend import CompileOptions
from ncc.heads import load_classifier_head, save_classifier_head
from ncc.tasks.classification.comparison import all_methods, compare_classifiers
from ncc.tasks.classification.controls import Majority, count_controls
from ncc.tasks.classification.evaluation import evaluate, load_split
from ncc.tasks.classification.networks import ClassifierTraining, ProgramLSTMMethod, encode_programs
from ncc.tasks.classification.robustness import measure_head
from ncc.tasks.classification.samples import find_labelled_files
from ncc.tasks.classification.shipping import train_classifier
from ncc.tasks.report import classification_report
from ncc.training import TrainingConfig

SMALL = ClassifierTraining(
    hidden=8, dense=16, buckets=64, min_steps=1, loop=TrainingConfig(epochs=10, batch_size=8, learning_rate=5e-3)
)


@pytest.mark.parametrize("control", count_controls(20), ids=lambda control: control.name)
def test_controls_know_the_programs_that_they_learnt_from(samples, control):
    rows = np.arange(0, len(samples), 2)
    before = samples.views["-O1"].text_id.copy()
    control.fit(samples, rows, np.random.default_rng(0))
    found = control.predict(samples, rows)
    assert (found.argmax(axis=1) == samples.label[rows]).mean() >= 0.9
    (score,) = evaluate(samples, [control])
    assert score.metrics.accuracy.value > 0.5
    assert np.array_equal(samples.views["-O1"].text_id, before)
    assert score.num_samples == len(load_split(samples)[0].test)


def test_the_floor_is_the_largest_class(samples):
    (floor,) = evaluate(samples, [Majority()])
    split, _ = load_split(samples)
    largest = np.bincount(samples.label[split.train]).argmax()
    assert floor.metrics.accuracy.value == pytest.approx((samples.label[split.test] == largest).mean())


def test_nobody_sees_the_answers_of_the_test_programs(samples):
    split, _ = load_split(samples)

    class Spy(Majority):
        name = "spy"

        def fit(self, samples, train_idx, rng, /):
            assert (samples.label[split.test] == -1).all()
            assert not set(train_idx.tolist()) & set(split.test.tolist())
            super().fit(samples, train_idx, rng)

    evaluate(samples, [Spy()])


def test_a_comparison_has_a_curve_and_a_report(samples):
    methods = all_methods(load_embedding(), SMALL, 20)
    found = compare_classifiers(
        samples, methods, protocol="all", patterns=("majority", "opcode*", "ncc"), per_class=(4,), seeds=(1, 2)
    )
    assert [(score.protocol, score.method) for score in found.scores] == [
        (protocol, method)
        for protocol in ("grouped", "published", "grouped/4")
        for method in ("majority", "opcode histogram + random forest", "ncc")
    ]
    curve = found.scores[-1]
    assert curve.num_training == 8
    assert len(curve.metrics.accuracy.per_seed) == 2
    figures = json.loads(json.dumps(found.to_dict()))
    ours = figures["protocols"]["grouped"]["methods"]["ncc"]
    assert ours["accuracy"] == found.scores[2].metrics.accuracy.value
    assert ours["num_samples"] == found.scores[2].num_samples
    assert found.to_text().count("\n") == 3 * 4 + 1
    page = classification_report(found, {"command": "ncc evaluate classify"})
    assert "opcode histogram + random forest" in page
    assert page.count("<img") == 1
    assert "grouped/4: 8 programs to train on" in page


def test_what_can_not_be_compared_is_refused(samples):
    methods = all_methods(load_embedding(), SMALL, 20)
    with pytest.raises(InputError, match="no method matches x; there are majority"):
        compare_classifiers(samples, methods, patterns=("x",))
    with pytest.raises(InputError, match="expected one of grouped, published, all"):
        compare_classifiers(samples, methods, protocol="random")
    with pytest.raises(InputError, match="expected 1 or more, found 0"):
        compare_classifiers(samples, methods, per_class=(0,))
    with pytest.raises(InputError, match="at least one seed"):
        evaluate(samples, [Majority()], seeds=())


@pytest.fixture(scope="module")
def head(samples):
    return train_classifier(samples, load_embedding(), SMALL)


def test_a_head_ships_what_was_trained(samples, head, tmp_path):
    save_classifier_head(head, tmp_path)
    loaded = load_classifier_head(tmp_path)
    assert loaded.classes == ("gemm", "stencil")
    assert loaded.about["levels"] == ["-O1", "-O0"]
    assert loaded.about["test_accuracy"]["-O1"] >= 0.8
    assert 0 < loaded.threshold <= 1
    split, _ = load_split(samples)
    method = ProgramLSTMMethod(load_embedding(), SMALL)
    method.fit(samples, split.train, np.random.default_rng(204))
    programs = encode_programs(samples.views["-O1"], load_embedding(), 64, method.row)
    torch_says = method.at(samples, "-O1", split.test)
    for row, probability in zip(split.test.tolist(), torch_says, strict=True):
        begin, end = programs.start[row], programs.start[row + 1]
        literals = slice(programs.literal_start[begin], programs.literal_start[end])
        offsets = (programs.literal_start[begin : end + 1] - programs.literal_start[begin]).astype(np.int32)
        words = load_embedding().look_up(samples.views["-O1"].texts).word[samples.views["-O1"].text_id[begin:end]]
        answer = loaded.predict(words, samples.views["-O1"].literal[literals], offsets)
        sharpened = probability ** (1 / loaded.temperature)
        assert answer.probability == pytest.approx(sharpened / sharpened.sum(), abs=5e-3)


def test_a_head_is_measured_at_a_level_that_it_has_not_seen(classes, cache, head):
    files = find_labelled_files(classes)
    variants = [CompileOptions(optimization=level) for level in ("-O1", "-O3")]
    usual, unseen = measure_head(head, load_embedding(), files, variants, cache=cache)
    assert usual.accuracy == usual.usual_accuracy == head.about["test_accuracy"]["-O1"]
    assert unseen.level == "-O3"
    assert unseen.accuracy >= 0.6
    assert unseen.num_samples == usual.num_samples
    assert usual.confused == ()
    assert sum(count for _, _, count in unseen.confused) == round((1 - unseen.accuracy) * unseen.num_samples)
    with pytest.raises(AssetError, match="other classes"):
        measure_head(head, load_embedding(), replace(files, classes=("a", "b")), variants, cache=cache)


def test_training_goes_on_after_a_stop(samples, tmp_path):
    class StopError(Exception):
        pass

    def stop(epoch, _loss):
        if epoch == 4:
            raise StopError

    whole = train_classifier(samples, load_embedding(), SMALL)
    with pytest.raises(StopError):
        train_classifier(samples, load_embedding(), SMALL, checkpoint=tmp_path / "c.pt", progress=stop)
    resumed = []
    again = train_classifier(
        samples,
        load_embedding(),
        SMALL,
        checkpoint=tmp_path / "c.pt",
        progress=lambda epoch, _loss: resumed.append(epoch),
    )
    assert resumed[0] == 5
    for name, tensor in whole.tensors.items():
        assert np.array_equal(again.tensors[name], tensor), name
