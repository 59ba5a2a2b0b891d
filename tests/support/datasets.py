"""Published data, of which there may be no local copy."""

import pytest

from tests.rooms import FileState, verify


def needs(dataset: str, name: str = "") -> None:
    """Skips where files of a dataset with this in their name are missing."""
    for path, state in verify(dataset).items():
        if state is FileState.MISSING and name in path.name:
            pytest.skip(f"no local copy of {path} (set NCC_DATA)")
