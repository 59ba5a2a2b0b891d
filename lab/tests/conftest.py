"""Invented tables, and labelled programs."""

from tests.fixtures.classification import cache, classes, samples  # noqa: F401
from tests.fixtures.devices import published, toy, write_table  # noqa: F401
