"""The small world with its cache, and files that can't be read."""

import os
from pathlib import Path

import pytest

from tests.contract.cases import BAD
from tests.support.tiny import Tiny

os.environ.setdefault("POCL_DEVICES", "basic pthread")  # which PoCL reads when it is first asked


@pytest.fixture(autouse=True)
def _in_the_small_world(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.use(monkeypatch)


@pytest.fixture(scope="session")
def bad_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that can't be read."""
    folder = tmp_path_factory.mktemp("bad")
    for name, (content, _) in BAD.items():
        if content is not None:
            (folder / name).write_bytes(content)
    return folder
