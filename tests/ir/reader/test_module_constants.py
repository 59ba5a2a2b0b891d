"""Strings and outside names of a module, as they stand in its text; and errors that cross processes whole."""

import pickle

import pytest

from ncc.errors import CompileError
from tests.rooms import Module, read_module

BODY = "\ndefine void @f() {\n  ret void\n}\n"


def read(text: str | bytes) -> Module:
    data = text.encode() if isinstance(text, str) else text
    return read_module(data + BODY.encode())


@pytest.mark.parametrize(
    ("line", "strings"),
    [
        (r'@.str = private unnamed_addr constant [6 x i8] c"hello\00", align 1', {".str": "hello"}),
        (r'@str.10 = private constant [3 x i8] c"a\0A\00"', {"str.10": "a\n"}),
        (r'@s = constant [9 x i8] c"\22q\22\09\5C %d\00"', {"s": '"q"\t\\ %d'}),
        (r'@s = constant [5 x i8] c"\c3\A9\ff\7f\00"', {"s": "\xc3\xa9\xff\x7f"}),
        (r'@s = constant [3 x i8] c"abc"', {"s": "abc"}),
        (r'@s = constant [5 x i8] c"ab\00\00\00"', {"s": "ab\0\0"}),
        (r'@s = constant [4 x i8] c"a\00b\00"', {"s": "a\0b"}),
        (r'@s = constant [1 x i8] c"\00"', {"s": ""}),
        (r'@s = constant [6 x i8] c"; @t =\00"', {"s": "; @t ="}),
        (r'@_ZL3msg = internal constant [3 x i8] c"ab\00", section "s", align 16', {"_ZL3msg": "ab"}),
        (r'@"a b" = constant [2 x i8] c"x\00"', {"a b": "x"}),
        (r'@"constant [2 x i8]" = constant [2 x i8] c"x\00"', {"constant [2 x i8]": "x"}),
        (r'@"caf\C3\A9" = constant [2 x i8] c"x\00"', {"café": "x"}),
        (r'@-a$.b-1 = local_unnamed_addr addrspace(2) constant [2 x i8] c"x\00"', {"-a$.b-1": "x"}),
        (r'@0 = private unnamed_addr constant [2 x i8] c"x\00"', {"0": "x"}),
    ],
)
def test_strings(line: str, strings: dict[str, str]) -> None:
    assert read(line).string_constants == strings


@pytest.mark.parametrize(
    "line",
    [
        r'@buffer = global [4 x i8] c"abc\00"',
        r'@buffer = dso_local local_unnamed_addr global [4 x i8] c"abc\00", align 1',
        "@empty = constant [4 x i8] zeroinitializer",
        "@table = constant [2 x i32] [i32 1, i32 2]",
        r'@rows = constant [2 x [2 x i8]] [[2 x i8] c"a\00", [2 x i8] c"b\00"]',
        r'@pair = constant { i8, [2 x i8] } { i8 1, [2 x i8] c"a\00" }',
        r'@mutable = global { [2 x i8] } { [2 x i8] c"a\00" }',
        r"@wide = constant [2 x i16] [i16 97, i16 0]",
        "@number = constant i32 7",
        r'; @comment = constant [2 x i8] c"a\00"',
        "@elsewhere = external constant [4 x i8]",
    ],
)
def test_other_globals_are_no_strings(line: str) -> None:
    assert read(line).string_constants == {}


def test_strings_keep_to_their_own_lines() -> None:
    lines = [
        "@first = constant i32 1",
        r'@second = constant [2 x i8] c"2\00"',
        r'@third = global [2 x i8] c"3\00"',
        r'@fourth = constant [2 x i8] c"4\00"',
    ]
    assert read("\n".join(lines)).string_constants == {"second": "2", "fourth": "4"}
    assert read("\r\n".join(lines)).string_constants == {"second": "2", "fourth": "4"}


def test_bytes_that_stand_unescaped() -> None:
    assert read(b'@s = constant [3 x i8] c"\xe9\xff\\00"').string_constants == {"s": "\xe9\xff"}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("declare i32 @puts(ptr nocapture noundef readonly) local_unnamed_addr #1", {"puts"}),
        ("declare !dbg !1 void @f1()\n!1 = !{}", {"f1"}),
        ('declare void @"a b"(i32)', {"a b"}),
        ("declare noundef nonnull ptr @_Znwm(i64 noundef)", {"_Znwm"}),
        ("declare extern_weak void @maybe()", {"maybe"}),
        ("declare { i32, ptr } @pair(ptr byval({ i32 }) align 4)", {"pair"}),
        ("declare void @llvm.assume(i1)", {"llvm.assume"}),
        ("@_ZSt4cout = external global %c, align 8\n%c = type { i32 }", {"_ZSt4cout"}),
        ("@stdin = external local_unnamed_addr global ptr, align 8", {"stdin"}),
        ("@x = external dso_local thread_local addrspace(1) constant i32", {"x"}),
        ('@"x y" = external global i32', {"x y"}),
        ("@a = external global i32\n@b = global i32 1\n@c = external global i32\ndeclare void @d()", {"a", "c", "d"}),
    ],
)
def test_outside_names(line: str, names: set[str]) -> None:
    assert read(line).external_names == names


@pytest.mark.parametrize(
    "line",
    [
        "@mine = global i32 1",
        "@mine = internal global ptr @f",
        "@mine = common global i32 0",
        r'@mine = constant [20 x i8] c"declare void @puts()"',
        r'@mine = global i32 0, section "external "',
        "; declare void @puts()",
        "@mine = alias void (), ptr @f",
    ],
)
def test_what_a_module_defines_is_not_outside(line: str) -> None:
    assert read(line).external_names == frozenset()


def test_called_and_defined_functions_are_told_apart() -> None:
    module = read_module(
        b"declare i32 @outside(i32)\n"
        b"define i32 @inside(i32 %x) {\n  ret i32 %x\n}\n"
        b"define i32 @main() {\n  %a = call i32 @inside(i32 1)\n  %b = call i32 @outside(i32 %a)\n  ret i32 %b\n}\n"
    )
    assert module.external_names == {"outside"}
    assert module.function_names == ("inside", "main")


def test_an_error_of_the_compiler_is_pickled_with_its_lines() -> None:
    error = CompileError("a.c: does not compile\n  a.c:1:1: error: one", ("a.c:1:1: error: one", "a.c:2:1: error: two"))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CompileError
    assert str(again) == str(error)
    assert again.errors == ("a.c:1:1: error: one", "a.c:2:1: error: two")
    assert pickle.loads(pickle.dumps(CompileError("no lines"))).errors == ()


def test_weak_variables_are_outside():
    assert read_module(b"@w = extern_weak global i32\ndefine void @f() {\n  ret void\n}\n").external_names == {"w"}


def test_names_are_those_of_nodes():
    module = read_module(b'declare void @"a\\22b"()\ndefine void @f() {\n  call void @"a\\22b"()\n  ret void\n}\n')
    assert module.external_names == {module.node_name(int(module.callee[1]))}
