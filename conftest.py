"""Marks tests by their folder."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent
TORCH = tuple(
    ROOT / folder
    for folder in (
        "tests/golden",
        "tests/learning/embedding",
        "tests/learning/encoder",
        "tests/learning/programs",
        "tests/learning/training",
        "tests/tasks/classification",
        "tests/tasks/devices",
        "lab/tests/benchmarks",
        "lab/tests/classification",
        "lab/tests/scaling",
    )
)
"""Folders whose tests compute with torch, or keep numbers that every processor must give."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is run again as on a processor without AVX-512."""
    for item in items:
        if any(folder in item.path.parents for folder in TORCH):
            item.add_marker("torch")
