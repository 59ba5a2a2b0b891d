"""Analogy questions of a small vocabulary, word by word; what takes no part; sampling."""

import numpy as np
import pytest

from lab.tests.rooms import GROUPS, generate_questions, is_exact
from tests.rooms import Vocabulary, load_embedding
from tests.support.text import FOLDER

CASES = (FOLDER / "questions.txt").read_text().split("\n=== ")[1:]
MANY = [f"<%ID> = {opcode} i{width} <%ID>, <%ID>" for opcode in ("add", "sub", "mul", "xor") for width in range(8, 40)]


def vocabulary_of(*texts: str) -> Vocabulary:
    return Vocabulary((*texts, "<unknown>"), np.array([*([5] * len(texts)), 0]))


@pytest.mark.parametrize("case", CASES, ids=[case.partition("\n")[0] for case in CASES])
def test_questions_of_a_kind_are_asked_and_none_of_any_other(case):
    head, _, expected = case.partition("\n---")
    _, kind, *words = head.splitlines()
    found = {questions.kind.name: questions.rows + 1 for questions in generate_questions(vocabulary_of(*words))}
    asked = [" ".join(map(str, row)) for row in found.pop(kind).tolist()]
    assert asked == expected.splitlines()[1:]
    assert not any(len(rows) for rows in found.values())


def test_integers_that_may_not_wrap_are_asked_beside_the_paper():
    (wrap,) = (one for one in generate_questions(vocabulary_of()) if one.kind.name == "integer wrap flags")
    assert not wrap.kind.in_paper


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


def test_all_kinds_are_there_even_without_questions():
    sets = generate_questions(vocabulary_of())
    groups = [questions.kind.group for questions in sets]
    assert groups == sorted(groups, key=GROUPS.index)
    assert set(groups) == set(GROUPS)
    assert all(questions.rows.shape == (0, 4) and questions.num_possible == 0 for questions in sets)


def test_too_many_questions_are_sampled_alike_every_time():
    vocabulary = vocabulary_of(*MANY)
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
    vocabulary = load_embedding().vocabulary if shipped else vocabulary_of(*MANY)
    for questions in generate_questions(vocabulary):
        rows = questions.rows
        assert all(len(set(row)) == 4 for row in rows.tolist())
        assert (vocabulary.counts[rows] > 0).all()
        # mirrored forms have the same two diagonals, a with d and b with c
        diagonals = {frozenset((frozenset((a, d)), frozenset((b, c)))) for a, b, c, d in rows.tolist()}
        assert len(diagonals) == len(rows)
