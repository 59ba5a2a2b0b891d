"""Functions by the names that people use, and where they are."""

from pathlib import Path

import pytest

import ncc
from ncc.errors import InputError
from tests.rooms import Location, find_function, function_locations, read_module
from tests.support.refuses import refuses

NAMES = (
    "main", "_Z6kernelPKfPfi", "_ZN2ns1fIiLi3EEEvPT_", "_ZN2ns1gIiEEvPT_", "_ZN2ns1gIfEEvPT_", "_ZNK1XclEi",
    "_ZN12_GLOBAL__N_13fooEv", "_ZlsRSoRK1X", "_ZN1XcvbEv",
)  # fmt: skip


@pytest.fixture(scope="module")
def module():
    return read_module("".join(f"define void @{name}() {{\n  ret void\n}}\n" for name in NAMES).encode(), name="m.ll")


@pytest.mark.parametrize(
    ("number", "names"),
    [
        (0, ["main"]),
        (1, ["_Z6kernelPKfPfi", "kernel", "kernel(float const*, float*, int)", "kernel(float const*,float*,int)"]),
        (2, ["void ns::f<int, 3>(int*)", "ns::f<int, 3>", "ns::f<int,3>(int*)", "ns::f", "f", "ns::f(int*)"]),
        (3, ["ns::g<int>", "g(int*)"]),
        (5, ["X::operator()(int) const", "X::operator()", "operator()"]),
        (6, ["(anonymous namespace)::foo()", "(anonymous namespace)::foo", "foo"]),
        (7, ["operator<<", "operator<<(std::ostream&, X const&)"]),
        (8, ["X::operator bool()", "X::operator bool"]),
    ],
)
def test_a_function_is_found_by_any_of_its_names(module, number, names):
    assert [find_function(module, name) for name in names] == [number] * len(names)


@pytest.mark.parametrize(
    ("name", "nouns"),
    [
        ("g", ["'g'", "2 functions", "void ns::g<int>(int*)", "void ns::g<float>(float*)"]),
        ("kernal", ["'kernal'", "kernel(float const*, float*, int)"]),
        ("mian", ["'mian'", "main"]),
        ("qqqq\n", [r"'qqqq\u000a'", "main", "kernel(float const*, float*, int)"]),
    ],
)
def test_what_is_not_found_is_told_with_what_there_is(module, name, nouns):
    with refuses(InputError, "m.ll", *nouns):
        find_function(module, name)


IR = Path(__file__).parents[2] / "data" / "ir"


@pytest.mark.parametrize("name", ["tree.clang22.ll", "legacy.ll", "saxpy.clang14.ll"])
def test_else_lines_are_those_of_the_ir(name):
    module = ncc.load_module(IR / name)
    lines = (IR / name).read_text().splitlines()
    for function, place in zip(module.function_names, function_locations(module), strict=True):
        if not place.file:
            assert lines[place.first_line - 1].startswith("define ")
            assert f"@{function}(" in lines[place.first_line - 1]
            assert lines[place.last_line - 1] == "}"


def test_lines_of_inlined_functions_are_not_the_callers():
    text = """define void @f() !dbg !4 {
  store i32 0, ptr null, !dbg !6
  store i32 0, ptr null, !dbg !7
  ret void, !dbg !8
}
!1 = !DIFile(filename: "a.c", directory: "/src")
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 3, unit: !0)
!5 = distinct !DISubprogram(name: "g", scope: !1, file: !1, line: 80, unit: !0)
!6 = !DILocation(line: 90, column: 1, scope: !5, inlinedAt: !8)
!7 = !DILocation(line: 5, column: 1, scope: !9)
!8 = !DILocation(line: 4, column: 1, scope: !4)
!9 = distinct !DILexicalBlock(scope: !4, file: !1, line: 4, column: 1)
"""
    assert function_locations(ncc.read_module(text.encode())) == [Location("/src/a.c", 3, 5)]


@pytest.mark.parametrize(
    "metadata",
    [
        "!4 = !DILocation(line: 1, scope: !4)\n",
        "!4 = distinct !DILexicalBlock(scope: !5)\n!5 = distinct !DILexicalBlock(scope: !4)\n"
        "!6 = !DILocation(line: 3, scope: !4)\n",
        '!4 = distinct !DISubprogram(name: "f")\n',
        "",
    ],
)
def test_metadata_that_leads_nowhere_is_no_place(metadata):
    text = f"define void @f() !dbg !4 {{\n  ret void\n}}\n{metadata}"
    assert function_locations(ncc.read_module(text.encode())) == [Location("", 1, 3)]
