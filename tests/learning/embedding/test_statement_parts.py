"""Parts of statements: a table of real statements, the weights of the matrix, and laws for any text."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.rooms import generalize, opcode_of, subword_matrix, subwords_of

# statement, then its parts: those of an instruction first, then forms that statements are generalised to
TABLE = [
    ("ret void", ["opcode ret", "void"]),
    ("<%ID> = add nuw nsw i64 <%ID>, <INT>", ["opcode add", "nuw", "nsw", "i64", "<%ID>", "<INT>", "<%ID> ="]),
    ("<%ID> = add i32 <%ID>, <INT:0>", ["opcode add", "i32", "<%ID>", "<INT:0>", "<%ID> ="]),
    ("<%ID> = mul i32 <INT:->, <INT:2^n>", ["opcode mul", "i32", "<INT:->", "<INT:2^n>", "<%ID> ="]),
    ("<%ID> = icmp samesign ult i64 <%ID>, <INT>", [
        "opcode icmp", "samesign", "ult", "i64", "<%ID>", "<INT>", "<%ID> ="
    ]),
    ("<%ID> = load volatile i32, ptr addrspace(1) <%ID>, align 4", [
        "opcode load", "volatile", "i32", "ptr", "addrspace", "1", "<%ID>", "align 4", "<%ID> ="
    ]),
    ("store <4 x float> <FLOAT>, ptr <@ID>, align 16", [
        "opcode store", "4 x", "float", "<FLOAT>", "ptr", "<@ID>", "align 16"
    ]),
    ("<%ID> = load <vscale x 4 x i32>, ptr <%ID>, align 16", [
        "opcode load", "vscale", "x", "4 x", "i32", "ptr", "<%ID>", "align 16", "<%ID> ="
    ]),
    ("<%ID> = extractelement <4 x float> <%ID>, 2", ["opcode extractelement", "4 x", "float", "<%ID>", "2", "<%ID> ="]),
    ("<%ID> = shufflevector <4 x float> <%ID>, <4 x float> poison, <4 x i32> <INT>", [
        "opcode shufflevector", "4 x", "float", "<%ID>", "4 x 2", "float 2", "poison", "4 x 3", "i32", "<INT>",
        "<%ID> =",
    ]),
    ("<%ID> = getelementptr inbounds {...}, ptr <%ID>, i64 <INT>, i32 <INT>", [
        "opcode getelementptr", "inbounds", "{...}", "ptr", "<%ID>", "i64", "<INT>", "i32", "<INT> 2", "<%ID> ="
    ]),
    ("<%ID> = getelementptr inbounds nuw [16 x { i32, [4 x i8] }], ptr <@ID>, i64 <%ID>", [
        "opcode getelementptr", "inbounds", "nuw", "[", "16 x", "{", "i32", "[ 2", "4 x", "i8", "ptr", "<@ID>", "i64",
        "<%ID>", "<%ID> =",
    ]),
    ("<%ID> = extractvalue { ptr, i32 } <%ID>, 1", [
        "opcode extractvalue", "{", "ptr", "i32", "<%ID>", "1", "<%ID> ="
    ]),
    ("<%ID> = alloca {}", ["opcode alloca", "{", "<%ID> ="]),
    ("<%ID> = phi i32 [ <%ID>, <LABEL> ], [ <INT>, <LABEL> ]", [
        "opcode phi", "i32", "[", "<%ID>", "<LABEL>", "[ 2", "<INT>", "<LABEL> 2", "<%ID> ="
    ]),
    ("switch i32 <%ID>, label <LABEL> [ i32 <INT>, label <LABEL> ]", [
        "opcode switch", "i32", "<%ID>", "label", "<LABEL>", "[", "i32 2", "<INT>", "label 2", "<LABEL> 2"
    ]),
    ("<%ID> = tail call fast float @llvm.fmuladd(float <%ID>, float <%ID>, float <FLOAT>)", [
        "opcode call", "tail", "fast", "float", "@llvm.fmuladd", "float 2", "<%ID>", "float 3", "<%ID> 2", "float 4",
        "<FLOAT>", "<%ID> =",
    ]),
    ("musttail call void <@ID>(ptr <%ID>)", ["opcode call", "musttail", "void", "<@ID>", "ptr", "<%ID>"]),
    ("call void @_ZdlPvm(ptr <%ID>, i64 <INT>)", ["opcode call", "void", "@_ZdlPvm", "ptr", "<%ID>", "i64", "<INT>"]),
    ("invoke void <%ID>(i8 <%ID>) to label <LABEL> unwind label <LABEL>", [
        "opcode invoke", "void", "<%ID>", "i8", "<%ID> 2", "to", "label", "<LABEL>", "unwind", "label 2", "<LABEL> 2"
    ]),
    ("call void asm sideeffect <STRING>(ptr <%ID>)", [
        "opcode call", "void", "asm", "sideeffect", "<STRING>", "ptr", "<%ID>"
    ]),
    ("add …", ["opcode add", "…"]),
    ("call @llvm.fmuladd …", ["opcode call", "@llvm.fmuladd", "…"]),
    ("icmp ult …", ["opcode icmp", "ult", "…"]),
    ("<%ID> = alloca [N x [N x i32]]", ["opcode alloca", "[", "N x", "[ 2", "N x 2", "i32", "<%ID> ="]),
    ("<%ID> = load vector of int, ptr <%ID>", ["opcode load", "vector", "of", "int", "ptr", "<%ID>", "<%ID> ="]),
    ("<%ID> = extractvalue struct <%ID>, N", ["opcode extractvalue", "struct", "<%ID>", "N", "<%ID> ="]),
    ("ret", ["opcode ret"]),
    ("<unknown>", ["opcode unknown"]),
    ("", []),
    ("<%ID> = ", []),
    (" ,;()", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "parts"), TABLE, ids=[text or "nothing" for text, _ in TABLE])
def test_the_parts_of_a_statement(text, parts):
    assert list(subwords_of(text)) == parts


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
