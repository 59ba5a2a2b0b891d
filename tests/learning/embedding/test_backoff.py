"""Back-off forms and parts of statements: tables of statements, and laws for any text."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.rooms import OPCODES, Backoff, generalize, opcode_of, subword_matrix, subwords_of
from tests.support.text import FOLDER, rows

CASES = [case.splitlines() for case in (FOLDER / "forms.txt").read_text(encoding="utf-8").split("\n\n")]
"""A statement and its forms, but for those that are the form above and the last, the opcode."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_each_level_drops_what_its_name_says(case):
    text, *lines = case
    forms, expected = dict(line.split(": ", 1) for line in lines), [text]
    for level in list(Backoff)[1:-1]:
        expected.append(forms.get(level.name.lower(), expected[-1]))
    assert list(generalize(text)) == [*expected, expected[-1].split()[0]]


def _statements(modules):
    return sorted({text for module in modules for text in module.texts} | {case[0] for case in CASES})


def test_a_form_is_its_own_form_at_its_level_and_shares_all_that_is_above(modules):
    for text in _statements(modules):
        forms = generalize(text)
        for low, high in itertools.product(list(Backoff)[:-1], Backoff):
            again = generalize(forms[low])[high]
            assert again == forms[max(low, high)], (text, low.name, high.name)


def test_every_real_statement_ends_at_an_opcode_that_the_reader_knows(modules):
    for module in modules:
        for number, text in zip(module.opcode.tolist(), module.text_id.tolist(), strict=True):
            assert generalize(module.texts[text])[Backoff.OPCODE] == OPCODES[number], module.texts[text]


def test_levels_never_meet_across_opcodes(modules):
    home: dict[str, str] = {}
    for text in _statements(modules):
        for form in generalize(text):
            assert home.setdefault(form, opcode_of(text)) == opcode_of(text), form


def test_placeholders_are_not_mistaken_for_vectors_or_types():
    assert generalize("store i1 <INT>, ptr <@ID>")[Backoff.TYPES] == "store int <INT>, ptr <@ID>"
    assert "<STRING>" in generalize("call void asm sideeffect <STRING>(<4 x i32> <%ID>)")[Backoff.TYPES]


def test_a_name_that_holds_a_flag_or_a_type_is_kept():
    text = "<%ID> = call double @fast_length(<2 x double> <%ID>)"
    assert generalize(text)[Backoff.OPERATION] == "call @fast_length …"
    assert "@fast_length(" in generalize(text)[Backoff.TYPES]


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
