"""Parts of statements: a table of real statements, the weights of the matrix, and laws for any text."""

import itertools

import numpy as np
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


@pytest.mark.parametrize("times", range(1, 9))
def test_a_part_that_repeats_is_told_apart_up_to_the_fourth(times):
    text = f"call void <@ID>({', '.join(['i32 <%ID>'] * times)})"
    repeats = ["i32", "<%ID>", "i32 2", "<%ID> 2", "i32 3", "<%ID> 3", "i32 4", "<%ID> 4"][: 2 * times]
    assert list(subwords_of(text)) == ["opcode call", "void", "<@ID>", *repeats]


def test_every_part_of_a_shorter_call_is_one_of_a_longer():
    calls = [set(subwords_of(f"call void <@ID>({', '.join(['ptr <%ID>'] * n)})")) for n in range(1, 5)]
    for shorter, longer in itertools.pairwise(calls):
        assert shorter < longer


def test_every_real_statement_has_its_opcode_first(modules):
    for module in modules:
        for text in module.texts:
            for form in generalize(text):
                assert subwords_of(form)[0] == f"opcode {opcode_of(form)}", form


def test_real_statements_that_differ_rarely_have_the_same_parts(modules):
    texts = {text for module in modules for text in module.texts}
    assert len({subwords_of(text) for text in texts}) > 0.98 * len(texts)


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
def test_any_texts_have_a_matrix_with_rows_of_length_1(words):
    matrix = subword_matrix(words)
    assert len(matrix.row) == len(matrix.column) == len(matrix.weight) == sum(len(subwords_of(word)) for word in words)
    squares = np.bincount(matrix.row, weights=matrix.weight**2, minlength=len(words))
    assert squares == pytest.approx([float(bool(subwords_of(word))) for word in words])


def _dense(words):
    matrix = subword_matrix(words)
    dense = np.zeros((matrix.num_words, matrix.num_subwords))
    np.add.at(dense, (matrix.row, matrix.column), matrix.weight)
    return dense


def test_rows_of_the_matrix_have_length_1(modules):
    words = sorted({text for module in modules for text in module.texts})
    assert (_dense(words) ** 2).sum(axis=1) == pytest.approx(1)


def test_an_opcode_weighs_twice_another_part():
    dense = _dense(["ret i32 <INT>"])
    assert np.sort(dense[0]) == pytest.approx(np.array([1, 1, 2]) / np.sqrt(6))
    matrix = subword_matrix(["ret i32 <INT>", "<%ID> = fadd float <%ID>, <%ID>"])
    first = np.flatnonzero(np.diff(matrix.row, prepend=-1))
    others = np.setdiff1d(np.arange(len(matrix.row)), first)
    assert matrix.weight[others] == pytest.approx(matrix.weight[first][matrix.row[others]] / 2)


def test_columns_are_in_alphabetical_order():
    words = ["store i8 <INT>, ptr <%ID>", "<%ID> = add i64 <%ID>, <%ID>", "ret i8 <INT>"]
    names = sorted({part for word in words for part in subwords_of(word)})
    matrix = subword_matrix(words)
    assert matrix.num_subwords == len(names)
    found = [(int(row), names[column]) for row, column in zip(matrix.row, matrix.column, strict=True)]
    assert found == [(row, part) for row, word in enumerate(words) for part in subwords_of(word)]


def test_the_order_of_the_words_does_not_matter_to_the_columns():
    words = ["store i8 <INT>, ptr <%ID>", "<%ID> = add i64 <%ID>, <%ID>", "ret i8 <INT>"]
    assert np.array_equal(_dense(words), _dense(words[::-1])[::-1])


def test_the_matrix_has_the_types_that_torch_wants():
    matrix = subword_matrix(["ret void", "", "unreachable"])
    assert [part.dtype for part in (matrix.row, matrix.column, matrix.weight)] == [np.int64, np.int64, np.float32]
    assert matrix.row.tolist() == [0, 0, 2]
    assert (matrix.num_words, matrix.num_subwords) == (3, 3)


@pytest.mark.parametrize("words", [[], ["", ","]])
def test_nothing_has_an_empty_matrix(words):
    matrix = subword_matrix(words)
    assert len(matrix.row) == len(matrix.column) == len(matrix.weight) == matrix.num_subwords == 0
    assert matrix.num_words == len(words)
