"""Networks with random weights."""

from tests.fixtures.heads import _one_thread, kernel_inputs, mapper_head  # noqa: F401
