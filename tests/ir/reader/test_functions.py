"""Functions by the names that people use."""

import pytest

from ncc.errors import InputError
from tests.rooms import find_function, read_module
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
