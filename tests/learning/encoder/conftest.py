"""Networks with random weights."""

from tests.fixtures.heads import _one_thread  # noqa: F401
