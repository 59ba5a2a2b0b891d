"""Heads that ship: what was trained, calibrated and measured, trained again on all programs, and after a stop."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from ncc.errors import AssetError
from tests.rooms import (
    NetworkTraining,
    TrainingConfig,
    calibrate,
    calibration_error,
    encoded_programs,
    fit_classifier,
    load_embedding,
    probabilities,
    program_encoder,
    program_head,
    split_samples,
)
from tests.support.refuses import refuses

SMALL = NetworkTraining(
    encoder=program_encoder(hidden=8, buckets=64),
    head=program_head(dense=16),
    min_steps=1,
    loop=TrainingConfig(epochs=10, batch_size=8, learning_rate=5e-3),
)
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


def _arrays(head) -> dict[str, np.ndarray]:
    ngrams = {name: getattr(head.ngrams, name) for name in ("weights", "scale", "bias", "idf")}
    return head.network.tensors | ngrams | {"row": head.network.row}


def _same(one, other) -> bool:
    assert _arrays(one).keys() == _arrays(other).keys()
    return all(np.array_equal(array, _arrays(other)[name]) for name, array in _arrays(one).items())


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
        for level, table in samples.views.items()
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
    programs = encoded_programs(samples.views["-O1"], embedding)
    chosen = [refitted.scores(program).argmax() for program in programs]
    assert np.mean(chosen == samples.label) >= 0.9


def test_training_further_takes_sizes_and_weights_from_what_was_measured(samples, embedding, head):
    before = {name: array.copy() for name, array in _arrays(head).items()}
    fresh, further = [], []
    fit_classifier(samples, embedding, SHORT, progress=lambda _epoch, loss: fresh.append(loss))
    other = replace(
        SHORT,
        encoder=replace(program_encoder(5, 2, 5), dropout=0.0),
        head=replace(program_head(5), dropout=0.0),
    )
    again = fit_classifier(samples, embedding, other, refit=head, progress=lambda _epoch, loss: further.append(loss))
    assert again
    assert {name: array.shape for name, array in again.network.tensors.items()} == {
        name: array.shape for name, array in head.network.tensors.items()
    }
    encoder, top = again.card["options"]["encoder"], again.card["options"]["head"]
    assert [encoder[name] for name in ("hidden", "layers", "buckets", "dropout")] == [8, 1, 64, 0.0]
    assert [top[name] for name in ("dense", "dropout")] == [16, 0.0]
    assert further[0] < fresh[0]
    assert all(np.array_equal(array, before[name]) for name, array in _arrays(head).items())


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


@pytest.mark.parametrize("again", [False, True], ids=["train", "refit"])
def test_training_goes_on_after_a_stop(samples, embedding, head, tmp_path, again):
    class StopError(Exception):
        pass

    def stop(epoch, _loss):
        if epoch == 2:
            raise StopError

    def train(seed=204, **options):
        training = replace(SMALL, loop=replace(SMALL.loop, epochs=4, seed=seed))
        return fit_classifier(samples, embedding, training, refit=head if again else None, **options)

    whole = train()
    with pytest.raises(StopError):
        train(checkpoint=tmp_path / "c.pt", progress=stop)
    resumed = []
    stopped = train(checkpoint=tmp_path / "c.pt", progress=lambda epoch, _loss: resumed.append(epoch))
    assert resumed == [3, 4]
    assert _same(stopped, whole)
    assert stopped.card == whole.card
    assert not _same(train(seed=1), whole)


def test_temperature_mends_overconfidence_and_the_threshold_leaves_one_of_a_hundred_below():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 5))
    label = np.array([rng.choice(5, p=softmax(row)) for row in scores])
    for factor in (4, 0.5):
        temperature, threshold = calibrate({"-O1": factor * scores}, label)
        assert temperature == pytest.approx(factor, rel=0.1)
        confidence = softmax(factor / temperature * scores, axis=1).max(axis=1)
        assert (confidence < threshold).mean() == pytest.approx(0.01, abs=1e-3)
