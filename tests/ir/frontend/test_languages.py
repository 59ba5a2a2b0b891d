"""Languages by extension."""

import pytest

from tests.rooms import language_of


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.c", "c"),
        ("a.cc", "c++"),
        ("a.cpp", "c++"),
        ("a.cxx", "c++"),
        ("a.c++", "c++"),
        ("a.C", "c++"),
        ("a.CPP", "c++"),
        ("dir.c/a.cl", "opencl"),
        ("a.ocl", "opencl"),
        ("a.opencl", "opencl"),
        ("a.hip", "cuda"),
        ("a.cu", "cuda"),
        ("a.h", None),
        ("a.hpp", None),
        ("a.ll", None),
        ("Makefile", None),
        (".c", None),
    ],
)
def test_extension_decides(name, language):
    assert language_of(name) == language
