"""Labelled programs."""

from tests.fixtures.classification import cache, classes, samples  # noqa: F401
