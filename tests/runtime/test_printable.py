"""Names as their source has them."""

import pytest

from ncc.runtime.printable import source_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("_Z3addIfET_S0_S0_", "float add<float>(float, float)"),
        ("__Z3fooi", "foo(int)"),
        ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"),
        ("main", "main"),
        ("_Z", "_Z"),
        ("_Z9xx", "_Z9xx"),
        ("a\x1b[31m", "a\\u001b[31m"),
    ],
)
def test_names_of_cpp_are_demangled_and_others_are_left(name, shown):
    assert source_name(name) == shown


@pytest.mark.parametrize("name", ["_Z1f" + "P" * 3000 + "i", "_Z" + "N" * 100_000, "_ZN1x" + "".join(
    f"1AIS{x}_S{x}_E" for x in ["", *"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"]) + "E"])  # fmt: skip
def test_names_made_to_be_long_cost_little(name):
    assert len(source_name(name)) <= max(300, len(name))


def test_a_long_name_is_abridged():
    shown = source_name("_Z1f" + "PFivE" * 200)
    assert len(shown) == 300
    assert shown.endswith("…")
