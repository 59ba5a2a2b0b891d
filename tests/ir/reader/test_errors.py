"""Where a module is wrong: file, line and column, what was wrong, and the line itself."""

import pytest

from ncc.errors import IRError
from tests.rooms import IRSyntaxError, read_module, read_text
from tests.support.refuses import refuses

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
