"""Back-off forms: a table of statements, and laws that every form of every real statement keeps."""

import itertools

import pytest

from tests.rooms import OPCODES, Backoff, generalize, opcode_of
from tests.support.text import FOLDER

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
