"""Counts, and an embedding trained on them."""

from tests.fixtures.embedding import _one_thread, counts, files, modules, small  # noqa: F401
