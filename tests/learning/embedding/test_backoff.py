"""Back-off forms: a table of statements, and laws that every form of every real statement keeps."""

import itertools

import pytest

from tests.rooms import OPCODES, Backoff, generalize, opcode_of

# statement, then its forms from FLAGS to OPCODE; None where the form is the one above it
TABLE = [
    ("ret void", None, None, None, None, "ret …", "ret"),
    (
        "<%ID> = add nuw nsw i64 <%ID>, <INT>",
        "<%ID> = add i64 <%ID>, <INT>",
        None,
        None,
        "<%ID> = add int <%ID>, <INT>",
        "add …",
        "add",
    ),
    (
        "<%ID> = load volatile i32, ptr addrspace(1) <%ID>, align 4",
        "<%ID> = load i32, ptr addrspace(1) <%ID>, align 4",
        "<%ID> = load i32, ptr <%ID>",
        None,
        "<%ID> = load int, ptr <%ID>",
        "load …",
        "load",
    ),
    (
        "<%ID> = tail call fast float @llvm.fmuladd(float <%ID>, float <%ID>, float <%ID>)",
        "<%ID> = call float @llvm.fmuladd(float <%ID>, float <%ID>, float <%ID>)",
        None,
        None,
        "<%ID> = call fp @llvm.fmuladd(fp <%ID>, fp <%ID>, fp <%ID>)",
        "call @llvm.fmuladd …",
        "call",
    ),
    ("call void <@ID>(ptr <%ID>)", None, None, None, None, "call <@ID> …", "call"),
    (
        "invoke void <%ID>(i8 <%ID>) to label <LABEL> unwind label <LABEL>",
        None,
        None,
        None,
        "invoke void <%ID>(int <%ID>) to label <LABEL> unwind label <LABEL>",
        "invoke <%ID> …",
        "invoke",
    ),
    (
        "<%ID> = icmp samesign ult i64 <%ID>, <INT>",
        "<%ID> = icmp ult i64 <%ID>, <INT>",
        None,
        None,
        "<%ID> = icmp ult int <%ID>, <INT>",
        "icmp ult …",
        "icmp",
    ),
    (
        "<%ID> = fcmp nnan ninf uno double <%ID>, <FLOAT>",
        "<%ID> = fcmp uno double <%ID>, <FLOAT>",
        None,
        None,
        "<%ID> = fcmp uno fp <%ID>, <FLOAT>",
        "fcmp uno …",
        "fcmp",
    ),
    (
        "<%ID> = alloca [10 x [20 x i32]], align 16",
        None,
        "<%ID> = alloca [10 x [20 x i32]]",
        "<%ID> = alloca [N x [N x i32]]",
        "<%ID> = alloca array",
        "alloca …",
        "alloca",
    ),
    (
        "<%ID> = getelementptr inbounds nuw [16 x { i32, [4 x i8] }], ptr addrspace(3) <@ID>, i64 <INT>",
        "<%ID> = getelementptr [16 x { i32, [4 x i8] }], ptr addrspace(3) <@ID>, i64 <INT>",
        "<%ID> = getelementptr [16 x { i32, [4 x i8] }], ptr <@ID>, i64 <INT>",
        "<%ID> = getelementptr [N x { i32, [N x i8] }], ptr <@ID>, i64 <INT>",
        "<%ID> = getelementptr array, ptr <@ID>, int <INT>",
        "getelementptr …",
        "getelementptr",
    ),
    (
        "<%ID> = extractvalue { i32, { i8, ptr } } <%ID>, 1, 0",
        None,
        None,
        None,
        "<%ID> = extractvalue struct <%ID>, N",
        "extractvalue …",
        "extractvalue",
    ),
    (
        "<%ID> = load <vscale x 4 x i32>, ptr <%ID>, align 16",
        None,
        "<%ID> = load <vscale x 4 x i32>, ptr <%ID>",
        None,
        "<%ID> = load vector of int, ptr <%ID>",
        "load …",
        "load",
    ),
    (
        '<%ID> = cmpxchg weak ptr <%ID>, i32 <%ID>, i32 <INT> syncscope("agent") acq_rel acquire, align 4',
        '<%ID> = cmpxchg ptr <%ID>, i32 <%ID>, i32 <INT> syncscope("agent") acq_rel acquire, align 4',
        "<%ID> = cmpxchg ptr <%ID>, i32 <%ID>, i32 <INT> acq_rel acquire",
        None,
        "<%ID> = cmpxchg ptr <%ID>, int <%ID>, int <INT> acq_rel acquire",
        "cmpxchg …",
        "cmpxchg",
    ),
    (
        "<%ID> = getelementptr inbounds {...}, ptr <%ID>, i64 <INT:0>, i32 <INT:2^n>",
        "<%ID> = getelementptr {...}, ptr <%ID>, i64 <INT>, i32 <INT>",
        None,
        None,
        "<%ID> = getelementptr struct, ptr <%ID>, int <INT>, int <INT>",
        "getelementptr …",
        "getelementptr",
    ),
    (
        "<%ID> = sub i32 <INT:->, <%ID>",
        "<%ID> = sub i32 <INT>, <%ID>",
        None,
        None,
        "<%ID> = sub int <INT>, <%ID>",
        "sub …",
        "sub",
    ),
    (
        "<%ID> = alloca [4 x { {...}, i8 }]",
        None,
        None,
        "<%ID> = alloca [N x { {...}, i8 }]",
        "<%ID> = alloca array",
        "alloca …",
        "alloca",
    ),
    ("<%ID> = alloca <{ i8, {} }>", None, None, None, "<%ID> = alloca struct", "alloca …", "alloca"),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_each_level_drops_what_its_name_says(row):
    expected: list[str] = []
    forms = generalize(row[0])
    for form in row:
        expected.append(expected[-1] if form is None else form)
    assert list(forms) == expected
    assert len(forms) == len(Backoff)


def _statements(modules):
    return sorted({text for module in modules for text in module.texts} | {row[0] for row in TABLE})


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
