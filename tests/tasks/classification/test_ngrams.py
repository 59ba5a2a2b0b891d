"""Hashed n-grams beside a count in plain Python, and the linear model on them beside scikit-learn's."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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

MANY = 2**62  # so many buckets that no two n-grams of a test meet in one

Programs = list[list[tuple[int, list[int]]]]

statements = st.tuples(st.integers(0, 3), st.lists(st.integers(0, 2) | st.just(2**32 - 1), max_size=3))
programs = st.lists(st.lists(statements, max_size=12), min_size=1, max_size=5)


def _hashed(programs: Programs, buckets: int = MANY, types=(np.int64, np.int64)) -> list[Counter[int]]:
    """How often each program has each bucket."""
    statements = [statement for program in programs for statement in program]
    numbers, bucket = hashed_ngrams(
        np.array([word for word, _ in statements], np.int32),
        np.cumsum([0, *map(len, programs)]).astype(types[0]),
        np.array([literal for _, literals in statements for literal in literals], np.uint32),
        np.cumsum([0, *(len(literals) for _, literals in statements)]).astype(types[1]),
        buckets,
    )
    assert numbers.dtype == bucket.dtype == np.int64
    found: list[Counter[int]] = [Counter() for _ in programs]
    for number, place in zip(numbers.tolist(), bucket.tolist(), strict=True):
        found[number][place] += 1
    return found


def _spelled(program: list[tuple[int, list[int]]]) -> Counter[object]:
    """How often a program has each n-gram, written out."""
    words = [word for word, _ in program]
    found: Counter[object] = Counter(("statement", word, tuple(sorted(literals))) for word, literals in program)
    found.update(("literal", literal) for _, literals in program for literal in literals)
    found.update(("literal of", word, literal) for word, literals in program for literal in literals)
    for length in (1, 2, 3):
        found.update(("run", *words[i : i + length]) for i in range(len(words) - length + 1))
    return found


def _table(counts: list[Counter]) -> Counter[tuple[int, ...]]:
    """Which rows of counts there are, whatever the n-grams are called."""
    return Counter(tuple(count[name] for count in counts) for name in set().union(*counts))


@given(programs)
def test_n_grams_are_the_same_where_they_are_spelled_the_same(programs):
    assert _table(_hashed(programs)) == _table([_spelled(program) for program in programs])


@given(programs, st.sampled_from([1, 2, 7, 64, 32768, MANY]))
def test_a_program_alone_and_in_a_table(programs, buckets):
    together = _hashed(programs, buckets, (np.int32, np.int32))
    assert together == [_hashed([program], buckets)[0] for program in programs]
    assert all(0 <= bucket < buckets for found in together for bucket in found)


GOLDEN = [
    ([(0, [])], [26427, 29764]),
    ([(4711, [])], [1539, 9608]),
    ([(2**31 - 1, [])], [25254, 31362]),
    ([(4711, [0])], [901, 2440, 9608, 13031]),
    ([(4711, [2**32 - 1, 123456789])], [9608, 14027, 18531, 23859, 26725, 28569]),
    ([(1, []), (2, []), (3, [])], [4439, 6792, 7601, 13763, 15668, 16731, 19645, 23509, 32065]),
]


@pytest.mark.parametrize(("program", "buckets"), GOLDEN)
def test_buckets_stay_what_they_are(program, buckets):
    """The weights of heads that were trained before lie where these say."""
    assert sorted(_hashed([program], 32768)[0].elements()) == buckets


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
