"""Error messages: file, line, column, what was wrong, and the line itself."""

import pytest

from ncc.errors import IRError, NccError
from tests.rooms import IRSyntaxError, read_module, read_text
from tests.support.refuses import refuses


@pytest.mark.parametrize(
    ("lines", "line", "column", "message"),
    [
        ("  %x = add i32 %y, 1\n  ret void", 3, 16, "use of undefined value '%y'"),
        ("  %x = frobnicate i32 1\n  ret void", 3, 8, "expected instruction opcode"),
        ("  %x = add i32 1, 2", 4, 1, "expected instruction opcode"),
        ("  store i32 (1, ptr null\n  ret void", 3, 14, "expected type"),
        ('  call void @"f()\n  ret void', 3, 13, "end of file in global variable name"),
        ("  %x = add i32 1, 2\n  %x = add i32 1, 2\n  ret void", 4, 3, "multiple definition of local value named 'x'"),
        ("  br label %nowhere", 3, 12, "use of undefined value '%nowhere'"),
        ("  store i32 1, ptr @nothing\n  ret void", 3, 20, "use of undefined value '@nothing'"),
        ("  %x = add i32 1\n  ret void", 4, 3, "expected ','"),
        ("  br i1 true, label %a\na:\n  ret void", 4, 1, "expected ',' after true destination"),
        ("  ret i32 %\n", 3, 11, "expected value token"),
    ],
    ids=[
        "undefined value",
        "unknown opcode",
        "missing terminator",
        "unbalanced bracket",
        "unterminated string",
        "second definition",
        "label not found",
        "undefined global",
        "missing operand",
        "missing label",
        "no name",
    ],
)
def test_position_and_excerpt(lines: str, line: int, column: int, message: str) -> None:
    text = f"; file\ndefine void @f() {{\n{lines}\n}}\n"
    with pytest.raises(IRError, match=message) as caught:
        read_module(text.encode(), name="dir/some.ll")
    assert str(caught.value).startswith(f"dir/some.ll:{line}:{column}: ")
    assert (caught.value.line, caught.value.column) == (line, column)
    excerpt = text.splitlines()[line - 1].strip()
    assert str(caught.value).endswith(f"\n    {excerpt}")
    assert isinstance(caught.value, NccError)
    assert caught.value.__cause__ is not None


def test_second_definitions_of_functions_and_globals() -> None:
    function = "define void @f() {\n  ret void\n}\n"
    with pytest.raises(IRError, match=r"^x:4:13: invalid redefinition of function 'f'\n    define void @f\(\) {$"):
        read_module((function + function).encode(), name="x")
    with pytest.raises(IRError, match=r"^x:2:1: redefinition of global '@g'\n    @g = global i8 2$"):
        read_module(b"@g = global i8 1\n@g = global i8 2\n", name="x")


def test_positions_of_the_direct_reader() -> None:
    # a type too deep for the direct reader, in LLVM's printing too
    deep = "[1 x " * 1000 + "i8" + "]" * 1000
    with pytest.raises(IRError, match=r"^x \(as LLVM prints it\):\d+:\d+: types nested too deep\n") as caught:
        read_module(f"define void @f() {{\n  %x = alloca {deep}\n  ret void\n}}".encode(), name="x")
    assert len(str(caught.value)) < 250
    assert caught.value.line is not None


def test_the_excerpt_of_a_long_line_is_the_part_that_matters() -> None:
    text = "define void @f() {\n  ret void " + "; " + "x" * 500 + "\n}\n" + "y" * 400 + " @@@@ " + "z" * 100_000
    with pytest.raises(IRError) as caught:
        read_module(text.encode())
    assert len(str(caught.value)) < 300
    assert caught.value.line == 4


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
def test_where_a_text_ends_too_soon_is_not_behind_its_end(text, verified):
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
