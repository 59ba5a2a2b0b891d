"""Invented kernels, heads and tables."""

from tests.fixtures.devices import published, toy, write_table  # noqa: F401
from tests.fixtures.heads import _one_thread, kernel_inputs  # noqa: F401
