"""Parts of statements: a table of real statements, the weights of the matrix, and laws for any text."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.rooms import generalize, opcode_of, subword_matrix, subwords_of
from tests.support.text import rows


@pytest.mark.parametrize(("text", "parts"), [*rows("parts.txt"), ["", ""], [" ,;()", ""]])
def test_the_parts_of_a_statement(text, parts):
    assert list(subwords_of(text)) == parts.split(" | ") * bool(parts)


def test_every_real_statement_has_its_opcode_first(modules):
    for module in modules:
        for text in module.texts:
            for form in generalize(text):
                assert subwords_of(form)[0] == f"opcode {opcode_of(form)}", form


# tokens, halves of tokens, and what might be taken for the second occurrence of another
_PIECES = st.sampled_from([
    "<%ID>", "<%ID> = ", "<@ID>", "<INT:0>", "<INT", "align", "align 2", "4", "4 x", "N x", "x", "opcode", "tail",
    "call", "i32", "@f", "@", "…", "{...}", "{", "[", ">", " ", ", ", "-", "2", "3",
])  # fmt: skip


@settings(max_examples=150, deadline=None, database=None, derandomize=True)
@given(st.one_of(st.text(), st.lists(_PIECES, max_size=25).map(" ".join), st.lists(_PIECES, max_size=25).map("".join)))
@example("ret align align, align 2")  # a second "align" beside an alignment
@example("2 opcode opcode")
def test_any_text_has_distinct_parts_with_one_opcode(text):
    parts = subwords_of(text)
    assert len(set(parts)) == len(parts)
    assert parts == subwords_of(text)
    assert parts[:1] == () or parts[0].startswith("opcode ")
    assert all(parts)


@settings(max_examples=50, deadline=None, database=None, derandomize=True)
@given(st.lists(st.lists(_PIECES, max_size=12).map(" ".join), max_size=6))
def test_any_texts_have_a_matrix_with_rows_of_length_1_and_columns_in_alphabetical_order(words):
    matrix = subword_matrix(words)
    names = sorted({part for word in words for part in subwords_of(word)})
    assert matrix.shape == (len(words), len(names))
    parts = [
        [names[column] for column in matrix.indices[start:end]] for start, end in itertools.pairwise(matrix.indptr)
    ]
    assert parts == [list(subwords_of(word)) for word in words]
    assert matrix.power(2).sum(axis=1) == pytest.approx([float(bool(subwords_of(word))) for word in words])
