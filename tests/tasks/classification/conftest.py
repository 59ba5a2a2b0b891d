"""Labelled programs."""

from tests.fixtures.classification import cache, classes, fresh, headers, samples  # noqa: F401
from tests.fixtures.heads import _one_thread  # noqa: F401
