"""Counts, and an embedding trained on them."""

from tests.fixtures.embedding import counts, files, modules, small  # noqa: F401
from tests.fixtures.ranks import environment, run_ranks  # noqa: F401
