"""Scores of analogies: vectors that must answer all or none, ties, and every answer against a plain loop."""

import itertools

import numpy as np
import pytest

from lab.tests.rooms import (
    PUBLISHED_ANALOGIES,
    GroupScore,
    KindScore,
    generate_questions,
    rank_answers,
    score_analogies,
    score_groups,
)
from ncc.errors import InputError
from tests.rooms import Embedding, Vocabulary, l2_normalize

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
    """A statement is its opcode plus its type, in directions of their own; fillers are elsewhere."""
    parts = np.eye(len(OPCODES) + len(TYPES) + len(FILLERS), dtype=np.float32)
    of_opcode, of_type, of_filler = np.split(parts, [len(OPCODES), len(OPCODES) + len(TYPES)])
    words = [opcode + type_ for opcode, type_ in itertools.product(of_opcode, of_type)]
    return embedding_of(np.array([*words, *of_filler]), WORDS + FILLERS)


@pytest.fixture
def random() -> Embedding:
    words = WORDS + FILLERS
    return embedding_of(np.random.default_rng(7).normal(size=(len(words), 16)), words)


def of_kind(scores: list[KindScore], kind: str = "integer binary operations") -> KindScore:
    (found,) = (score for score in scores if score.kind == kind)
    return found


def test_vectors_that_add_up_answer_everything(composed):
    score = of_kind(score_analogies(composed))
    assert score.num_questions == score.num_possible == 21 * 15
    assert score.num_correct == score.num_correct_excluding_query == score.num_questions
    assert score.percent == score.percent_excluding_query == 100
    assert of_kind(score_analogies(composed, k=1)).percent == 100


def test_random_vectors_answer_hardly_anything(random):
    score = of_kind(score_analogies(random))
    assert score.percent is not None
    assert score.percent_excluding_query is not None
    assert 0 <= score.percent <= score.percent_excluding_query < 25


def test_ranks_agree_with_a_plain_loop(random):
    rows = generate_questions(random.vocabulary)[0].rows[::7]
    ranks = rank_answers(random, rows)
    for (a, b, c, d), among_all, without_query in zip(rows.tolist(), ranks.among_all, ranks.without_query, strict=True):
        target = random.vectors[c] + random.vectors[b] - random.vectors[a]
        similarity = random.vectors[:-1] @ target  # the last was never seen
        order = np.argsort(-similarity).tolist()
        assert order.index(d) == among_all
        assert [row for row in order if row not in (a, b, c)].index(d) == without_query


def test_blocks_make_no_difference(random):
    rows = np.tile(generate_questions(random.vocabulary)[0].rows, (4, 1))
    ranks = rank_answers(random, rows)
    assert len(rows) > 1024
    assert np.array_equal(ranks.among_all.reshape(4, -1), np.tile(ranks.among_all[: len(rows) // 4], (4, 1)))


def test_the_question_s_own_words_count_unless_excluded():
    vectors = np.array([[1, 0, 0], [1, 0.1, 0], [1, 0, 0.1], [-1, 0, 0]])  # b and c are nearest, d farthest
    words = ["<%ID> = add i8 <%ID>, <%ID>", "<%ID> = add i32 <%ID>, <%ID>"]
    words += [word.replace("add", "sub") for word in words]
    embedding = embedding_of(vectors, words)
    assert of_kind(score_analogies(embedding, k=3)).num_correct == 0
    assert of_kind(score_analogies(embedding, k=4)).num_correct == 1
    assert of_kind(score_analogies(embedding, k=1)).num_correct_excluding_query == 1


def test_words_that_share_the_answer_s_vector_count_as_nearer(composed):
    vectors = composed.vectors.copy()
    rows = generate_questions(composed.vocabulary)[0].rows
    vectors[-6:-1] = vectors[rows[0, 3]]
    same = Embedding(composed.vocabulary, vectors)
    assert rank_answers(composed, rows[:1]).among_all.tolist() == [0]
    assert rank_answers(same, rows[:1]).among_all.tolist() == [5]


def test_vectors_that_are_all_the_same_answer_nothing(composed):
    same = Embedding(composed.vocabulary, np.ones_like(composed.vectors) / np.sqrt(composed.dim))
    assert of_kind(score_analogies(same)).num_correct == 0
    zero = Embedding(composed.vocabulary, np.zeros_like(composed.vectors))
    assert of_kind(score_analogies(zero)).num_correct_excluding_query == 0


def test_given_questions_are_asked(composed):
    few = generate_questions(composed.vocabulary, max_questions=10)
    score = of_kind(score_analogies(composed, questions=few))
    assert (score.num_possible, score.num_questions, score.num_correct) == (315, 10, 10)


def test_a_group_counts_the_questions_of_the_paper_alike():
    scores = [
        KindScore(90, 30, 40, "types", "many", True, 100),
        KindScore(10, 10, 10, "types", "few", True, 10),
        KindScore(5, 5, 5, "options", "ours", False, 5),
        KindScore(0, 0, 0, "conversions", "none", True, 0),
    ]
    groups = score_groups(scores)
    assert groups == [
        GroupScore(100, 40, 50, "types", 40.4),
        GroupScore(0, 0, 0, "options", 84.9),
        GroupScore(0, 0, 0, "conversions", 8.9),
        GroupScore(0, 0, 0, "data structures", 87.5),
    ]
    assert [group.percent for group in groups] == [40, None, None, None]
    assert scores[3].percent is None
    assert [group.published_percent for group in groups] == list(PUBLISHED_ANALOGIES.values())


def test_fewer_than_one_neighbour_can_t_be_right(composed):
    with pytest.raises(InputError, match="k is 0; expected 1 or more"):
        score_analogies(composed, k=0)
