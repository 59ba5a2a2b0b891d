"""Options are checked when they are made."""

import dataclasses

import pytest

from ncc.errors import InputError
from tests.rooms import CompileOptions
from tests.support.refuses import refuses


@pytest.mark.parametrize("level", ["0", "1", "2", "3", "s", "z", "fast"])
def test_optimization_with_and_without_dash(level):
    assert CompileOptions(optimization=level).optimization == f"-O{level}"
    assert CompileOptions(optimization=f"-O{level}").optimization == f"-O{level}"


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


def test_lists_become_tuples_and_options_stay_hashable():
    options = CompileOptions(flags=["-w"])  # type: ignore[arg-type]
    assert options.flags == ("-w",)
    assert hash(options) == hash(CompileOptions(flags=("-w",)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.flags = ()  # type: ignore[misc]
