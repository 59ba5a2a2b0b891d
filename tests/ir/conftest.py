"""What every module must satisfy, wherever it came from."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ncc.ir import Module

sys.path.append(str(Path(__file__).parents[2]))  # where the fuzzer is


@pytest.fixture
def check_module() -> Callable[[Module], None]:
    """Asserts that a module's arrays fit each other, and that a graph and contexts can be made of it."""
    from fuzz.checks import check_module

    return check_module
