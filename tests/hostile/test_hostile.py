"""Hostile files by their generator, and a command that runs over them."""

import json
import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_run_over_hostile_files_answers_for_each(tmp_path):
    command = [sys.executable, "-m", "fuzz.hostile", str(tmp_path / "files"), "--files", "40", "--timeout", "10"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = json.loads(finished.stdout)
    assert (figures["answers"], figures["in_order"], figures["defects"]) == (40, True, 0)
