"""Intrinsic scores: analogies and distances against plain loops, and the tables of the embedding that ships."""

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
    rank_answers,
    score_analogies,
    score_distance,
    score_groups,
)
from ncc.errors import InputError
from ncc_lab import evaluate_embedding
from tests.rooms import Embedding, Vocabulary, l2_normalize, load_embedding
from tests.support.refuses import refuses

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


def test_the_shipped_embedding_is_asked_everything_and_told():
    scores = evaluate_embedding(embedding=load_embedding())
    found = json.loads(json.dumps(scores.to_dict()))
    assert [kind["kind"] for kind in found["kinds"]] == [kind.name for kind in KINDS]
    assert [group["group"] for group in found["groups"]] == list(GROUPS)
    for row in (*found["groups"], *found["kinds"], *found["distance"]["categories"]):
        assert row["percent"] is None or row["percent"] == round(row["percent"], 1)
    text = scores.to_text()
    for name in (*GROUPS, *(kind.name for kind in KINDS), "bitwise binary", "mean of 11 of 11 categories"):
        assert name in text
    assert ("integer wrap flags *" in text, "fast-math flags *" in text) == (True, False)
    assert all(published in text for published in ("40.4", "84.9", "8.9", "87.5", "79.1"))


def test_what_was_not_asked_has_no_score():
    words = ("ret void", "<%ID> = add i32 <%ID>, <INT>", "<%ID> = add i64 <%ID>, <INT>", "add", "<unknown>")
    tiny = Embedding(Vocabulary(words, np.array([3, 2, 1, 0, 0])), np.eye(5, dtype=np.float32))
    scores = evaluate_embedding(embedding=tiny, k=2)
    found = scores.to_dict()
    assert all(group["percent"] is None for group in found["groups"])
    assert found["distance"]["percent"] == 0.0  # all are equally far, so that no pair is nearer
    assert "mean of 1 of 11 categories" in scores.to_text()
