"""Intrinsic scores of embeddings: questions, analogies and distances against plain loops, and coverage."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from lab.tests.rooms import (
    CATEGORIES,
    GROUPS,
    KINDS,
    generate_questions,
    is_exact,
    measure_coverage,
    rank_answers,
    score_analogies,
    score_distance,
    score_groups,
)
from ncc.errors import InputError
from ncc_lab import evaluate_embedding
from tests.rooms import Backoff, Embedding, Vocabulary, l2_normalize, load_embedding
from tests.support.refuses import refuses
from tests.support.text import cases

OPCODES = ("add", "sub", "mul", "and", "or", "xor", "shl")
TYPES = ("i8", "i16", "i32", "i64", "<4 x i32>", "<8 x i16>")
WORDS = [f"<%ID> = {opcode} {type_} <%ID>, <%ID>" for opcode in OPCODES for type_ in TYPES]
FILLERS = [f"ret [{length} x i8] <%ID>" for length in range(200)]


def embedding_of(vectors: np.ndarray, words: list[str]) -> Embedding:
    counts = np.array([*([3] * len(words)), 0])
    vectors = np.concatenate([vectors, np.ones((1, vectors.shape[1]))]).astype(np.float32)
    return Embedding(Vocabulary((*words, "<unknown>"), counts), l2_normalize(vectors))


@pytest.fixture
def composed() -> Embedding:
    """A statement is its opcode plus its type, in separate directions; fillers are elsewhere."""
    parts = np.eye(len(OPCODES) + len(TYPES) + len(FILLERS), dtype=np.float32)
    of_opcode, of_type, of_filler = np.split(parts, [len(OPCODES), len(OPCODES) + len(TYPES)])
    words = [opcode + type_ for opcode, type_ in itertools.product(of_opcode, of_type)]
    return embedding_of(np.array([*words, *of_filler]), WORDS + FILLERS)


@pytest.fixture
def random() -> Embedding:
    words = WORDS + FILLERS
    return embedding_of(np.random.default_rng(7).normal(size=(len(words), 16)), words)


def integers(embedding: Embedding, **options):
    scores = score_analogies(embedding, **options)
    return scores[scores.kind == "integer binary operations"].iloc[0]


def test_vectors_that_add_up_answer_everything_and_random_ones_hardly_anything(composed, random):
    for k in (1, 5):
        score = integers(composed, k=k)
        assert score.num_questions == score.num_possible == 21 * 15
        assert score.num_correct == score.num_correct_excluding_query == score.num_questions
    score = integers(random)
    assert 0 <= score.num_correct <= score.num_correct_excluding_query < 0.25 * score.num_questions
    few = generate_questions(composed.vocabulary, max_questions=10)
    assert integers(composed, questions=few)[["num_possible", "num_questions"]].tolist() == [315, 10]
    with refuses(InputError, "k", "0"):
        score_analogies(composed, k=0)


def test_ranks_agree_with_a_plain_loop_over_blocks(random):
    rows = np.tile(generate_questions(random.vocabulary)[0].rows, (4, 1))
    assert len(rows) > 1024
    ranks = rank_answers(random, rows)
    for (a, b, c, d), (among_all, without_query) in list(zip(rows.tolist(), ranks.tolist(), strict=True))[::29]:
        target = random.vectors[c] + random.vectors[b] - random.vectors[a]
        order = np.argsort(-(random.vectors[:-1] @ target)).tolist()  # the last was never seen
        assert order.index(d) == among_all
        assert [row for row in order if row not in (a, b, c)].index(d) == without_query


def test_words_that_share_the_answers_vector_count_as_nearer(composed):
    vectors = composed.vectors.copy()
    rows = generate_questions(composed.vocabulary)[0].rows
    vectors[-6:-1] = vectors[rows[0, 3]]
    assert rank_answers(composed, rows[:1]).tolist() == [[0, 0]]
    assert rank_answers(Embedding(composed.vocabulary, vectors), rows[:1]).tolist() == [[5, 5]]
    same = Embedding(composed.vocabulary, np.ones_like(composed.vectors) / np.sqrt(composed.dim))
    assert integers(same).num_correct == 0


def test_a_group_counts_the_questions_of_the_paper_alike():
    columns = ["group", "in_paper", "num_questions", "num_correct", "num_correct_excluding_query"]
    rows = [("types", True, 90, 30, 40), ("types", True, 10, 10, 10), ("options", False, 5, 5, 5)]
    groups = score_groups(pd.DataFrame(rows, columns=columns))
    assert groups.group.tolist() == list(GROUPS)
    assert groups.iloc[0].tolist() == ["types", 100, 40, 50, 40.4]
    assert groups.num_questions.tolist() == [100, 0, 0, 0]
    assert groups.published_percent.tolist() == [40.4, 84.9, 8.9, 87.5]


ADDS = [f"<%ID> = add {type_} <%ID>, <%ID>" for type_ in ("i8", "i16", "i32", "i64")]
BITWISE = [f"<%ID> = {opcode} i32 <%ID>, <INT>" for opcode in ("and", "or", "xor", "shl", "lshr", "ashr")]
RETS = ["ret void", "ret i32 <INT>"]
OTHERS = [f"<%ID> = alloca [{length} x i8], align 1" for length in range(30)]
CAST = "<%ID> = addrspacecast ptr <%ID> to ptr addrspace(1)"
STATEMENTS = [*ADDS, *BITWISE, *RETS, *OTHERS, CAST, "<%ID> = fsub float <%ID>, <%ID>"]


def by_loop(embedding: Embedding, inside: list[str]) -> float:
    """Percent, as the test is defined."""
    vectors = embedding.vectors.astype(np.float64)
    rows = [STATEMENTS.index(word) for word in inside]
    outside = [row for row in range(len(STATEMENTS)) if row not in rows]
    pairs = itertools.permutations(rows, 2)
    answers = [vectors[s1] @ vectors[s2] > vectors[s1] @ vectors[s3] for s1, s2 in pairs for s3 in outside]
    return float(100 * np.mean(answers))


def test_distances_agree_with_a_plain_loop_and_other_words_take_no_part():
    more = ["<%ID> = add int <%ID>, <%ID>", "add …", "alloca …"]
    vectors = np.random.default_rng(3).normal(size=(len(STATEMENTS) + len(more), 5))
    embedding = embedding_of(vectors, [*STATEMENTS, *more])
    score = score_distance(embedding).set_index("category")
    assert list(score.index) == list(CATEGORIES)
    expected = {"add": ADDS, "bitwise binary": BITWISE, "ret": RETS}
    found = score.percent.dropna()
    assert found.to_dict() == pytest.approx({name: by_loop(embedding, words) for name, words in expected.items()})
    assert score.loc["add", ["num_words", "num_comparisons"]].tolist() == [4, 4 * 3 * (len(STATEMENTS) - 4)]
    assert score.loc["fsub"].tolist() == [1, 0, None]
    same = np.ones((len(STATEMENTS), 4)) + 1e-8 * np.random.default_rng(0).normal(size=(len(STATEMENTS), 4))
    assert score_distance(embedding_of(same, STATEMENTS)).percent.sum() == 0


def test_many_words_are_compared_in_blocks():
    words = [f"<%ID> = mul i{width} <%ID>, <%ID>" for width in range(1, 601)] + OTHERS
    embedding = embedding_of(np.random.default_rng(5).normal(size=(len(words), 3)), words)
    mul = score_distance(embedding).set_index("category").loc["mul"]
    unit = embedding.vectors.astype(np.float64)[:-1]
    within, across = unit[:600] @ unit[:600].T, unit[:600] @ unit[600:].T
    right = (within[:, :, None] > across[:, None, :]).sum() - (within.diagonal()[:, None] > across).sum()
    assert mul.num_comparisons == 600 * 599 * 30
    assert mul.percent == pytest.approx(100 * right / mul.num_comparisons, abs=1e-3)


def test_what_was_not_asked_has_no_score():
    words = ("ret void", "<%ID> = add i32 <%ID>, <INT>", "<%ID> = add i64 <%ID>, <INT>", "add", "<unknown>")
    tiny = Embedding(Vocabulary(words, np.array([3, 2, 1, 0, 0])), np.eye(5, dtype=np.float32))
    scores = evaluate_embedding(embedding=tiny, k=2)
    found = json.loads(json.dumps(scores.to_dict()))
    assert [(group["group"], group["percent"]) for group in found["groups"]] == [(name, None) for name in GROUPS]
    assert [kind["kind"] for kind in found["kinds"]] == [kind.name for kind in KINDS]
    assert found["distance"]["percent"] == 0.0  # all are equally far, so that no pair is nearer
    text = scores.to_text()
    for name in (*GROUPS, *(kind.name for kind in KINDS), "bitwise binary", "mean of 1 of 11 categories"):
        assert name in text
    assert ("integer wrap flags *" in text, "fast-math flags *" in text) == (True, False)
    assert all(published in text for published in ("40.4", "84.9", "8.9", "87.5", "79.1"))


MANY = [f"<%ID> = {opcode} i{width} <%ID>, <%ID>" for opcode in ("add", "sub", "mul", "xor") for width in range(8, 40)]


def of_words(*texts: str) -> Vocabulary:
    return Vocabulary((*texts, "<unknown>"), np.array([*([5] * len(texts)), 0]))


@pytest.mark.parametrize(("lines", "expected"), cases("questions.txt"))
def test_questions_of_a_kind_are_asked_and_none_of_any_other(lines, expected):
    kind, *words = lines.splitlines()
    found = {questions.kind.name: questions.rows + 1 for questions in generate_questions(of_words(*words))}
    asked = [" ".join(map(str, row)) for row in found.pop(kind).tolist()]
    assert asked == expected.splitlines()
    assert not any(len(rows) for rows in found.values())


def test_words_that_were_never_seen_take_no_part():
    unseen = Vocabulary((*MANY, "<unknown>"), np.array([4] * 3 + [0] * (len(MANY) - 2)))
    assert not any(len(questions.rows) for questions in generate_questions(unseen))


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("unreachable", True),
        ("ret void", True),
        ("call void @int(ptr <%ID>)", True),
        ("<%ID> = load i32, ptr <%ID>", True),
        ("<%ID> = getelementptr inbounds [4 x float], ptr <%ID>, i64 <INT>, i64 <INT>", True),
        ("<%ID> = getelementptr [N x float], ptr <%ID>, i64 <INT>, i64 <INT>", False),
        ("<%ID> = getelementptr array, ptr <%ID>, int <INT>, int <INT>", False),
        ("<%ID> = fadd vector of fp <%ID>, <%ID>", False),
        ("ret struct <%ID>", False),
        ("icmp eq …", False),
        ("fence", False),
        ("<unknown>", False),
    ],
)
def test_generalised_forms_are_told_from_statements(text, exact):
    assert is_exact(text) == exact


def test_too_many_questions_are_sampled_alike_every_time():
    vocabulary = of_words(*MANY)
    everything = generate_questions(vocabulary)[0]
    few, again = (generate_questions(vocabulary, max_questions=100)[0] for _ in range(2))
    other = generate_questions(vocabulary, max_questions=100, seed=1)[0]
    assert len(everything.rows) == everything.num_possible == few.num_possible == 6 * 32 * 31 // 2
    assert np.array_equal(few.rows, again.rows)
    assert not np.array_equal(few.rows, other.rows)
    assert len(few.rows) == 100
    assert set(map(tuple, few.rows.tolist())) < set(map(tuple, everything.rows.tolist()))


@pytest.mark.parametrize("shipped", [True, False])
def test_no_question_is_asked_twice_or_answers_itself(shipped):
    vocabulary = load_embedding().vocabulary if shipped else of_words(*MANY)
    for questions in generate_questions(vocabulary):
        rows = questions.rows
        assert all(len(set(row)) == 4 for row in rows.tolist())
        assert (vocabulary.counts[rows] > 0).all()
        # mirrored forms have the same two diagonals, a with d and b with c
        diagonals = {frozenset((frozenset((a, d)), frozenset((b, c)))) for a, b, c, d in rows.tolist()}
        assert len(diagonals) == len(rows)


FEW = Vocabulary(("ret void", "<%ID> = add i32 <%ID>, <INT>", "add", "<unknown>"), np.array([5, 5, 0, 0]))
TIMES = {
    "ret void": 6,
    "<%ID> = add nsw i32 <%ID>, <INT>": 3,
    "<%ID> = add i64 <%ID>, <%ID>": 4,
    "<%ID> = newop i64 <%ID>": 7,
    "<%ID> = add i8 <%ID>, <%ID>": 0,
}


def test_statements_are_counted_at_their_levels_and_misses_come_most_frequent_first():
    coverage = measure_coverage(TIMES, FEW)
    found = json.loads(json.dumps(coverage.to_dict()))
    assert (found["num_statements"], found["num_distinct"], found["num_unknown"]) == (20, 5, 7)
    assert found["by_level"] == {
        "exact": 6, "flags": 3, "alignment": 0, "sizes": 0, "types": 0, "operation": 0, "opcode": 11
    }  # fmt: skip
    assert list(found["by_level"]) == [level.name.lower() for level in Backoff]
    assert (found["exact_rate"], found["backoff_rate"]) == (0.3, 0.65)
    assert [(miss["text"], miss["count"], miss["level"], miss["fallback"]) for miss in found["misses"]] == [
        ("<%ID> = newop i64 <%ID>", 7, "opcode", "<unknown>"),
        ("<%ID> = add i64 <%ID>, <%ID>", 4, "opcode", "add"),
        ("<%ID> = add nsw i32 <%ID>, <INT>", 3, "flags", "<%ID> = add i32 <%ID>, <INT>"),
    ]
    assert measure_coverage(TIMES, FEW, num_misses=1).misses == coverage.misses[:1]
    equal = measure_coverage({"b": 2, "a": 2, "c": 2}, FEW).misses
    assert [miss.text for miss in equal] == ["a", "b", "c"]
    text = coverage.to_text().splitlines()
    assert text[:2] == ["20 statements, 5 different", "words as they stand: 30.0%, with back-off: 65.0%"]
    assert any("4  <%ID> = add i64 <%ID>, <%ID>  →  add (opcode)" in line for line in text)


def test_nothing_is_covered_wholly_and_the_last_word_itself_is_no_unknown_statement():
    coverage = measure_coverage({}, FEW)
    assert (coverage.num_statements, coverage.exact_rate, coverage.backoff_rate) == (0, 1, 1)
    assert "0 statements" in coverage.to_text()
    assert measure_coverage({"<unknown>": 2}, FEW).num_unknown == 0
    with refuses(InputError, "num_misses", "-1"):
        measure_coverage(TIMES, FEW, num_misses=-1)
