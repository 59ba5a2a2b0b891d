"""The linear model on n-grams: scikit-learn's, but for weights rounded to a byte, and trained on what it may see."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC

from tests.rooms import (
    NgramModel,
    ProgramSamples,
    ProgramTable,
    concatenate,
    encoded_programs,
    fit_ngrams,
    hashed_ngrams,
    load_embedding,
    ngram_scores,
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
        label=np.concatenate([samples.label, samples.label + 2]),
        classes=("gemm", "stencil", "gemm at -O0", "stencil at -O0"),
        row=np.arange(2 * len(samples)),
        variants={"-O1": concatenate(list(samples.variants.values()))},
    )


def _fitted(embedding, samples, rows, **options) -> NgramModel:
    return fit_ngrams(samples, rows, embedding, np.random.default_rng(0), buckets=BUCKETS, **options)


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


@pytest.mark.parametrize(("kinds", "penalty"), [("samples", 1.0), ("four", 1.0), ("four", 0.05)])
def test_it_is_scikit_learns_model_but_for_rounding(request, embedding, kinds, penalty):
    samples = request.getfixturevalue(kinds)
    train = np.arange(0, len(samples), 2)
    model = _fitted(embedding, samples, train, penalty=penalty)
    counts = {
        level: np.stack([_count(program) for program in encoded_programs(table, embedding)])
        for level, table in samples.variants.items()
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
        found = ngram_scores(model, samples.variants[level], embedding)
        for row, program in enumerate(encoded_programs(samples.variants[level].rows(np.arange(3)), embedding)):
            assert model.scores(program) == pytest.approx(found[row], abs=1e-4)
        rounding = np.outer(abs(features).sum(axis=1), model.scale) / 2
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
    samples = ProgramSamples(label, tuple(map(str, range(known + 1))), np.arange(len(label)), {"-O1": table})
    train, test = np.arange(len(training)), np.arange(len(training), len(label))
    model = _fitted(embedding, samples.without_answers(test), train)
    chosen = ngram_scores(model, table, embedding).argmax(axis=1)
    assert (chosen[train] == label[train]).all()
    assert (chosen < known).all()
    assert not model.weights[:, known].any()


def test_weights_are_rounded_to_a_byte():
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(4, 50)) * [[1e-6], [1], [100], [0]]
    bias = rng.normal(size=4)
    model = NgramModel.rounded(weights, bias, np.ones(50, np.float32))
    assert (model.weights.shape, model.weights.dtype) == ((50, 4), np.dtype(np.int8))
    assert np.abs(model.weights).max(axis=0).tolist() == [127, 127, 127, 0]
    assert model.scale.dtype == model.bias.dtype == np.float32
    assert (np.abs(model.weights.T * model.scale[:, None] - weights) <= model.scale[:, None] * 0.501).all()
    assert model.bias == pytest.approx(bias, rel=1e-6)
    assert np.isfinite(model.scale).all()
