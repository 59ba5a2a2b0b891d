"""Invented kernels, heads and tables."""

from tests.fixtures.devices import published, toy, write_table  # noqa: F401
from tests.fixtures.heads import _one_thread, in_numpy, kernel_inputs, lstm_head, mapper_head  # noqa: F401
