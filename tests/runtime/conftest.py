"""Sources that compile, and some that must not."""

from tests.fixtures.frontend import sources  # noqa: F401
