"""Sizes and times as people write and read them."""

import pytest

from ncc.errors import InputError
from tests.rooms import (
    format_bytes,
    format_ends,
    format_given_bytes,
    format_interval,
    format_si_bytes,
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
        ([format_si_bytes(size) for size in (12, 999.9, 30800, 3e15)], ["12 B", "1 KB", "30.8 KB", "3000 TB"]),
        ([format_given_bytes(size) for size in (64e3, 65536, 12345, 1.5e6)], ["64KB", "64KiB", "12345", "1.5MB"]),
        ([format_ends(0.17, 0.443), format_ends(500, 3000)], ["0.170 to 0.443 ms", "500 ms to 3.00 s"]),
        (format_interval(2.5, 2.5 / 9, 22.5), "2.50 ms (0.278 to 22.5)"),
        (format_interval(12e3, 12e3 / 9, 108e3), "12.0 s (1.33 to 108)"),
        (format_interval(9e12, 8e3, 9e16), "285 years (8.00 s to 2,851,928 years)"),
    ],
)
def test_quantities_are_read_and_written(value, expected):
    assert value == expected


@pytest.mark.parametrize("text", ["", "many", "1 XB", "1.2.3", "MB", "1e", "0x10", "1 KKB", "--1"])
def test_what_is_no_size_is_refused(text):
    for parse in (parse_bytes, parse_items):
        with refuses(InputError, "is not a"):
            parse(text)


@pytest.mark.parametrize("power", range(10, 41))
def test_powers_of_two_are_read_as_they_are_shown(power):
    assert parse_bytes(format_bytes(2.0**power)) == 2.0**power
    assert parse_bytes(format_bytes(2.0**power * (1 - 1e-9))) == 2.0**power
