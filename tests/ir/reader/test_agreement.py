"""Types that disagree are seen, and in modules that LLVM allows there are none."""

import random
from pathlib import Path

import pytest

import ncc
from fuzz.grammar import random_module
from fuzz.targets.ir import texts
from ncc.errors import IRError
from tests.rooms import find_mismatch, read_module
from tests.support.refuses import refuses

IR = Path(__file__).parents[2] / "data" / "ir"
WRONG = {
    "ret i64 0": "line 3: 'ret i64 0' in a function of i32",
    "ret void": "line 3: 'ret void' in a function of i32",
    "%x = add i64 1, 2\n  %y = mul nsw i32 %x, 3\n  ret i32 %y": "line 4: '%y = mul nsw i32 %x, 3' takes a i64",
    "%c = icmp eq i32 1, 2\n  %d = zext i8 %c to i32\n  ret i32 %d": "line 4: '%d = zext i8 %c to i32' takes a i1",
    "%p = load i64, ptr null\n  %f = fcmp olt double %p, 1.0\n  ret i32 0": "takes a i64",
    "%p = fptosi float 1.0 to i64\n  ret i32 %p": "line 4: 'ret i32 %p' takes a i64",
}


def _function(body: str) -> bytes:
    return f"\ndefine i32 @f() {{\n  {body}\n}}\n".encode()


@pytest.mark.parametrize(("body", "message"), WRONG.items())
def test_a_mismatch_is_found_and_the_verifier_refuses_it(body, message, caplog):
    found = find_mismatch(read_module(_function(body)))
    assert found is not None
    assert found.endswith(message)
    ncc.embed(_function(body))
    assert caplog.messages == [f"<text>: not verified: {found}; --verify asks LLVM"]
    with refuses(IRError, "<text>:"):
        ncc.embed(_function(body), options=ncc.CompileOptions(verify=True))


def test_what_llvm_allows_agrees():
    made_up = [random_module(random.Random(number))[number % 2].encode() for number in range(20)]
    for text in (*texts(), *made_up):
        assert find_mismatch(read_module(text)) is None
    assert find_mismatch(read_module(b"declare void @f()\n")) is None


def test_the_verifier_is_asked_of_text_and_of_bitcode():
    for name in ("tree.clang22.ll", "shapes.llvm20.bc"):
        module = read_module(IR / name)
        assert read_module(IR / name, verify=True).texts == module.texts
    entry = b"define void @f() {\n  br label %b\nb:\n  %x = phi i32 [ 0, %c ]\n  br label %b\nc:\n  ret void\n}\n"
    assert read_module(entry).num_statements
    with refuses(IRError, "PHINode"):
        read_module(entry, verify=True)
