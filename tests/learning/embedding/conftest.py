"""Counts, and an embedding trained on them."""

from tests.fixtures.embedding import counts, files, modules, small  # noqa: F401
