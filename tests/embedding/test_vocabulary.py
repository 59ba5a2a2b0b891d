"""The vocabulary: who becomes a word, whose statements a word stands for, and that nothing is left without one."""

import random

import numpy as np
import pytest

from ncc.embedding import BackoffLevel, Vocabulary, build_vocabulary, generalise
from ncc.errors import InputError
from ncc.ir import OPCODES


@pytest.fixture
def seen(counts):
    return dict(zip(counts.texts, counts.statements.tolist(), strict=True))


@pytest.mark.parametrize("min_count", [1, 3, 20, 10**9])
def test_counts_add_up_to_the_corpus(seen, min_count):
    vocabulary = build_vocabulary(seen, min_count)
    assert vocabulary.counts.sum() == sum(seen.values())
    assert len(vocabulary.counts) == len(vocabulary)


@pytest.mark.parametrize("min_count", [1, 3, 20, 10**9])
def test_a_words_count_is_that_of_the_statements_that_it_stands_for(seen, min_count):
    vocabulary = build_vocabulary(seen, min_count)
    rows, _ = vocabulary.encode(seen)
    total = np.bincount(rows, weights=list(seen.values()), minlength=len(vocabulary))
    assert np.array_equal(total, vocabulary.counts)


def test_a_statement_is_a_word_exactly_from_min_count_on():
    vocabulary = build_vocabulary({"<%ID> = add i32 <%ID>, <INT>": 5, "<%ID> = sub i32 <%ID>, <INT>": 4}, 5)
    assert "<%ID> = add i32 <%ID>, <INT>" in vocabulary
    assert "<%ID> = sub i32 <%ID>, <INT>" not in vocabulary
    assert vocabulary.find("<%ID> = sub i32 <%ID>, <INT>")[1] == BackoffLevel.OPCODE


def test_rare_statements_gather_under_their_nearest_common_form():
    rare = {f"<%ID> = add {flag}i32 <%ID>, <INT>": 2 for flag in ("nsw ", "nuw ", "nuw nsw ")}
    vocabulary = build_vocabulary(rare, 6)
    row, level = vocabulary.find("<%ID> = add nsw i32 <%ID>, <INT>")
    assert vocabulary.words[row] == "<%ID> = add i32 <%ID>, <INT>"
    assert level == BackoffLevel.FLAGS
    assert vocabulary.counts[row] == 6


def test_with_min_count_1_every_statement_is_a_word(seen):
    _, level = build_vocabulary(seen, 1).encode(seen)
    assert (level == BackoffLevel.EXACT).all()


@pytest.mark.parametrize("min_count", [2, 20])
def test_every_opcode_and_every_form_of_a_word_is_there(seen, min_count):
    vocabulary = build_vocabulary(seen, min_count)
    assert set(OPCODES) <= set(vocabulary.words)
    for word in set(vocabulary.words[:-1]) - set(OPCODES):
        level = min(level for level, form in zip(BackoffLevel, generalise(word), strict=True) if form == word)
        assert all(form in vocabulary for form in generalise(word)[level:])


def test_any_statement_is_found_at_the_lowest_level_that_is_known(seen):
    vocabulary = build_vocabulary(dict(list(seen.items())[::2]), 3)
    for text in seen:
        row, level = vocabulary.find(text)
        forms = generalise(text)
        assert vocabulary.words[row] == forms[level]
        assert not any(form in vocabulary for form in forms[:level])


def test_an_opcode_of_the_future_is_the_last_word(seen):
    vocabulary = build_vocabulary(seen, 3)
    row, level = vocabulary.find("<%ID> = frobnicate i32 <%ID>")
    assert (row, level) == (len(vocabulary) - 1, BackoffLevel.OPCODE)
    assert vocabulary.counts[row] == 0


def test_the_order_of_the_statements_does_not_matter(seen):
    once = build_vocabulary(seen, 5)
    items = list(seen.items())
    random.Random(1).shuffle(items)
    again = build_vocabulary(dict(items), 5)
    assert once.words == again.words
    assert np.array_equal(once.counts, again.counts)


def test_words_come_most_frequent_first(seen):
    assert (np.diff(build_vocabulary(seen, 5).counts) <= 0).all()


def test_an_empty_corpus_still_has_all_opcodes():
    vocabulary = build_vocabulary({}, 5)
    assert len(vocabulary) == len(OPCODES) + 1
    assert vocabulary.find("ret void")[1] == BackoffLevel.OPCODE


def test_encoding_nothing_gives_empty_arrays():
    rows, levels = build_vocabulary({}, 5).encode([])
    assert rows.dtype == np.int32
    assert levels.dtype == np.uint8
    assert len(rows) == len(levels) == 0


def test_min_count_below_1_is_refused():
    with pytest.raises(InputError, match="min_count is 0; expected 1 or more"):
        build_vocabulary({}, 0)


@pytest.mark.parametrize(("words", "counts"), [(("a", "a"), [1, 2]), (("a", "b"), [1])])
def test_words_and_counts_must_agree(words, counts):
    with pytest.raises(InputError, match="distinct words and one count for each"):
        Vocabulary(words, np.array(counts))
