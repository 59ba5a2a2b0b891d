"""Invented tables, and the published ones."""

from tests.fixtures.coarsening import (  # noqa: F401
    published,
    published_ir,
    toy,
    write_tables,
)
