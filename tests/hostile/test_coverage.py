"""libFuzzer's way into the reader: it builds, reads the modules of the tests and finds nothing in a second."""

import pytest

from fuzz.coverage import fuzz
from ncc.errors import NccError


@pytest.mark.full
def test_a_second_of_libfuzzer_finds_nothing(tmp_path):
    try:
        assert fuzz(tmp_path, seconds=1, jobs=1) == 0
    except NccError as error:
        pytest.skip(str(error))
    assert list((tmp_path / "kept").iterdir())
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(("crash", "leak", "timeout", "oom"))]
