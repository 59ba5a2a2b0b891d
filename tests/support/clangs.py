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
