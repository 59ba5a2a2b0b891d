"""Sizes and times as people write and read them, and names as their source has them."""

import string

import pytest

from ncc.errors import InputError
from tests.rooms import (
    Summary,
    align_columns,
    demangle,
    escape_control,
    format_bytes,
    format_ends,
    format_given_bytes,
    format_interval,
    format_ratio,
    html_table,
    parse_bytes,
    parse_items,
)
from tests.support.refuses import refuses


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([parse_bytes(text) for text in ("64KiB", "1 GB", "1e6", "1.5MB")], [65536, 1e9, 1e6, 1.5e6]),
        ([parse_items(text) for text in ("1M", "1e6", "64K")], [2**20, 1e6, 65536]),
        ([format_bytes(size) for size in (12, 1023.9999, 30800, 2.0**45)], ["12 B", "1 KiB", "30.1 KiB", "32768 GiB"]),
        ([format_bytes(size, 1000) for size in (12, 999.9, 30800, 3e15)], ["12 B", "1 KB", "30.8 KB", "3000 TB"]),
        ([format_given_bytes(size) for size in (64e3, 65536, 12345, 1.5e6)], ["64KB", "64KiB", "12345", "1.5MB"]),
        ([format_ends(0.17, 0.443), format_ends(500, 3000)], ["170 to 443 µs", "500 ms to 3.00 s"]),
        ([format_ratio(ratio) for ratio in (0.978, 1.04, 9.96, 64.2, 1234)], ["0.98x", "1.04x", "10x", "64x", "1200x"]),
        (format_interval(2.5, 2.5 / 9, 22.5), "2.50 ms (278 µs to 22.5 ms)"),
        (format_interval(12e3, 12e3 / 9, 108e3), "12.0 s (1.33 to 108)"),
        (format_interval(9e12, 8e3, 9e16), "285 years (8.00 s to 2,851,928 years)"),
    ],
)
def test_quantities_are_read_and_written(value, expected):
    assert value == expected


def test_characters_that_nobody_sees_are_escaped_and_columns_aligned():
    shown = escape_control("a\x1b[31m\u202eb\U000e0041\n", lines=False)
    assert shown == r"a\u001b[31m\u202eb\udb40\udc41\u000a"
    assert align_columns([("file", "lines"), ("a.ll", "7")]) == ["file  lines", "a.ll      7"]


def test_answers_are_lines_and_tables_of_notebooks_are_escaped():
    answer = Summary(verdict="GPU 2.0x faster", confidence="98% sure", details=[("time", "1 ms")])
    assert answer.lines("a.cl").split("\n") == [f"{'GPU 2.0x faster':45}98% sure     a.cl", "  time      1 ms"]
    details = [("failed", ["a:", "  b"]), ("failed", "c"), ("a longer label  ", "d " * 60)]
    lines = Summary(verdict="3", details=details).lines().split("\n")
    assert lines[:4] == ["3", "  failed    a:", "              b", "            c"]
    assert lines[4:] == ["  a longer label  " + "d " * 40 + "d", " " * 18 + "d " * 18 + "d"]
    table = "<table><caption>a</caption><tr><th>b</th></tr><tr><td>&lt;c&gt;</td></tr></table>"
    assert html_table("a", ["b"], [["<c>"]]) == table


@pytest.mark.parametrize("text", ["", "many", "1 XB", "1.2.3", "MB", "1e", "0x10", "1 KKB", "--1"])
def test_what_is_no_size_is_refused(text):
    for parse in (parse_bytes, parse_items):
        with refuses(InputError, "is not a"):
            parse(text)


def test_powers_of_two_are_read_as_they_are_shown():
    for power in range(10, 41):
        assert parse_bytes(format_bytes(2.0**power)) == 2.0**power, power
        assert parse_bytes(format_bytes(2.0**power * (1 - 1e-9))) == 2.0**power, power


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("_Z3addIfET_S0_S0_", "float add<float>(float, float)"),
        ("__Z3fooi", "foo(int)"),
        ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int>>::push_back(int const&)"),
        # clang 18 and later tell the type of a template's argument that is not a type
        ("_Z1aILi0ETnNSt9enable_ifIXeqT_Li0EEiE4typeELi1EEvPi", "void a<0, 1>(int*)"),
        ("_Z6kernelPKfPfi", "kernel(float const*, float*, int)"),
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


def _twice(levels: int) -> str:
    digits = string.digits + string.ascii_uppercase
    return "_Z1fSt4pairIiiE" + "".join(f"S_IS{at}_S{at}_E" for at in digits[:levels])


def _within(levels: int) -> str:
    return "_Z" + "1fIL_Z" * levels + "1fIiEvT_T_" + "EEvT_T_" * levels


@pytest.mark.parametrize("name", ["_Z1f" + "P" * 3000 + "i", "_Z" + "N" * 100_000, _twice(36), _within(40)])
def test_names_made_to_be_long_cost_little(name):
    assert len(demangle(name)) <= max(300, len(name))


def test_shorter_names_of_the_same_making_are_demangled_and_long_ones_abridged():
    assert not any(demangle(name).startswith("_Z") for name in (_twice(5), _within(5)))
    shown = demangle("_Z1f" + "PFivE" * 200)
    assert (len(shown), shown[-1]) == (300, "…")
