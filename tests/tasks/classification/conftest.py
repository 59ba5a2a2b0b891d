"""Folders of programs for the tests of classification: two classes that ncc's own generators write."""

from pathlib import Path

import pytest

from ncc.corpus.synthetic import generate
from ncc.embedding import load_embedding
from ncc.tasks.classification.samples import ProgramSamples, find_labelled_files, load_programs


@pytest.fixture(scope="session")
def classes(tmp_path_factory) -> Path:
    """20 matrix products and 20 stencils, and a folder without programs."""
    folder = tmp_path_factory.mktemp("classes")
    for name in ("gemm", "stencil"):
        (folder / name).mkdir()
        for file, text in generate(name, 20):
            (folder / name / file).write_text(text)
    (folder / "notes").mkdir()
    (folder / "notes" / "read.me").write_text("nothing")
    return folder


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def samples(classes, cache) -> ProgramSamples:
    """Those programs at two levels."""
    return load_programs(
        find_labelled_files(classes), ("-O1", "-O0"), abstraction=load_embedding().abstraction, cache=cache
    )
