"""What every module must satisfy, wherever it came from."""

from collections.abc import Callable

import pytest

from fuzz import checks
from tests.rooms import Module


@pytest.fixture
def check_module() -> Callable[[Module], None]:
    """Asserts that a module's arrays fit each other, and that a graph and contexts can be made of it."""
    return checks.check_module
