"""Invented tables, and the published ones."""

from tests.fixtures.coarsening import (  # noqa: F401
    published,
    published_features,
    published_ir,
    toy,
    toy_features,
    write_tables,
)
