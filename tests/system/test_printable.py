"""Names as their source has them."""

import string

import pytest

from tests.rooms import demangle


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("_Z3addIfET_S0_S0_", "float add<float>(float, float)"),
        ("__Z3fooi", "foo(int)"),
        ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int>>::push_back(int const&)"),
        # clang 18 and later tell the type of a template's argument that is not a type
        ("_Z1aILi0ETnNSt9enable_ifIXeqT_Li0EEiE4typeELi1EEvPi", "void a<0, 1>(int*)"),
        ("main", "main"),
        ("_Z1kPf__intern__a35fbf81740fc71e", "k(float*)"),
        ("_Z", "_Z"),
        ("_Z9xx", "_Z9xx"),
        ("_Z2éi", "é(int)"),
        ("_Z1fi\udc80", "_Z1fi\\udc80"),
        ("a\x1b[31m", "a\\u001b[31m"),
    ],
)
def test_names_of_cpp_are_demangled_and_others_are_left(name, shown):
    assert demangle(name) == shown


_DIGITS = string.digits + string.ascii_uppercase


def _twice(levels: int) -> str:
    return "_Z1fSt4pairIiiE" + "".join(f"S_IS{at}_S{at}_E" for at in _DIGITS[:levels])


def _within(levels: int) -> str:
    return "_Z" + "1fIL_Z" * levels + "1fIiEvT_T_" + "EEvT_T_" * levels


@pytest.mark.parametrize("name", ["_Z1f" + "P" * 3000 + "i", "_Z" + "N" * 100_000, _twice(36), _within(40)])
def test_names_made_to_be_long_cost_little(name):
    assert len(demangle(name)) <= max(300, len(name))


@pytest.mark.parametrize("name", [_twice(5), _within(5)])
def test_shorter_names_of_the_same_making_are_demangled(name):
    assert not demangle(name).startswith("_Z")


def test_a_long_name_is_abridged():
    shown = demangle("_Z1f" + "PFivE" * 200)
    assert len(shown) == 300
    assert shown.endswith("…")
