"""Where the sources of these tests lie, and an environment that names no compiler."""

from pathlib import Path

import pytest


@pytest.fixture
def sources():
    return Path(__file__).parent / "sources"


@pytest.fixture(autouse=True)
def _bundled_clang(monkeypatch):
    monkeypatch.delenv("NCC_CLANG", raising=False)
