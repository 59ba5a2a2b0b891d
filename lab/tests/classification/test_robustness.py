"""A trained classifier, measured at levels that it has not seen."""

from dataclasses import replace

import pytest

from lab.tests.rooms import measure_head
from ncc.errors import AssetError, InputError
from tests.rooms import (
    CompileOptions,
    NetworkTraining,
    TrainingConfig,
    find_labelled_files,
    fit_classifier,
    load_embedding,
    program_encoder,
    program_head,
)

SMALL = NetworkTraining(
    encoder=program_encoder(hidden=8, buckets=64),
    head=program_head(dense=16),
    min_steps=1,
    loop=TrainingConfig(epochs=10, batch_size=8, learning_rate=5e-3),
)


def test_a_head_is_measured_at_a_level_that_it_has_not_seen(samples, classes, cache):
    embedding = load_embedding()
    head = fit_classifier(samples, embedding, SMALL)
    assert head
    refitted = fit_classifier(samples, embedding, SMALL, refit=head)
    assert refitted
    files = find_labelled_files(classes)
    variants = [CompileOptions(optimization=level) for level in ("-O1", "-O3")]
    together, usual, unseen = measure_head(head, embedding, files, variants, cache=cache)
    assert together.level == "usual"
    assert together.accuracy == together.baseline_accuracy
    assert round(together.accuracy, 4) == head.about["test_accuracy"]["all levels together"]
    assert round(usual.accuracy, 4) == head.about["test_accuracy"]["-O1"]
    assert usual.baseline_accuracy == unseen.baseline_accuracy == together.accuracy
    assert together.interval[0] <= together.accuracy <= together.interval[1]
    assert unseen.level == "-O3"
    assert unseen.accuracy >= 0.6
    assert unseen.num_samples == usual.num_samples == head.about["test"]
    for score in (usual, unseen):
        assert sum(count for _, _, count in score.confusions) == round((1 - score.accuracy) * score.num_samples)
    with pytest.raises(AssetError, match="other classes"):
        measure_head(head, embedding, replace(files, classes=("a", "b")), variants, cache=cache)
    with pytest.raises(AssetError, match="another embedding"):
        measure_head(replace(head, embedding_id="another"), embedding, files, variants, cache=cache)
    with pytest.raises(AssetError, match="trained on all programs"):
        measure_head(refitted, embedding, files, variants, cache=cache)
    with pytest.raises(InputError, match="does not say how many programs"):
        measure_head(replace(head, about={}), embedding, files, variants, cache=cache)
