"""Invented tables."""

from tests.fixtures.devices import published, toy, write_table  # noqa: F401
