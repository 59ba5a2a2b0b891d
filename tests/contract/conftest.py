"""Ranks of a training on this machine, and the cache of the small world."""

import pytest

from tests.fixtures.ranks import environment, run_ranks  # noqa: F401
from tests.support.tiny import Tiny


@pytest.fixture(autouse=True)
def _in_the_small_world(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.use(monkeypatch)
