"""Where headers are precompiled."""

from tests.fixtures.classification import headers  # noqa: F401
