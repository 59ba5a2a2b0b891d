"""The linear model on n-grams: scikit-learn's, on weights of its own, rounded, and trained on what it may see."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from joblib import hash as content_hash
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC

from ncc.errors import InputError
from tests.rooms import (
    NgramMethod,
    ProgramSamples,
    ProgramTable,
    concatenate,
    encoded_programs,
    hashed_ngrams,
    load_embedding,
)

BUCKETS = 4096


@pytest.fixture(scope="module")
def embedding():
    return load_embedding()


@pytest.fixture(scope="module")
def four(samples) -> ProgramSamples:
    """Each kind of programs at each level as a class of its own, all at one level."""
    return replace(
        samples,
        files=samples.files * 2,
        label=np.concatenate([samples.label, samples.label + 2]),
        classes=("gemm", "stencil", "gemm at -O0", "stencil at -O0"),
        row=np.arange(2 * len(samples)),
        views={"-O1": concatenate(list(samples.views.values()))},
    )


def _learned(method: NgramMethod) -> Any:
    assert method.model
    return method.model


def _fitted(embedding, samples, rows, **options) -> NgramMethod:
    method = NgramMethod(embedding, BUCKETS, **options)
    method.fit(samples, rows, np.random.default_rng(0))
    return method


def _parts(method: NgramMethod) -> list[np.ndarray]:
    model = _learned(method)
    return [model.weights, model.scale, model.bias, model.rarity]


def _written(embedding, *programs: list[int]) -> ProgramTable:
    """Programs of words of the embedding, by their numbers; no literals."""
    start = np.cumsum([0, *map(len, programs)])
    return ProgramTable(
        texts=embedding.vocabulary.words[5:100],  # the first ones are forms that others back off to
        start=start,
        text_id=np.array([word for program in programs for word in program], np.int32),
        opcode=np.zeros(start[-1], np.uint8),
        literal_start=np.zeros(start[-1] + 1, np.int64),
        literal=np.zeros(0, np.uint32),
    )


@pytest.mark.parametrize("kinds", ["samples", "four"])
def test_it_learns_what_kinds_of_programs_there_are(request, embedding, kinds):
    samples = request.getfixturevalue(kinds)
    test = np.flatnonzero(np.arange(len(samples)) % 4 == 0)
    train = np.setdiff1d(np.arange(len(samples)), test)
    hidden = samples.without_answers(test)
    method = _fitted(embedding, hidden, train)
    found = method.predict(hidden, test)
    assert found.shape == (len(test), len(samples.classes))
    assert found.sum(axis=1) == pytest.approx(1)
    assert (found.argmax(axis=1) == samples.label[test]).mean() >= 0.9
    again = _fitted(embedding, samples, train)
    assert all(np.array_equal(one, other) for one, other in zip(_parts(method), _parts(again), strict=True))


@pytest.mark.parametrize(("kinds", "penalty"), [("samples", 1.0), ("four", 1.0), ("four", 0.05)])
def test_it_is_scikit_learns_model_but_for_rounding(request, embedding, kinds, penalty):
    samples = request.getfixturevalue(kinds)
    train = np.arange(0, len(samples), 2)
    method = _fitted(embedding, samples, train, penalty=penalty)
    counts = {
        level: np.stack([_count(program) for program in encoded_programs(table, embedding)])
        for level, table in samples.views.items()
    }
    known = np.concatenate([table[train] for table in counts.values()])
    twice = (known > 0).sum(axis=0) > 1
    weighted = TfidfTransformer(sublinear_tf=True).fit(csr_array(known * twice))
    machine = LinearSVC(C=penalty, random_state=int(np.random.default_rng(0).integers(2**31)))
    machine.fit(weighted.transform(csr_array(known * twice)), np.tile(samples.label[train], len(counts)))
    for level, table in counts.items():
        features = weighted.transform(csr_array(table * twice))
        expected = machine.decision_function(features)
        if expected.ndim == 1:
            expected = np.stack([-expected, expected], axis=1)
        found = method.scores(samples, level, np.arange(len(samples)))
        rounding = np.outer(abs(features).sum(axis=1), _learned(method).scale) / 2
        assert (np.abs(found - expected) <= rounding + 1e-3).all()
        assert np.abs(found - expected).max() < 0.05 < np.abs(expected).max()


def _count(program) -> np.ndarray:
    start = np.array([0, len(program.words)])
    _, bucket = hashed_ngrams(program.words, start, program.literals, program.literal_start, BUCKETS)
    return np.bincount(bucket, minlength=BUCKETS)


@pytest.mark.parametrize("known", [2, 3, 20])
def test_a_class_that_training_lacks_is_never_chosen(embedding, known):
    """Nor where nothing speaks for any other class: a program of what all have in common is unlike each of them."""
    common = [0, 0, 0]
    training = [[*common, number + 1, *common] for number in range(known) for _ in range(3)]
    unlike = [common * 3, [50, 51, 52], [1, 2, 3] * 9]
    table = _written(embedding, *training, *unlike)
    label = np.concatenate([np.repeat(np.arange(known), 3), np.full(len(unlike), known)])
    files, classes = tuple(map(str, range(len(label)))), tuple(map(str, range(known + 1)))
    samples = ProgramSamples(files, label, classes, np.arange(len(label)), {"-O1": table})
    train, test = np.arange(len(training)), np.arange(len(training), len(label))
    method = _fitted(embedding, samples.without_answers(test), train)
    assert (method.predict(samples, train).argmax(axis=1) == label[train]).all()
    assert (method.predict(samples, np.arange(len(label))).argmax(axis=1) < known).all()
    assert not _learned(method).weights[:, known].any()


def test_the_scores_of_a_programs_levels_are_averaged(samples, embedding):
    method = NgramMethod(embedding, BUCKETS)
    with pytest.raises(InputError, match="fit the method"):
        method.predict(samples, np.arange(3))
    with pytest.raises(InputError, match="fit the method"):
        method.scores(samples, "-O1", np.arange(3))
    method.fit(samples, np.arange(0, len(samples), 2), np.random.default_rng(0))
    rows = np.array([5, 2, 31])
    levels = {level: method.scores(samples, level, rows) for level in samples.views}
    assert np.abs(levels["-O1"] - levels["-O0"]).max() > 1e-3
    shares = method.predict(samples, rows)
    ratio = np.log(shares[:, 1] / shares[:, 0])
    mean = (levels["-O1"] + levels["-O0"]) / 2
    assert ratio == pytest.approx(5 * (mean[:, 1] - mean[:, 0]))


def test_both_levels_are_trained_on(samples, embedding):
    rows = np.arange(0, len(samples), 2)
    both = _fitted(embedding, samples, rows)
    for level, table in samples.views.items():
        alone = _fitted(embedding, replace(samples, views={level: table}), rows)
        assert (_learned(alone).rarity > 0).sum() < (_learned(both).rarity > 0).sum()


def test_programs_of_a_table_come_one_by_one(samples, embedding):
    for table in samples.views.values():
        programs = list(encoded_programs(table, embedding))
        assert len(programs) == len(samples)
        for row in (0, 7, 39):
            alone = table.rows(np.array([row]))
            words = embedding.look_up(table.texts).word[alone.text_id]
            assert programs[row].words.tolist() == words.tolist()
            assert programs[row].literals.tolist() == alone.literal.tolist()
            assert programs[row].literal_start.tolist() == alone.literal_start.tolist()


def test_options_tell_methods_apart(embedding):
    methods = [NgramMethod(embedding), NgramMethod(embedding, buckets=64), NgramMethod(embedding, penalty=2.0)]
    assert len({content_hash(method.identity) for method in methods}) == 3
    assert content_hash(methods[0].identity) == content_hash(NgramMethod(embedding, name="other").identity)
