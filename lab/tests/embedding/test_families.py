"""Families of statements."""

import pytest

from lab.tests.rooms import FAMILIES, family_of
from tests.rooms import OPCODES, load_embedding


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("<%ID> = add nsw i32 <%ID>, <INT>", "integer arithmetic"),
        ("<%ID> = fneg fast float <%ID>", "floating-point arithmetic"),
        ("<%ID> = or disjoint i32 <%ID>, <INT>", "bitwise"),
        ("<%ID> = icmp slt i32 <%ID>, <%ID>", "comparison"),
        ("<%ID> = zext nneg i8 <%ID> to i32", "conversion"),
        ("<%ID> = load volatile i32, ptr <%ID>, align 4", "memory load"),
        ("<%ID> = load atomic i32, ptr <%ID> seq_cst, align 4", "atomic"),
        ("<%ID> = atomicrmw add ptr <%ID>, i32 <INT> monotonic, align 4", "atomic"),
        ("store i32 <INT>, ptr <%ID>, align 4", "memory store"),
        ("<%ID> = getelementptr inbounds i8, ptr <%ID>, i64 <%ID>", "address"),
        ("<%ID> = alloca i32, align 4", "stack"),
        ("<%ID> = tail call i64 @get_global_id(i32 <INT>)", "call"),
        ("invoke void <@ID>() to label <LABEL> unwind label <LABEL>", "call"),
        ("br label <LABEL>", "control flow"),
        ("<%ID> = insertvalue { ptr, i32 } <%ID>, i32 <%ID>, 1", "vector and aggregate"),
        ("<%ID> = phi i32 [ <%ID>, <LABEL> ]", "phi and select"),
        ("define void <@ID>(ptr <%ID>)", "function header"),
        ("<%ID> = freeze i32 <%ID>", "other"),
        ("fcmp olt …", "comparison"),
        ("<unknown>", "other"),
        ("", "other"),
    ],
)
def test_a_statement_belongs_to_the_family_of_its_opcode(text, family):
    assert family_of(text) == family


def test_hardly_an_opcode_has_no_family():
    assert {opcode for opcode in OPCODES if family_of(opcode) == "other"} <= {"freeze", "va_arg"}
    assert {family_of(word) for word in load_embedding().vocabulary.words} <= set(FAMILIES)
    assert len(FAMILIES) == 16
