"""The semantic distance test against a plain triple loop, and what belongs to which category."""

import numpy as np
import pytest

from lab.tests.rooms import CATEGORIES, score_distance
from tests.rooms import Embedding, Vocabulary, l2_normalize

ADDS = [f"<%ID> = add {type_} <%ID>, <%ID>" for type_ in ("i8", "i16", "i32", "i64")]
BITWISE = [f"<%ID> = {opcode} i32 <%ID>, <INT>" for opcode in ("and", "or", "xor", "shl", "lshr", "ashr")]
RETS = ["ret void", "ret i32 <INT>"]
OTHERS = [f"<%ID> = alloca [{length} x i8], align 1" for length in range(30)]
CAST = "<%ID> = addrspacecast ptr <%ID> to ptr addrspace(1)"
WORDS = [*ADDS, *BITWISE, *RETS, *OTHERS, CAST, "<%ID> = fsub float <%ID>, <%ID>"]


def embedding_of(vectors: np.ndarray, words: list[str], unseen: int = 0) -> Embedding:
    counts = np.array([*([2] * (len(words) - unseen)), *([0] * unseen)])
    return Embedding(Vocabulary(tuple(words), counts), l2_normalize(vectors.astype(np.float32)))


@pytest.fixture
def random() -> Embedding:
    return embedding_of(np.random.default_rng(3).normal(size=(len(WORDS), 5)), WORDS)


def by_loop(embedding: Embedding, inside: list[str]) -> float:
    """Percent, as the test is defined."""
    vectors = embedding.vectors.astype(np.float64)
    rows = [WORDS.index(word) for word in inside]
    outside = [row for row in range(len(WORDS)) if row not in rows]
    answers = [
        1 - vectors[s1] @ vectors[s2] < 1 - vectors[s1] @ vectors[s3]
        for s1 in rows
        for s2 in rows
        if s1 != s2
        for s3 in outside
    ]
    return 100 * np.mean(answers)


def test_agrees_with_a_plain_loop(random):
    score = score_distance(random)
    percents = {category.category: category.percent for category in score.categories}
    expected = {"add": by_loop(random, ADDS), "bitwise binary": by_loop(random, BITWISE), "ret": by_loop(random, RETS)}
    assert {name: percent for name, percent in percents.items() if percent is not None} == pytest.approx(expected)
    assert score.percent == pytest.approx(np.mean(list(expected.values())))
    assert score.published_percent == 79.1


def test_categories_with_fewer_than_two_words_are_left_out_of_the_mean(random):
    score = score_distance(random)
    (fsub,) = (category for category in score.categories if category.category == "fsub")
    assert (fsub.num_words, fsub.num_comparisons, fsub.percent) == (1, 0, None)
    assert [category.category for category in score.categories] == list(CATEGORIES)
    assert len(CATEGORIES) == 11


def test_comparisons_are_ordered_pairs_times_words_outside(random):
    (add,) = (category for category in score_distance(random).categories if category.category == "add")
    assert (add.num_words, add.num_comparisons) == (4, 4 * 3 * (len(WORDS) - 4))


def test_clusters_are_told_apart_and_equal_vectors_are_not():
    centers = np.eye(4)[[0] * len(ADDS) + [1] * len(BITWISE) + [2] * len(RETS) + [3] * (len(OTHERS) + 2)]
    assert score_distance(embedding_of(centers, WORDS)).percent == 100
    same = np.ones((len(WORDS), 4)) + 1e-8 * np.random.default_rng(0).normal(size=(len(WORDS), 4))
    assert score_distance(embedding_of(same, WORDS)).percent == 0


def test_generalised_forms_and_unseen_words_take_no_part(random):
    more = ["<%ID> = add int <%ID>, <%ID>", "add …", "alloca …", "<%ID> = add i128 <%ID>, <%ID>", "<unknown>"]
    vectors = np.concatenate([random.vectors, np.random.default_rng(4).normal(size=(len(more), 5))])
    larger = embedding_of(vectors, WORDS + more, unseen=2)
    assert score_distance(larger) == score_distance(random)


def test_many_words_are_compared_in_blocks():
    words = [f"<%ID> = mul i{width} <%ID>, <%ID>" for width in range(1, 601)] + OTHERS
    vectors = np.random.default_rng(5).normal(size=(len(words), 3)).astype(np.float32)
    embedding = embedding_of(vectors, words)
    (mul,) = (category for category in score_distance(embedding).categories if category.category == "mul")
    unit = embedding.vectors.astype(np.float64)
    within, across = unit[:600] @ unit[:600].T, unit[:600] @ unit[600:].T
    right = (within[:, :, None] > across[:, None, :]).sum() - (within.diagonal()[:, None] > across).sum()
    assert mul.num_comparisons == 600 * 599 * 30
    assert mul.percent == pytest.approx(100 * right / mul.num_comparisons, abs=1e-3)


def test_without_any_category_there_is_no_score():
    score = score_distance(embedding_of(np.eye(len(OTHERS)), OTHERS))
    assert score.percent is None
