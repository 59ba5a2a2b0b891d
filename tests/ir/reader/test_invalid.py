"""Modules that LLVM refuses: the reader refuses those that its one pass can see, in either dialect of pointers."""

import re
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from ncc.errors import IRError
from tests.rooms import IRSyntaxError, read_module, read_text
from tests.support.refuses import refuses
from tests.support.text import rows

IR = Path(__file__).parents[2] / "data" / "ir"
HEAD = "define i32 @f(i32 %n, i64 %m, ptr %p, float %x, <4 x i32> %v, i1 %c, { i32, ptr } %s) {"
CASES = {
    name: body if "define" in body or name.startswith("outside ") else f"{HEAD}\n{body}\n}}"
    for name, body in rows("invalid.txt")
}
SEEN = {name: text for name, text in CASES.items() if not name.startswith("left ")}


def read_directly(text: str) -> None:
    read_text(text.encode(), known_callees=None)


@pytest.mark.parametrize("name", CASES)
def test_llvm_refuses_it(name: str) -> None:
    with pytest.raises(RuntimeError):
        llvm.parse_assembly(CASES[name], llvm.create_context()).verify()


@pytest.mark.parametrize("name", SEEN)
def test_the_reader_refuses_it_in_either_dialect(name: str) -> None:
    typed = re.sub(r"\bptr\b", "i8*", SEEN[name])
    for text in (SEEN[name], typed):
        with pytest.raises(IRSyntaxError) as caught:
            read_directly(text)
        assert str(caught.value)
        with refuses(IRError, "m:") as refused:
            read_module(text.encode(), name="m")
        assert isinstance(refused.value, IRError)
        assert refused.value.line is not None


def test_what_is_left_to_the_verifier_is_less_than_a_quarter() -> None:
    assert len(CASES) >= 60
    assert len(SEEN) >= 0.75 * len(CASES)
    for name in CASES.keys() - SEEN.keys():
        with pytest.raises(IRError):
            read_module(CASES[name].encode(), verify=True)


@pytest.mark.parametrize("file", ["tree.clang22.ll", "shapes.llvm20.bc"])
def test_what_the_verifier_is_asked_of_reads_the_same(file: str) -> None:
    assert read_module(IR / file, verify=True).texts == read_module(IR / file).texts
