"""What is wrong with a module: modules that LLVM refuses in either dialect of pointers, and the place of errors."""

import re
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from ncc.errors import IRError
from tests.rooms import IRSyntaxError, read_module, read_text
from tests.support.refuses import refuses
from tests.support.text import rows

PLACES = [
    ("  %x = add i32 %y, 1\n  ret void", 3, 16, "%y"),
    ("  %x = frobnicate i32 1\n  ret void", 3, 8, "opcode"),
    ("  %x = add i32 1, 2", 4, 1, "opcode"),
    ("  store i32 (1, ptr null\n  ret void", 3, 14, "type"),
    ('  call void @"f()\n  ret void', 3, 13, "end of file"),
    ("  %x = add i32 1, 2\n  %x = add i32 1, 2\n  ret void", 4, 3, "'x'"),
    ("  br label %nowhere", 3, 12, "%nowhere"),
    ("  store i32 1, ptr @nothing\n  ret void", 3, 20, "@nothing"),
    ("  %x = add i32 1\n  ret void", 4, 3, "','"),
    ("  br i1 true, label %a\na:\n  ret void", 4, 1, "destination"),
    ("  ret i32 %\n", 3, 11, "value"),
    ("  ret void\n}\ndefine void @f() {\n  ret void", 5, 13, "'f'"),
    ("  ret void\n}\n@g = global i8 1\n@g = global i8 2\ndefine void @h() {\n  ret void", 6, 1, "'@g'"),
]


@pytest.mark.parametrize(("lines", "line", "column", "noun"), PLACES)
def test_the_place_and_the_line(lines: str, line: int, column: int, noun: str) -> None:
    text = f"; file\ndefine void @f() {{\n{lines}\n}}\n"
    with refuses(IRError, f"dir/some.ll:{line}:{column}: ", noun) as caught:
        read_module(text.encode(), name="dir/some.ll")
    assert isinstance(caught.value, IRError)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).endswith(f"\n    {text.splitlines()[line - 1].strip()}")


def test_the_place_is_in_llvms_printing_where_only_that_was_read() -> None:
    deep = "[1 x " * 1000 + "i8" + "]" * 1000
    with refuses(IRError, "x (as LLVM prints it):", "too deep") as caught:
        read_module(f"define void @f() {{\n  %x = alloca {deep}\n  ret void\n}}".encode(), name="x")
    assert len(str(caught.value)) < 250


def test_the_excerpt_of_a_long_line_is_the_part_that_matters() -> None:
    text = "define void @f() {\n  ret void " + "; " + "x" * 500 + "\n}\n" + "y" * 400 + " @@@@ " + "z" * 100_000
    with refuses(IRError, ":4:") as caught:
        read_module(text.encode())
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "text",
    [
        "declare float !r.v.I",
        "declare void @f() !a",
        "attributes ",
        "@a = global ptr addrspace(1",
        "@a = constant <{ i8 }> <{ i8 1 }",
        "declare dro_local spirnedfloat!r.v.Imaondefdml",
    ],
)
@pytest.mark.parametrize("verified", [False, True])
def test_where_a_text_ends_too_soon_is_not_behind_its_end(text: str, verified: bool) -> None:
    with pytest.raises(IRSyntaxError) as caught:
        read_text(text.encode(), known_callees=None, verified=verified)
    assert 0 <= caught.value.offset <= len(text)


def test_what_the_verifier_refuses_while_reading_is_no_crash() -> None:
    warned = b"""!llvm.dbg.cu = !{!0}
    !0 = distinct !DICompileUnit(language: DW_LANG_C, file: !DIFile(filename: "a.c", directory: "/"))
    """
    read_module(warned, name="before", verify=True)  # LLVM warns of it, and that is not said of the next
    text = b"""define i32 @f(i64 %x, ptr sret(i32) %p) {
      ret i32 0
    }
    !llvm.module.flags = !{!0}
    !0 = !{i32 2, !"Debug Info Version", i32 3}
    """
    with refuses(IRError, "LLVM's verifier refuses it", "@f", "Invalid"):
        read_module(text, name="here", verify=True)


IR = Path(__file__).parents[2] / "data" / "ir"
HEAD = "define i32 @f(i32 %n, i64 %m, ptr %p, float %x, <4 x i32> %v, i1 %c, { i32, ptr } %s) {"
CASES = {
    name: body if "define" in body or name.startswith("outside ") else f"{HEAD}\n{body}\n}}"
    for name, body in rows("invalid.txt")
}
SEEN = {name: text for name, text in CASES.items() if not name.startswith("left ")}


@pytest.mark.parametrize("name", CASES)
def test_llvm_refuses_it(name: str) -> None:
    with pytest.raises(RuntimeError):
        llvm.parse_assembly(CASES[name], llvm.create_context()).verify()


@pytest.mark.parametrize("name", SEEN)
def test_the_reader_refuses_it_in_either_dialect(name: str) -> None:
    typed = re.sub(r"\bptr\b", "i8*", SEEN[name])
    for text in (SEEN[name], typed):
        with pytest.raises(IRSyntaxError) as caught:
            read_text(text.encode(), known_callees=None)
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
