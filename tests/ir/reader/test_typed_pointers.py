"""What LLVM wrote while pointers had types, read directly: LLVM 22 no longer accepts all of it."""

import numpy as np
import pytest

from fuzz.checks import check_module, statements
from tests.ir.reader.language import constants_of, globals_of, written
from tests.rooms import LLVMWork, modern_text, native, print_module, read_module

LATEST = 22
TYPES = [
    "i32",
    "void (i8*)*",
    "void (i8*, ...)*",
    "i32 (i8*, void (i32)*)*",
    "void (i8*)* (i32)*",
    "void (i8 addrspace(3)*) addrspace(1)*",
    "{ void (i8*)*, i32* }*",
    "[4 x void (...)*]",
    "<2 x i8*>",
    "%s*",
    "void (%s*)**",
]
"""Types of values: functions' among them, which begin with `void` or with another pointer."""

CONSTANTS = [
    pytest.param(written(form.kind, typed=True), written(form.text, typed=True), form.until < LATEST, id=str(form))
    for form in constants_of(14)
    if form.kind in ("i1", "i64", "«i32»") and "(" in form.text and not form.text.startswith("extractvalue")
]
"""Constant expressions of a truth, a number or an address that LLVM 14 could write, and whether the last one can't."""

GLOBALS = written(globals_of(14), typed=True)


def read(text: str) -> list[str]:
    """Statements by the direct reader alone, abstracted."""
    raw = native.read_text(text.encode(), known_callees=None)
    bounds, texts = raw["texts_start"].tolist(), raw["texts"].tobytes()
    return [texts[bounds[i] : bounds[i + 1]].decode() for i in raw["text_id"].tolist()]


def test_casts_of_one_another_end():
    """Blocks that nothing leads to may hold values that depend on themselves."""
    casts = "\n".join(f"  %c{n} = bitcast i8* %c{(n + 1) % 500} to i8*" for n in range(500))
    module = read_module(f"define i8* @f() {{\n  ret i8* null\ndead:\n{casts}\n  ret i8* %c7\n}}\n".encode())
    check_module(module)
    assert statements(module)[2:] == ["<%ID> = bitcast ptr <%ID> to ptr", "ret ptr <%ID>"]
    assert len(set(module.operand[-2:].tolist())) == 1


@pytest.mark.parametrize("order", [1, -1])
def test_long_chains_of_casts_are_followed_quickly(order):
    casts = [f"  %c{n} = bitcast i8* %{'p' if not n else f'c{n - 1}'} to i8*" for n in range(100_000)][::order]
    lines = "\n".join(casts)
    module = read_module(f"define i8* @f(i8* %p) {{\n{lines}\n  ret i8* %c99999\n}}\n".encode())
    assert statements(module) == ["define ptr <@ID>(ptr <%ID>)", "ret ptr <%ID>"]
    assert np.unique(module.operand).tolist() == [int(module.operand[0])]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("%a = bitcast i8* %p to i32*\n  %a = bitcast i8* %p to i32*", "second definition of this name"),
        ("%a = bitcast i8* %nowhere to i32*", "use of undefined value"),
        ("%4 = bitcast i8* %p to i32*\n  %3 = bitcast i8* %p to i32*", "a number that an earlier value has passed"),
    ],
)
def test_names_of_casts_are_names(lines, message):
    with pytest.raises(native.IRSyntaxError, match=message):
        read(f"define void @f(i8* %p) {{\n  {lines}\n  ret void\n}}\n")


@pytest.mark.parametrize("kind", TYPES)
def test_llvm_makes_opaque_pointers_of_modern_text(kind):
    lines = f"""
  %slot = alloca {kind}, align 8
  %loaded = load {kind}, {kind}* %slot, align 8 ; {kind}* stays in comments
  %called = call {kind} @f({kind} %a, {kind} undef)
  %again = tail call fastcc {kind} ({kind}, {kind}) @f({kind} %a, {kind} %loaded)
  %address = getelementptr inbounds {kind}, {kind}* %slot, i64 1
  %seen = bitcast {kind}* %slot to i8*
  ret {kind} %loaded
"""
    text = f"{GLOBALS}define internal {kind} @f({kind} %a, {kind} %b) {{{lines}}}\n".encode()
    printed = print_module(modern_text(text), LLVMWork.VERIFY)
    assert b"*" not in printed
    assert print_module(modern_text(printed)) == print_module(printed)
    # and its statements are those of the old text
    assert read(printed.decode())[4:9] == read(text.decode())[4:9]


@pytest.mark.parametrize(("kind", "constant", "is_gone"), CONSTANTS)
def test_modern_text_has_no_constant_expressions_that_are_gone(kind, constant, is_gone):
    text = f"""{GLOBALS}define {kind} @f({kind}* %p, i1 %c, {kind} %x) {{
  store {kind} {constant}, {kind}* %p
  br i1 %c, label %end, label %more
more:
  br label %end
end:
  %j = phi {kind} [ {constant}, %0 ], [ %x, %more ]
  ret {kind} %j
}}
"""
    modern = modern_text(text.encode())
    assert (b"ncc.constant" in modern) == is_gone
    printed = print_module(modern, LLVMWork.VERIFY)
    assert (b"ncc.constant" in printed) == is_gone
    assert len(read(printed.decode())) == len(read(text))


def test_modern_text_leaves_words_in_texts_and_names_alone():
    text = b"""@s = constant [17 x i8] c"a* b and (i32 c)\00"
%"a and (i32 b)" = type { i8 }
define void @f(%"a and (i32 b)"* %"p*") {
  %"*q" = getelementptr %"a and (i32 b)", %"a and (i32 b)"* %"p*", i64 0, i32 0
  ret void
}
!0 = !{!"i8* or (i32)"}
"""
    modern = modern_text(text)
    assert modern == text
