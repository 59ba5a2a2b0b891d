"""Invented samples, and the published ones."""

from tests.fixtures.coarsening import published, published_ir, toy  # noqa: F401
