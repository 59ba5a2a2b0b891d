"""The command that writes synthetic programs to a folder, and a recipe that reads them."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from datasets.generators import generate
from tests.rooms import build_corpus, load_recipe

ROOT = Path(__file__).parents[3]

SHA256 = {
    "gemm": "9dc5b373f602b71b394310f2e28425ee9fadd122aa55854ac48b1838f922e244",
    "stencil": "707da5c9499f817978156a9ce1f165173c8e2f21af4f3bba4d4b057dfed30417",
    "eigen": "3be97195c7c53f911275be8aff176dd8e7b0d7e6af60787603e38a70e0d82f9d",
}
"""Of the names and texts of the programs that the shipped embedding saw."""


def _run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "datasets.generators", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("name", "number"), [("gemm", 400), ("stencil", 400), ("eigen", 150)])
def test_the_programs_of_the_shipped_embedding_are_written_again(name, number):
    assert hashlib.sha256(repr(list(generate(name, number))).encode()).hexdigest() == SHA256[name]


def test_the_command_writes_what_a_recipe_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("GENERATED", str(tmp_path))
    finished = _run("stencil", "--number", "3", "-o", str(tmp_path / "stencil"))
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")
    written = {path.name: path.read_bytes().decode() for path in (tmp_path / "stencil").iterdir()}
    assert written == dict(generate("stencil", 3))
    recipe = tmp_path / "r.toml"
    recipe.write_text("[[source]]\nname = 's'\nfolder = '$GENERATED/stencil'\nattempts = [{ flags = ['-w'] }]\n")
    report = build_corpus(load_recipe(recipe), tmp_path / "corpus", jobs=1)
    assert (report.files, report.failures) == ({"s": 3}, {})


def test_an_unknown_generator_is_a_wrong_use(tmp_path):
    finished = _run("fractal", "-o", str(tmp_path / "out"))
    assert finished.returncode == 2
    assert "choose from" in finished.stderr
    assert not (tmp_path / "out").exists()
