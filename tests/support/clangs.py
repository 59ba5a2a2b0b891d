"""The compilers of users that are at hand."""

import shutil

import pytest


def installed(*names: str) -> list:
    """Parameters for compilers of these names, which are skipped where they are missing."""
    return [
        pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"{name} is not installed"))
        for name in names
    ]


CLANGS = [None, *installed("clang-14", "clang-16", "clang-19")]
"""The bundled clang, and those of users."""

ENDLESS = """
template <int N, long M> struct Sum {
  static const long value = Sum<N - 1, 2 * M>::value + Sum<N - 1, 2 * M + 1>::value;
};
template <long M> struct Sum<0, M> { static const long value = M; };
long sum() { return Sum<40, 0>::value; }
"""
"""C++ that a compiler would work on for years."""
