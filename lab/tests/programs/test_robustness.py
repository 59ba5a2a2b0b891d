"""A trained classifier, measured at levels that it has not seen."""

from dataclasses import replace

from lab.tests.rooms import measure_head
from ncc.errors import AssetError, InputError
from tests.rooms import CompileOptions, find_labelled_files, fit_classifier, load_embedding
from tests.support.classifiers import SMALL
from tests.support.refuses import refuses


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
