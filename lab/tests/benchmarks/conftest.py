"""Ranks that meet in a file."""

from tests.fixtures.ranks import _one_thread, environment, run_ranks  # noqa: F401
