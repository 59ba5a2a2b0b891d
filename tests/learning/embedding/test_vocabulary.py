"""The vocabulary: who becomes a word, whose statements a word stands for, and that nothing is left without one."""

import random

import numpy as np
import pytest

from ncc import Backoff, load_embedding
from tests.rooms import OPCODES, build_vocabulary, generalize, split_constant_offset, strip_inferred_flags
from tests.support.text import rows


@pytest.fixture
def seen(counts):
    return dict(zip(counts.texts, counts.statements.tolist(), strict=True))


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
    assert vocabulary.find("<%ID> = sub i32 <%ID>, <INT>")[1] == Backoff.OPCODE


def test_rare_statements_gather_under_their_nearest_common_form():
    rare = {f"<%ID> = add {flag}i32 <%ID>, <INT>": 2 for flag in ("nsw ", "nuw ", "nuw nsw ")}
    vocabulary = build_vocabulary(rare, 6)
    row, level = vocabulary.find("<%ID> = add nsw i32 <%ID>, <INT>")
    assert vocabulary.words[row] == "<%ID> = add i32 <%ID>, <INT>"
    assert level == Backoff.FLAGS
    assert vocabulary.counts[row] == 6


@pytest.mark.parametrize("min_count", [2, 20])
def test_every_opcode_and_every_form_of_a_word_is_there(seen, min_count):
    vocabulary = build_vocabulary(seen, min_count)
    assert set(OPCODES) <= set(vocabulary.words)
    for word in set(vocabulary.words[:-1]) - set(OPCODES):
        level = min(level for level, form in zip(Backoff, generalize(word), strict=True) if form == word)
        assert all(form in vocabulary for form in generalize(word)[level:])


def test_any_statement_is_found_at_the_lowest_level_that_is_known(seen):
    vocabulary = build_vocabulary(dict(list(seen.items())[::2]), 3)
    for text in seen:
        row, level = vocabulary.find(text)
        forms = generalize(text)
        assert not any(form in vocabulary for form in forms[:level])
        if level > Backoff.EXACT:
            assert vocabulary.words[row] == forms[level]
        elif vocabulary.words[row] != text:
            spelled = {strip_inferred_flags(form) for form in (text, split_constant_offset(text))}
            assert strip_inferred_flags(vocabulary.words[row]) in spelled


@pytest.mark.parametrize(("older", "newer"), rows("versions.txt"))
def test_a_statement_of_another_version_is_the_same_word(older, newer):
    newer = f"<%ID> = {newer}"
    others = {f"<%ID> = {opcode} i1 <%ID>, <INT>": 9 for opcode in ("add", "or", "icmp eq")}
    for one, other in ((older, newer), (newer, older)):
        vocabulary = build_vocabulary({one: 9, **others}, 5)
        row, level = vocabulary.find(other)
        if one == older and split_constant_offset(older) != older:
            assert level > Backoff.EXACT  # a number of bytes tells of no structure
        else:
            assert level == Backoff.EXACT
            assert vocabulary.words[row] in (one, generalize(one)[Backoff.FLAGS])


@pytest.mark.parametrize(("statement", "word"), rows("gpu_words.txt"))
def test_what_any_gpu_has_is_what_opencl_has_or_is_most_like_it(statement, word):
    vocabulary = load_embedding().with_fingerprint("e32b14a7bc9d6bd1").vocabulary  # as trained, without GPUs' code
    row, level = vocabulary.find(statement)
    assert (vocabulary.words[row], level) == (word, Backoff.OPERATION)
    again = build_vocabulary({statement: 9}, 5)
    assert again.words[again.find(statement)[0]] == statement


def test_shuffles_of_any_gpu_gather_under_one_form():
    names = ("llvm.nvvm.shfl.sync.down.i32", "llvm.nvvm.shfl.sync.bfly.f32", "llvm.amdgcn.ds.bpermute")
    vocabulary = build_vocabulary({f"<%ID> = call i32 @{name}(i32 <%ID>)": 3 for name in names}, 5)
    row, _ = vocabulary.find("<%ID> = call float @llvm.nvvm.shfl.sync.up.f32(i32 <INT>, float <%ID>, i32 <INT>)")
    assert (vocabulary.words[row], vocabulary.counts[row]) == ("call @sub_group_shuffle …", 9)


def test_a_word_as_it_stands_goes_before_those_of_other_versions():
    old, new = "<%ID> = zext i8 <%ID> to i64", "<%ID> = zext nneg i8 <%ID> to i64"
    vocabulary = build_vocabulary({old: 9, new: 9}, 5)
    assert [vocabulary.words[vocabulary.find(text)[0]] for text in (old, new)] == [old, new]


def test_an_opcode_of_the_future_is_the_last_word(seen):
    vocabulary = build_vocabulary(seen, 3)
    row, level = vocabulary.find("<%ID> = frobnicate i32 <%ID>")
    assert (row, level) == (len(vocabulary) - 1, Backoff.OPCODE)
    assert vocabulary.counts[row] == 0


def test_the_order_of_the_statements_does_not_matter(seen):
    once = build_vocabulary(seen, 5)
    items = list(seen.items())
    random.Random(1).shuffle(items)
    again = build_vocabulary(dict(items), 5)
    assert once.words == again.words
    assert np.array_equal(once.counts, again.counts)


def test_an_element_of_nested_structures_is_that_of_flat_ones():
    word = "<%ID> = getelementptr inbounds { ptr, i8 }, ptr <%ID>, i64 <%ID>"
    vocabulary = build_vocabulary({word: 9}, 5)
    for nested in ("{ { { ptr }, i8 } }, ptr <%ID>, i64 <%ID>", "{ { ptr }, i8 }, ptr <%ID>, i64 <%ID>, i32 <INT>"):
        row, level = vocabulary.find(f"<%ID> = getelementptr inbounds {nested}")
        assert (vocabulary.words[row], level) == (word, Backoff.EXACT)
    for other in ("{ { [2 x i8] }, i8 }, ptr <%ID>, i64 <%ID>", "{ { ptr }, i8, i8 }, ptr <%ID>, i64 <%ID>"):
        assert vocabulary.find(f"<%ID> = getelementptr inbounds {other}")[1] > Backoff.EXACT
