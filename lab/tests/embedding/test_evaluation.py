"""All intrinsic scores together, on the embedding that ships and on one too small to be asked anything."""

import dataclasses
import json

import numpy as np
import pytest

from lab.tests.rooms import EMBEDDING_KINDS as KINDS
from lab.tests.rooms import GROUPS, IntrinsicScores, evaluate_embedding
from ncc.errors import InputError
from tests.rooms import Embedding, Vocabulary, load_embedding


@pytest.fixture(scope="module")
def shipped() -> IntrinsicScores:
    return evaluate_embedding(load_embedding())


@pytest.fixture
def tiny() -> Embedding:
    words = ("ret void", "<%ID> = add i32 <%ID>, <INT>", "<%ID> = add i64 <%ID>, <INT>", "add", "<unknown>")
    return Embedding(Vocabulary(words, np.array([3, 2, 1, 0, 0])), np.eye(5, dtype=np.float32))


def test_the_shipped_embedding_is_asked_all_kinds(shipped):
    assert [kind.kind for kind in shipped.analogies] == [kind.name for kind in KINDS]
    assert [group.group for group in shipped.groups] == list(GROUPS)
    for kind in shipped.analogies:
        assert 0 <= kind.num_correct <= kind.num_correct_excluding_query <= kind.num_questions
    assert sum(kind.num_questions for kind in shipped.analogies) > 500
    assert 50 < shipped.distance.percent <= 100
    assert all(category.percent is not None for category in shipped.distance.categories)
    assert all(len(near) == 5 for near in shipped.neighbors)


def test_numbers_go_to_json_with_one_decimal(shipped):
    found = json.loads(json.dumps(shipped.to_dict()))
    assert set(found) == {"k", "groups", "kinds", "distance", "neighbors"}
    assert [group["published_percent"] for group in found["groups"]] == [40.4, 84.9, 8.9, 87.5]
    for score in (*found["groups"], *found["kinds"], *found["distance"]["categories"]):
        assert score["percent"] is None or score["percent"] == round(score["percent"], 1)
    assert found["neighbors"][0]["neighbors"][0].keys() == {"text", "similarity", "count"}


def test_the_table_has_a_line_for_everything(shipped):
    text = shipped.to_text()
    for name in (*GROUPS, *(kind.name for kind in KINDS), "bitwise binary", "mean of 11 of 11 categories"):
        assert name in text
    assert "integer wrap flags *" in text
    assert "fast-math flags *" not in text
    assert all(published in text for published in ("40.4", "84.9", "8.9", "87.5", "79.1"))
    assert "Nearest to <%ID> = fmul float <%ID>, <%ID>" in text


def test_what_was_not_asked_has_no_score(tiny):
    scores = evaluate_embedding(tiny, nearest=["<%ID> = add i8 <%ID>, <%ID>"], k=2)
    found = scores.to_dict()
    assert all(group["percent"] is None for group in found["groups"])
    assert found["distance"]["percent"] == 0.0  # all are equally far, so that no pair is nearer
    assert "mean of 1 of 11 categories" in scores.to_text()
    assert "–" in scores.to_text()


def test_neighbours_say_what_stands_for_a_statement(tiny):
    (near,) = evaluate_embedding(tiny, nearest=["<%ID> = add i8 <%ID>, <%ID>"], k=2).neighbors
    assert (near.level, near.word) == ("opcode", "add")
    assert len(near) == 2
    text = evaluate_embedding(tiny, nearest=["<%ID> = add i8 <%ID>, <%ID>"]).to_text()
    assert "Nearest to <%ID> = add i8 <%ID>, <%ID>  (by opcode: add)" in text


def test_sampled_kinds_say_so(tiny):
    scores = evaluate_embedding(tiny)
    assert " of 7,000" not in scores.to_text()
    first = dataclasses.replace(scores.analogies[0], num_possible=7000, num_questions=100, num_correct=40)
    sampled = dataclasses.replace(scores, analogies=(first, *scores.analogies[1:]))
    (line,) = (line for line in sampled.to_text().splitlines() if line.startswith("  integer binary"))
    assert line.split()[3:7] == ["100", "(of", "7,000)", "40.0"]


def test_k_must_be_positive(tiny):
    with pytest.raises(InputError, match="k is 0; expected 1 or more"):
        evaluate_embedding(tiny, k=0)
