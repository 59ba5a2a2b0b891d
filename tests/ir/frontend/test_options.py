"""Options are checked when they are made."""

import pytest

from ncc.errors import InputError
from tests.rooms import CompileOptions
from tests.support.refuses import refuses


@pytest.mark.parametrize("level", ["", "-O", "4", "O2", "-Os -g"])
def test_unknown_optimization(level):
    with refuses(InputError, "unknown optimization level", "expected one of -O0", "-O1"):
        CompileOptions(optimization=level)


def test_unknown_language():
    with refuses(InputError, "unknown language 'cpp'", "c++", "opencl", "cuda"):
        CompileOptions(language="cpp")


@pytest.mark.parametrize("timeout_s", [0, -1.0, float("nan")])
def test_time_limit_must_be_positive(timeout_s):
    with refuses(InputError, "the time limit (timeout_s) is", "above 0"):
        CompileOptions(timeout_s=timeout_s)


def test_one_string_is_not_a_tuple_of_strings():
    with refuses(InputError, "defines is the string 'N=4'", "('N=4',)"):
        CompileOptions(defines="N=4")  # type: ignore[arg-type]
