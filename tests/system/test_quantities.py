"""Sizes as people write and read them."""

import pytest

from ncc.errors import InputError
from tests.rooms import format_bytes, parse_bytes
from tests.support.refuses import refuses


@pytest.mark.parametrize("text", ["", "many", "1 XB", "1.2.3", "MB", "1e", "0x10", "1 KKB", "--1"])
def test_what_is_no_size_is_refused(text):
    with refuses(InputError, "is not a size"):
        parse_bytes(text)


@pytest.mark.parametrize("power", range(10, 41))
def test_powers_of_two_are_read_as_they_are_shown(power):
    assert parse_bytes(format_bytes(2.0**power)) == 2.0**power
    assert parse_bytes(format_bytes(2.0**power * (1 - 1e-9))) == 2.0**power
