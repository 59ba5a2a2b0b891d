"""One thread for torch, and invented kernels."""

from tests.fixtures.heads import _one_thread, kernel_inputs  # noqa: F401
