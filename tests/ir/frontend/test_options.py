"""Options are checked when they are made, and languages are told by extension."""

import pytest

from ncc.errors import InputError
from tests.rooms import CompileOptions, language_of
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


LANGUAGES = {
    "c": ("a.c",),
    "c++": ("a.cc", "a.cpp", "a.cxx", "a.c++", "a.C", "a.CPP"),
    "opencl": ("dir.c/a.cl", "a.ocl", "a.opencl"),
    "cuda": ("a.cu", "a.hip"),
    None: ("a.h", "a.hpp", "a.ll", "Makefile", ".c"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_extension_decides(language):
    assert {language_of(name) for name in LANGUAGES[language]} == {language}
