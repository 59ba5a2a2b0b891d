"""Ranks that meet in a file."""

from tests.fixtures.ranks import environment, run_ranks  # noqa: F401
