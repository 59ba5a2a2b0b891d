"""Labelled programs."""

from tests.fixtures.classification import cache, classes, fresh, headers, samples  # noqa: F401
