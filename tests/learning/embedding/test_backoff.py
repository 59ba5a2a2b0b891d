"""Back-off forms: a table of statements, and laws that every form of every real statement keeps."""

import itertools

import pytest

from tests.rooms import OPCODES, Backoff, generalize, opcode_of

# statement → its forms, but for those that are the form above and the last, the opcode
TABLE: dict[str, dict[Backoff, str]] = {
    "ret void": {Backoff.OPERATION: "ret …"},
    "<%ID> = add nuw nsw i64 <%ID>, <INT>": {
        Backoff.FLAGS: "<%ID> = add i64 <%ID>, <INT>",
        Backoff.TYPES: "<%ID> = add int <%ID>, <INT>",
        Backoff.OPERATION: "add …",
    },
    "<%ID> = load volatile i32, ptr addrspace(1) <%ID>, align 4": {
        Backoff.FLAGS: "<%ID> = load i32, ptr addrspace(1) <%ID>, align 4",
        Backoff.ALIGNMENT: "<%ID> = load i32, ptr <%ID>",
        Backoff.TYPES: "<%ID> = load int, ptr <%ID>",
        Backoff.OPERATION: "load …",
    },
    "<%ID> = tail call fast float @llvm.fmuladd(float <%ID>, float <%ID>, float <%ID>)": {
        Backoff.FLAGS: "<%ID> = call float @llvm.fmuladd(float <%ID>, float <%ID>, float <%ID>)",
        Backoff.TYPES: "<%ID> = call fp @llvm.fmuladd(fp <%ID>, fp <%ID>, fp <%ID>)",
        Backoff.OPERATION: "call @llvm.fmuladd …",
    },
    "call void <@ID>(ptr <%ID>)": {Backoff.OPERATION: "call <@ID> …"},
    "invoke void <%ID>(i8 <%ID>) to label <LABEL> unwind label <LABEL>": {
        Backoff.TYPES: "invoke void <%ID>(int <%ID>) to label <LABEL> unwind label <LABEL>",
        Backoff.OPERATION: "invoke <%ID> …",
    },
    "<%ID> = icmp samesign ult i64 <%ID>, <INT>": {
        Backoff.FLAGS: "<%ID> = icmp ult i64 <%ID>, <INT>",
        Backoff.TYPES: "<%ID> = icmp ult int <%ID>, <INT>",
        Backoff.OPERATION: "icmp ult …",
    },
    "<%ID> = fcmp nnan ninf uno double <%ID>, <FLOAT>": {
        Backoff.FLAGS: "<%ID> = fcmp uno double <%ID>, <FLOAT>",
        Backoff.TYPES: "<%ID> = fcmp uno fp <%ID>, <FLOAT>",
        Backoff.OPERATION: "fcmp uno …",
    },
    "<%ID> = alloca [10 x [20 x i32]], align 16": {
        Backoff.ALIGNMENT: "<%ID> = alloca [10 x [20 x i32]]",
        Backoff.SIZES: "<%ID> = alloca [N x [N x i32]]",
        Backoff.TYPES: "<%ID> = alloca array",
        Backoff.OPERATION: "alloca …",
    },
    "<%ID> = getelementptr inbounds nuw [16 x { i32, [4 x i8] }], ptr addrspace(3) <@ID>, i64 <INT>": {
        Backoff.FLAGS: "<%ID> = getelementptr [16 x { i32, [4 x i8] }], ptr addrspace(3) <@ID>, i64 <INT>",
        Backoff.ALIGNMENT: "<%ID> = getelementptr [16 x { i32, [4 x i8] }], ptr <@ID>, i64 <INT>",
        Backoff.SIZES: "<%ID> = getelementptr [N x { i32, [N x i8] }], ptr <@ID>, i64 <INT>",
        Backoff.TYPES: "<%ID> = getelementptr array, ptr <@ID>, int <INT>",
        Backoff.OPERATION: "getelementptr …",
    },
    "<%ID> = extractvalue { i32, { i8, ptr } } <%ID>, 1, 0": {
        Backoff.TYPES: "<%ID> = extractvalue struct <%ID>, N",
        Backoff.OPERATION: "extractvalue …",
    },
    "<%ID> = load <vscale x 4 x i32>, ptr <%ID>, align 16": {
        Backoff.ALIGNMENT: "<%ID> = load <vscale x 4 x i32>, ptr <%ID>",
        Backoff.TYPES: "<%ID> = load vector of int, ptr <%ID>",
        Backoff.OPERATION: "load …",
    },
    '<%ID> = cmpxchg weak ptr <%ID>, i32 <%ID>, i32 <INT> syncscope("agent") acq_rel acquire, align 4': {
        Backoff.FLAGS: '<%ID> = cmpxchg ptr <%ID>, i32 <%ID>, i32 <INT> syncscope("agent") acq_rel acquire, align 4',
        Backoff.ALIGNMENT: "<%ID> = cmpxchg ptr <%ID>, i32 <%ID>, i32 <INT> acq_rel acquire",
        Backoff.TYPES: "<%ID> = cmpxchg ptr <%ID>, int <%ID>, int <INT> acq_rel acquire",
        Backoff.OPERATION: "cmpxchg …",
    },
    "<%ID> = getelementptr inbounds {...}, ptr <%ID>, i64 <INT:0>, i32 <INT:2^n>": {
        Backoff.FLAGS: "<%ID> = getelementptr {...}, ptr <%ID>, i64 <INT>, i32 <INT>",
        Backoff.TYPES: "<%ID> = getelementptr struct, ptr <%ID>, int <INT>, int <INT>",
        Backoff.OPERATION: "getelementptr …",
    },
    "<%ID> = sub i32 <INT:->, <%ID>": {
        Backoff.FLAGS: "<%ID> = sub i32 <INT>, <%ID>",
        Backoff.TYPES: "<%ID> = sub int <INT>, <%ID>",
        Backoff.OPERATION: "sub …",
    },
    "<%ID> = alloca [4 x { {...}, i8 }]": {
        Backoff.SIZES: "<%ID> = alloca [N x { {...}, i8 }]",
        Backoff.TYPES: "<%ID> = alloca array",
        Backoff.OPERATION: "alloca …",
    },
    "<%ID> = alloca <{ i8, {} }>": {Backoff.TYPES: "<%ID> = alloca struct", Backoff.OPERATION: "alloca …"},
}


@pytest.mark.parametrize("text", TABLE)
def test_each_level_drops_what_its_name_says(text):
    forms, expected = TABLE[text], [text]
    for level in list(Backoff)[1:-1]:
        expected.append(forms.get(level, expected[-1]))
    assert list(generalize(text)) == [*expected, expected[-1].split()[0]]


def _statements(modules):
    return sorted({text for module in modules for text in module.texts} | set(TABLE))


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
